internal import ExamResults

extension ExamRun {
    /// Ends a running exam early: its sandboxes are killed and its report is void.
    ///
    /// - Parameter reason: why, for whoever watches.
    public func cancel(because reason: String = "the run was cancelled") {
        void(.hostExhausted, reason)
    }

    /// Voids a running exam whose sandboxes lost their models: a candidate must not pay for it.
    ///
    /// - Parameter reason: why, for whoever watches.
    public func loseModels(because reason: String) {
        void(.brokerLost, reason)
    }
}
