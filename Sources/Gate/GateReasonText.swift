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
        case .sealedNotBetter(let mean, let best): "\(self) (\(mean) against \(best))"
        case .sealedFirst(let mean): "\(self) (\(mean))"
        case .sealedNotWorse(let mean, let best): "\(self) (\(mean) against \(best))"
        case .sealedWorse(let mean, let best): "\(self) (\(mean) against \(best))"
        case .sealedVoid(let voided): "\(self) (\(voided) rollouts)"
        case .pairedShown(let finding), .pairedNotShown(let finding): "\(self) (\(finding))"
        case .tripwire: "\(self): a tripwire fired, and its row says why"
        case .suiteEmpty, .suiteHolds, .suiteBroken, .suiteVoid, .suiteNotExamined,
            .suiteTasksLost, .sealedNotSpent, .sealedNotExamined, .voidAgain, .sentinelsVoid:
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
        case .suiteTasksLost(let tasks):
            "protected tasks of the regression suite are lost, on fresh seeds too: "
                + tasks.map(\.text).joined(separator: ", ")
        case .sealedNotBetter:
            "the sealed mean is not above the best one"
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
        case .voidAgain:
            "exams of this candidate broke again, which refuses it"
        case .pairedShown:
            "the paired test against the incumbent shows what the rule wants"
        case .pairedNotShown:
            "the paired test against the incumbent does not show what the rule wants"
        case .tripwire:
            "the candidate counts for nothing"
        case .sentinelsVoid(let voided):
            "infrastructure broke in \(voided) tasks before the suite"
        }
    }
}

extension PairedFinding: CustomStringConvertible {
    /// The figures, for the operator: both means, the p-value and the level.
    public var description: String {
        "\(candidate) against \(incumbent) of the incumbent, p \(Self.rounded(pValue)) at level"
            + " \(Self.rounded(level))"
    }

    /// A number from 0 to 1 with two significant digits, without a formatter.
    private static func rounded(_ value: Double) -> String {
        guard value > 0, value < 1 else { return value.description }
        var scale = 10.0
        while value * scale < 10, scale < 1e15 { scale *= 10 }
        return ((value * scale).rounded() / scale).description
    }
}
