internal import ExamResults
package import LauncherProtocol

/// What the end of a candidate's sandbox means for its rollout.
extension RelayEvent {
    /// Reads a typed exit.
    ///
    /// - Parameters:
    ///   - exit: how the sandbox ended.
    ///   - wasClosed: whether we destroyed it; of a payload that had ended before, the exit says how.
    package init(_ exit: SandboxExit, wasClosed: Bool) {
        #if LayerSwitches
        if let pass = RelayEvent(passWithoutRules: exit, wasClosed: wasClosed) {
            self = pass
            return
        }
        #endif
        self =
            switch exit.kind {
            case .exited: .candidateFailed(Self.isOfSignal(exit.code) ? .signalled : .exited)
            case .signalled:
                .candidateFailed(
                    exit.signal == nil && (wasClosed || exit.wasRequested) ? .exited : .signalled
                )
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

    // A shell exits so when a signal ended the program that it ran (POSIX, Shell Command Language, 2.8.2).
    private static func isOfSignal(_ code: Int32?) -> Bool {
        code.map { (129...192).contains($0) } ?? false
    }
}
