/// A point of wall-clock time, in whole milliseconds since 1970-01-01T00:00:00Z.
public struct Moment: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64

    /// Makes a moment.
    ///
    /// - Parameter milliseconds: milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Orders moments by time.
    ///
    /// - Parameters:
    ///   - left: one moment.
    ///   - right: the other moment.
    /// - Returns: whether the first is earlier.
    public static func < (left: Moment, right: Moment) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment some milliseconds later.
    func later(by milliseconds: Int64) -> Moment {
        Moment(milliseconds: self.milliseconds + milliseconds)
    }

    /// The first moment of a grid, counted from 1970, that is not before this one.
    func onGrid(of milliseconds: Int64) -> Moment {
        let slots = (self.milliseconds + milliseconds - 1) / milliseconds
        return Moment(milliseconds: slots * milliseconds)
    }
}
