/// How far a sealed score can lie above the true one because of what was told about it.
///
/// Who is told B bits over a campaign can be led to at most 2^B different final candidates, however
/// the bits were used. For each of them, n independent tasks with rewards from 0 to 1 overstate the
/// true rate by t or more with a chance of at most exp(-2nt²) (Hoeffding, 1963); over all of them
/// with at most 2^B of that. Set to 5 % this gives t = sqrt((B ln 2 + ln 20) / 2n): the description
/// length bound of Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "Generalization in adaptive
/// data analysis and holdout reuse", 2015. It is one-sided, because a score that was chosen is too
/// high, not too low. Trials do not count: they repeat tasks, and draw none.
public struct OverfitBound: Sendable, Equatable {
    /// The bits that were told, by verdicts, scores and moments; at least 0.
    public let bits: Double
    /// The number of sealed tasks, at least 1.
    public let tasks: Int
    /// The bound: with 95 % the sealed score is less than this above the true one.
    public let bound: Double

    private static let logarithmOf2 = 0.693_147_180_559_945_3
    private static let logarithmOf20 = 2.995_732_273_553_991

    /// Computes the bound.
    ///
    /// - Parameters:
    ///   - bits: the bits that were told; 0 where it is less, or no number.
    ///   - tasks: the number of sealed tasks; 1 where it is less.
    public init(bits: Double, tasks: Int) {
        self.bits = bits > 0 ? bits : 0
        self.tasks = max(1, tasks)
        let exponent = self.bits * Self.logarithmOf2 + Self.logarithmOf20
        bound = (exponent / Double(2 * self.tasks)).squareRoot()
    }

    /// Whether the bound says nothing worth knowing: it is 0.5 or more.
    public var isVacuous: Bool { bound >= 0.5 }

    /// What the true rate is at least, with 95 %.
    ///
    /// - Parameter score: the sealed score.
    /// - Returns: the score less the bound, at least 0.
    public func certified(_ score: Double) -> Double { max(0, score - bound) }

    /// Whether the bound says nothing of a score: it is as large as the score itself, so that the
    /// true rate may be 0.
    ///
    /// - Parameter score: the sealed score.
    /// - Returns: whether nothing is certified.
    public func isVacuous(for score: Double) -> Bool { certified(score) <= 0 }

    /// The bound in a sentence.
    public var line: String {
        let text =
            "\(FigureText.fixed(bits, 1)) bits over \(tasks) tasks: with 95 % the sealed score is"
            + " less than \(FigureText.fixed(bound)) above the true one"
        return isVacuous ? text + ", which says nothing" : text
    }
}
