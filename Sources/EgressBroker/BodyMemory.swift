internal import Synchronization

/// How many bytes of bodies may be in memory at a time, for one listener or for all of a role.
///
/// A request is read whole before it can be judged, so what is read must be bounded before that: one
/// sandbox that sends many large bodies must not end the broker of all.
final class BodyMemory: Sendable {
    private let limit: Int
    private let whole: BodyMemory?
    private let used = Mutex(0)

    /// Makes a memory.
    ///
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - whole: what this is a part of.
    init(limit: Int, partOf whole: BodyMemory? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// Takes bytes; false, and nothing taken, where there are not so many left.
    func take(_ count: Int) -> Bool {
        let isTaken = used.withLock { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
        guard isTaken else { return false }
        guard let whole, !whole.take(count) else { return true }
        used.withLock { $0 -= count }
        return false
    }

    /// Gives bytes back.
    func give(_ count: Int) {
        used.withLock { $0 -= count }
        whole?.give(count)
    }
}
