/// A mean reward, kept as an exact fraction.
///
/// Outside this package a score can only come out of ``ExamResults/mean()``: a score is computed
/// from verdicts and never passed in.
public struct Score: Sendable {
    /// The sum of the rewards in millionths.
    let totalMillionths: Int
    /// The number of planned tasks, at least 1.
    public let count: Int

    init(totalMillionths: Int, count: Int) {
        precondition(
            count > 0 && totalMillionths >= 0 && totalMillionths / Proportion.unit <= count,
            "invariant: a mean lies between 0 and 1 and has tasks"
        )
        self.totalMillionths = totalMillionths
        self.count = count
    }

    /// Recovers the score that a signed record holds as its mean and count.
    ///
    /// A mean of `count` rewards in whole millionths is one of few numbers; the nearest is taken,
    /// and refused unless its ``mean`` is the recorded number to the last bit.
    ///
    /// - Parameters:
    ///   - mean: the recorded ``mean``.
    ///   - count: the recorded ``count``.
    /// - Throws: ``ExamError/notAMean(mean:count:)`` where no exam of that size has that mean.
    package init(replayingMean mean: Double, count: Int) throws(ExamError) {
        guard mean.isFinite, mean >= 0, mean <= 1, (1...1_000_000).contains(count) else {
            throw .notAMean(mean: mean, count: count)
        }
        let total = Int((mean * Double(count) * Double(Proportion.unit)).rounded())
        let score = Score(totalMillionths: total, count: count)
        guard score.mean == mean else { throw .notAMean(mean: mean, count: count) }
        self = score
    }

    /// The mean as a floating-point number from 0 to 1; for display and records, never for
    /// comparison.
    public var mean: Double {
        Double(totalMillionths) / Double(count * Proportion.unit)
    }

    /// The mean in decimal, rounded half up.
    ///
    /// - Parameter decimals: the digits after the point, from 0 to 6.
    /// - Returns: for instance `0.6333`.
    public func text(decimals: Int = 4) -> String {
        let digits = min(max(decimals, 0), 6)
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Self.roundedQuotient(totalMillionths * scale, count * Proportion.unit)
        let fraction = String(scaled % scale)
        guard digits > 0 else { return String(scaled) }
        let padding = String(repeating: "0", count: digits - fraction.utf8.count)
        return "\(scaled / scale).\(padding)\(fraction)"
    }

    /// The mean as the coding agent may see it: the nearest multiple of a quantum, at most 1.
    ///
    /// - Parameter quantum: the step, above 0; a larger one releases fewer bits a query.
    /// - Returns: the rounded mean.
    public func released(quantum: Proportion) -> Proportion {
        precondition(quantum > .zero, "invariant: a release quantum is above 0")
        let steps = Self.roundedQuotient(totalMillionths, count * quantum.millionths)
        do {
            return try Proportion(millionths: min(steps * quantum.millionths, Proportion.unit))
        } catch {
            fatalError("invariant: a multiple of the quantum, capped at 1, is a proportion")
        }
    }

    private static func roundedQuotient(_ dividend: Int, _ divisor: Int) -> Int {
        (2 * dividend + divisor) / (2 * divisor)
    }
}

extension Score: Comparable, CustomStringConvertible {
    /// Compares two means exactly, also over different numbers of tasks.
    ///
    /// - Parameters:
    ///   - left: one score.
    ///   - right: the other.
    /// - Returns: whether the first mean is smaller.
    public static func < (left: Score, right: Score) -> Bool {
        left.product(with: right) < right.product(with: left)
    }

    /// Compares two means exactly, also over different numbers of tasks.
    ///
    /// - Parameters:
    ///   - left: one score.
    ///   - right: the other.
    /// - Returns: whether both means are the same number.
    public static func == (left: Score, right: Score) -> Bool {
        left.product(with: right) == right.product(with: left)
    }

    private func product(with other: Score) -> Int128 {
        Int128(totalMillionths) * Int128(other.count)
    }

    /// The mean with four decimals.
    public var description: String { text() }
}

/// How many of the planned tasks passed.
public struct PassRate: Sendable, Equatable {
    /// The tasks that passed.
    public let passed: Int
    /// The planned tasks, at least 1.
    public let total: Int

    init(passed: Int, total: Int) {
        self.passed = passed
        self.total = total
    }

    /// Whether the share of passed tasks is at least a threshold, compared exactly.
    ///
    /// - Parameter threshold: the lowest share that is enough.
    /// - Returns: whether it is reached.
    public func reaches(_ threshold: Proportion) -> Bool {
        passed * Proportion.unit >= threshold.millionths * total
    }

    /// The share as a floating-point number; for display, never for comparison.
    public var value: Double { Double(passed) / Double(total) }
}
