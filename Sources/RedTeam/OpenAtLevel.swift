internal import SandboxPlan

/// What a level of assurance does not close, by the wall that it lacks.
///
/// Only attacks that such a wall alone should stop are excused, and by name: whatever else is open is a
/// fault at every level.
enum OpenAtLevel {
    /// Why a level does not close an attack; nothing where it must be closed.
    static func reason(for probe: Probe, at level: AssuranceLevel) -> String? {
        guard level <= .singleUID else { return nil }
        if probe.wall.layer == .limits {
            return "without a control group processes are counted, memory is limited for each alone"
        }
        return probe.wall.layer == .freeze ? "without a control group nothing is frozen" : nil
    }
}
