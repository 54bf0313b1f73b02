internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

typealias Held = SharedDescriptor

/// A mount tree that several values refer to.
final class HeldTree {
    let tree: MountTree
    /// The role that it was first shown to, and is shown to alone.
    var role: SandboxRole?

    init(_ tree: consuming MountTree) {
        self.tree = tree
    }
}

/// Runs what reads or checks a plan; what is wrong with it becomes a failure of the step `check`.
func checking<Answer>(_ body: () throws(PlanError) -> Answer) throws(LaunchFailure) -> Answer {
    do throws(PlanError) {
        return try body()
    } catch {
        throw LaunchFailure("\(error.operation), \(error.location)", error.reason, error.remedy)
    }
}

extension LaunchFailure {
    /// A failure, where no step is named of the step `check`: what is asked is not allowed.
    init(_ place: String, _ reason: String, _ cure: String, at step: SetupStep = .check) {
        self.init(step: step, location: place, reason: reason, remedy: cure)
    }

    /// The failure of a process of ours that ended, by a signal or for want of memory, without a word.
    static func endedUnsaid(_ step: SetupStep, _ process: String) -> LaunchFailure {
        let reason = "it ended before it could say why"
        let remedy = "look at the kernel's log for memory or process limits, or report this"
        return LaunchFailure(process, reason, remedy, at: step)
    }
}

/// The plan's endpoint in the network namespace of this process, for a plan that has one there.
func openEndpoint(of plan: SandboxPlan) throws(SystemError) -> Held? {
    plan.network == .endpoint ? Held(try .loopbackListener(port: NetworkView.port)) : nil
}
