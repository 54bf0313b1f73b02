internal import SandboxPlan

/// What a level of assurance does not close, by the wall that it lacks, and what another wall closes there.
///
/// Only attacks that such a wall alone should stop are excused, and by name: whatever else is open is a
/// fault at every level.
enum OpenAtLevel {
    /// Why a level does not close an attack; nothing where it must be closed.
    static func reason(for probe: Probe, at level: AssuranceLevel) -> String? {
        guard level <= .singleUID else { return nil }
        return switch probe.wall.layer {
        case .limits:
            "without a control group processes are counted, memory is limited for each alone"
        case .netFiles:
            "with one uid the payload would own the files of its network and set their mode back"
        default: nil
        }
    }

    /// The answers that count as refused at a level besides those of the attack.
    ///
    /// With one uid an exam's programs belong to whoever runs them, as a coding agent's do everywhere. A
    /// read-only mount is what refuses to write to them there, and the kernel first, while they run.
    static func answers(to probe: Probe, at level: AssuranceLevel) -> Set<Answer> {
        guard level <= .singleUID else { return [] }
        return probe.id == "files.write-own-program" ? [.refused("ETXTBSY")] : []
    }
}
