internal import Synchronization

/// How many connections a listener has.
final class ConnectionCount: Sendable {
    private let limit: Int
    private let count = Mutex(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Counts one more; false, and nothing counted, where the limit is reached.
    func enter() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    /// Counts one less.
    func leave() {
        count.withLock { $0 -= 1 }
    }
}
