// Gate: the pure decision accept, reject or void, from the results of two exams.

public import ExamResults

/// The decision over one candidate.
///
/// Step 1 asks whether the regression suite still holds: the share of suite tasks that pass is at
/// least the threshold; an empty suite holds. Step 2 asks whether the sealed mean is at least the
/// best one so far; without a best one any mean will do.
///
/// Valid evidence against a candidate decides, whatever broke elsewhere: a candidate that can
/// provoke an infrastructure fault must not thereby turn a refusal into another try. Only where no
/// evidence refuses it and some is void or absent is the decision void.
public enum Gate {
    /// Judges step 1.
    ///
    /// - Parameters:
    ///   - suite: what is known of the regression suite under the candidate.
    ///   - rules: the threshold and the pass mark.
    /// - Returns: whether the suite holds, and why.
    public static func stepOne(_ suite: SuiteEvidence, rules: GateRules) -> StepOne {
        switch suite {
        case .empty: return .holds(.suiteEmpty)
        case .absent: return .void(.suiteNotExamined)
        case .examined(let results):
            do throws(ExamError) {
                let rate = try results.passRate(mark: rules.passMark)
                let holds = rate.reaches(rules.threshold)
                return holds
                    ? .holds(.suiteHolds(rate, threshold: rules.threshold))
                    : .broken(.suiteBroken(rate, threshold: rules.threshold))
            } catch {
                return .void(.suiteVoid(voided: results.voided.count))
            }
        }
    }

    /// Judges a candidate.
    ///
    /// - Parameters:
    ///   - suite: what is known of the regression suite under the candidate.
    ///   - sealed: the sealed exam's results, or nothing where it was not run.
    ///   - best: the best accepted score, or nothing before the first one.
    ///   - rules: the threshold, the pass mark and the order of the steps.
    /// - Returns: the decision with all its reasons, in the order of the steps.
    public static func decide(
        suite: SuiteEvidence,
        sealed: ExamResults?,
        best: Score?,
        rules: GateRules
    ) -> GateDecision {
        let one = stepOne(suite, rules: rules)
        let two = stepTwo(sealed, after: one, best: best)
        let reasons = [one.reason, two.reason]
        switch (one, two) {
        case (.broken, _): return .reject(.suite, reasons)
        case (_, .below): return .reject(.sealed, reasons)
        case (.void, _), (_, .void): return .void(reasons)
        case (.holds, .notWorse(let score, _)): return .accept(score, reasons)
        }
    }

    /// Names the train tasks that a newly accepted candidate adds to the regression suite.
    ///
    /// - Parameters:
    ///   - evidence: the train evidence *before* this candidate.
    ///   - recheck: the candidate's results on train tasks, at best on all of
    ///     ``TrainEvidence/failing``.
    /// - Returns: the tasks that failed or had no verdict before and pass now, sorted. Only tasks
    ///   of the train split can be among them, whatever `recheck` holds.
    public static func promotion(evidence: TrainEvidence, recheck: ExamResults) -> [TaskID] {
        let failing = Set(evidence.failing)
        return recheck.all
            .filter { failing.contains($0.task) && $0.outcome.passes(mark: evidence.passMark) }
            .map(\.task)
    }

    private enum StepTwo {
        case notWorse(Score, GateReason)
        case below(GateReason)
        case void(GateReason)

        var reason: GateReason {
            switch self {
            case .notWorse(_, let reason), .below(let reason), .void(let reason): reason
            }
        }
    }

    private static func stepTwo(
        _ sealed: ExamResults?,
        after one: StepOne,
        best: Score?
    ) -> StepTwo {
        guard let sealed else {
            if case .broken = one { return .void(.sealedNotSpent) }
            return .void(.sealedNotExamined)
        }
        do throws(ExamError) {
            let mean = try sealed.mean()
            guard let best else { return .notWorse(mean, .sealedFirst(mean)) }
            return mean >= best
                ? .notWorse(mean, .sealedNotWorse(mean, best: best))
                : .below(.sealedWorse(mean, best: best))
        } catch {
            return .void(.sealedVoid(voided: sealed.voided.count))
        }
    }
}
