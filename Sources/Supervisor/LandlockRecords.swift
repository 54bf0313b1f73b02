public import DenialEvents
internal import HostKernel
internal import HostProbe
public import LauncherClient
internal import LinuxKernel
public import SandboxPlan

/// The host's audit records of what Landlock refuses, opened while we are root.
public enum LandlockRecords {
    /// Opens them where a plan has them made.
    ///
    /// A host that gives none keeps nobody from running: they are evidence, and no wall.
    ///
    /// - Parameters:
    ///   - plans: all that will be launched.
    ///   - launcher: what launches them.
    /// - Returns: the watch; a sentence where a plan has records made that this host does not give.
    /// - Throws: ``SupervisorError`` for a plan that cannot be read.
    public static func watch(
        for plans: [CompiledPlan],
        of launcher: LauncherClient
    ) throws(SupervisorError) -> (watch: LandlockWatch?, gap: String?) {
        var isWanted = false
        for plan in plans where try isLogged(plan) { isWanted = true }
        guard isWanted else { return (nil, nil) }
        var gap: String?
        if case .missing(let reason, let remedy) = AuditState.probe(
            landlockABI: LandlockRuleset.kernelVersion
        ) {
            gap = "no record of what Landlock refuses: \(reason); \(remedy)"
        }
        // Audit may be switched on while we run.
        do throws(SystemError) {
            return (LandlockWatch(try AuditSocket.listener(), of: launcher), gap)
        } catch {
            return (nil, gap ?? "no record of what Landlock refuses: \(error)")
        }
    }

    private static func isLogged(_ compiled: CompiledPlan) throws(SupervisorError) -> Bool {
        do throws(PlanError) { return try compiled.plan().landlock.isLogged } catch {
            throw SupervisorError(.usage, error)
        }
    }
}
