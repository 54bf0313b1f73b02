internal import NIOPosix

extension NIOThreadPool {
    /// Runs a body to its end on one of the pool's threads, also for a task that was cancelled: what a
    /// call leaves behind must not hang on whether its sandbox still waits for the answer.
    ///
    /// - Parameter body: the work.
    /// - Returns: what the body returns; nothing where the pool has stopped, and the body did not run.
    func finish<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            submit { state in
                switch state {
                case .active: continuation.resume(returning: body())
                case .cancelled: continuation.resume(returning: nil)
                }
            }
        }
    }
}
