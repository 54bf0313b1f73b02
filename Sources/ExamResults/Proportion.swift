/// A number from 0 to 1 in whole millionths.
///
/// Rewards, pass marks and thresholds are fixed-point numbers so that sums are exact: two exams
/// with the same rewards have the same mean in whatever order they were added, and "at least as
/// good" never depends on a rounding error.
public struct Proportion: Hashable, Sendable {
    /// The value times 1,000,000; from 0 to 1,000,000.
    public let millionths: Int

    /// How many millionths make 1.
    public static let unit = 1_000_000
    /// The number 0.
    public static let zero = Proportion(checked: 0)
    /// The number 1/2, the mark at which a task passes where a benchmark names no other.
    public static let half = Proportion(checked: 500_000)
    /// The number 4/5, the share of the regression suite that must pass where no other is named.
    public static let fourFifths = Proportion(checked: 800_000)
    /// The number 1.
    public static let one = Proportion(checked: 1_000_000)

    private init(checked millionths: Int) {
        self.millionths = millionths
    }

    /// Makes a proportion of a floating-point number, rounded to the nearest millionth.
    ///
    /// - Parameter value: a finite number from 0 to 1.
    /// - Throws: ``ExamError/notAProportion(_:)`` for anything else.
    public init(_ value: Double) throws(ExamError) {
        guard value.isFinite, value >= 0, value <= 1 else { throw .notAProportion(value) }
        millionths = Int((value * Double(Self.unit)).rounded())
    }

    /// Makes a proportion of millionths.
    ///
    /// - Parameter millionths: from 0 to 1,000,000.
    /// - Throws: ``ExamError/notAProportion(_:)`` for anything else.
    public init(millionths: Int) throws(ExamError) {
        guard (0...Self.unit).contains(millionths) else {
            throw .notAProportion(Double(millionths) / Double(Self.unit))
        }
        self.millionths = millionths
    }

    /// The value as a floating-point number from 0 to 1.
    public var value: Double { Double(millionths) / Double(Self.unit) }
}

extension Proportion: Comparable, CustomStringConvertible {
    /// Orders proportions by value.
    ///
    /// - Parameters:
    ///   - left: one proportion.
    ///   - right: the other.
    /// - Returns: whether the first is smaller.
    public static func < (left: Proportion, right: Proportion) -> Bool {
        left.millionths < right.millionths
    }

    /// The value with as many decimals as it needs, at least one: `0.8`, `1.0`.
    public var description: String { value.description }
}

/// What one task earned, from 0 to 1.
public typealias Reward = Proportion
