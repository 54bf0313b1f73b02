internal import ExamResults
package import LauncherProtocol

/// What the end of a candidate's sandbox means for its rollout.
extension RelayEvent {
    /// Reads a typed exit.
    ///
    /// - Parameters:
    ///   - exit: how the sandbox ended.
    ///   - wasClosed: whether we destroyed it, whatever the exit says of the signal.
    package init(_ exit: SandboxExit, wasClosed: Bool) {
        #if LayerSwitches
        if let pass = RelayEvent(passWithoutRules: exit, wasClosed: wasClosed) {
            self = pass
            return
        }
        #endif
        self =
            switch exit.kind {
            case .exited: .candidateFailed(.exited)
            case .signalled:
                .candidateFailed(wasClosed || exit.wasRequested ? .exited : .signalled)
            case .outOfMemory: .candidateFailed(.outOfMemory)
            case .wallClock: .candidateFailed(.wallClock)
            case .cpuTime: .candidateFailed(.cpuTime)
            case .idle: .candidateFailed(.idle)
            case .output: .candidateFailed(.output)
            case .processes: .candidateFailed(.processes)
            case .violation: .candidateFailed(.violation)
            // Its init died or its group could not be emptied: no payload can do that, a host can.
            case .setup: .infrastructure(.hostExhausted)
            }
    }
}
