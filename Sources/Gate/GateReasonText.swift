// Reasons in words. Nothing is decided here: the gate has decided, and the number is its.

internal import ExamResults

extension GateReason: CustomStringConvertible {
    /// The reason as the coding agent may read it: its number and a sentence without any figure of
    /// the sealed exam.
    public var description: String {
        "\(number): \(releasedSentence)"
    }

    /// The reason as the operator and the record have it, with exact figures.
    public var exactText: String {
        switch self {
        case .sealedFirst(let mean): "\(self) (\(mean))"
        case .sealedNotWorse(let mean, let best): "\(self) (\(mean) against \(best))"
        case .sealedWorse(let mean, let best): "\(self) (\(mean) against \(best))"
        case .sealedVoid(let voided): "\(self) (\(voided) tasks)"
        case .suiteEmpty, .suiteHolds, .suiteBroken, .suiteVoid, .suiteNotExamined,
            .sealedNotSpent, .sealedNotExamined:
            description
        }
    }

    private var releasedSentence: String {
        switch self {
        case .suiteEmpty:
            "the regression suite is empty, so step 1 holds"
        case .suiteHolds(let rate, let threshold):
            "the regression suite holds: \(rate.passed) of \(rate.total) pass, \(threshold) needed"
        case .suiteBroken(let rate, let threshold):
            "the regression suite is broken: \(rate.passed) of \(rate.total) pass,"
                + " \(threshold) needed"
        case .suiteVoid(let voided):
            "infrastructure broke in \(voided) tasks of the regression suite"
        case .suiteNotExamined:
            "no exam of the regression suite was finished"
        case .sealedFirst:
            "the first sealed mean is the best one"
        case .sealedNotWorse:
            "the sealed mean is at least the best one"
        case .sealedWorse:
            "the sealed mean is below the best one"
        case .sealedVoid:
            "infrastructure broke in the sealed exam"
        case .sealedNotSpent:
            "step 1 refused, so no sealed query was spent"
        case .sealedNotExamined:
            "the sealed exam was not finished"
        }
    }
}
