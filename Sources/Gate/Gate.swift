// Gate: the pure decision accept, reject or void, from the results of two exams.

public import ExamResults

/// The decision over one candidate.
///
/// Step 1 asks whether the regression suite still holds: the share of suite tasks that pass is at
/// least the threshold; an empty suite holds. Step 2 asks whether the sealed exam shows what the
/// rule wants: a mean that is at least the best one so far and above 0, or a paired test against the
/// incumbent in the same exam; without a best one any mean above 0 will do.
///
/// Valid evidence against a candidate decides, whatever broke elsewhere: a candidate that can
/// provoke an infrastructure fault must not thereby turn a refusal into another try. Only where no
/// evidence refuses it and some is void or absent is the decision void, and that only once: a
/// candidate whose exams broke before is refused when they break again.
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
        case .repeated(let results, let lost, let open):
            let one = stepOne(.examined(results), rules: rules)
            guard case .holds = one else { return one }
            guard lost.isEmpty else { return .broken(.suiteTasksLost(lost)) }
            return open == 0 ? one : .void(.suiteVoid(voided: open))
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
    ///   - rules: the threshold, the pass mark, the order of the steps and the sealed rule.
    ///   - isLastTry: whether the candidate's exams were void before, or the campaign has no
    ///     repetition left.
    /// - Returns: the decision with all its reasons, in the order of the steps.
    public static func decide(
        suite: SuiteEvidence,
        sealed: TrialResults?,
        best: Score?,
        rules: GateRules,
        isLastTry: Bool = false
    ) -> GateDecision {
        let one = stepOne(suite, rules: rules)
        let two = stepTwo(sealed, after: one, best: best, rules)
        let reasons = [one.reason, two.reason]
        switch (one, two) {
        case (.broken, _): return .reject(.suite, reasons)
        case (_, .below): return .reject(.sealed, reasons)
        case (.void, _) where isLastTry: return .reject(.suite, reasons + [.voidAgain(.suite)])
        case (_, .void) where isLastTry: return .reject(.sealed, reasons + [.voidAgain(.sealed)])
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
        _ sealed: TrialResults?,
        after one: StepOne,
        best: Score?,
        _ rules: GateRules
    ) -> StepTwo {
        guard let sealed else {
            if case .broken = one { return .void(.sealedNotSpent) }
            return .void(.sealedNotExamined)
        }
        do throws(ExamError) {
            let mean = try sealed.mean()
            guard let best else {
                return mean.mean > 0 || rules.ties == .everywhere
                    ? .notWorse(mean, .sealedFirst(mean))
                    : .below(.sealedNotBetter(mean, best: mean))
            }
            switch rules.sealed {
            case .ratchet:
                if rules.ratchetAccepts(mean, best: best) {
                    return .notWorse(mean, .sealedNotWorse(mean, best: best))
                }
                // One reason wherever a tie is refused: which of the two it was would say more of the mean.
                return rules.ties.accepts(at: best)
                    ? .below(.sealedWorse(mean, best: best))
                    : .below(.sealedNotBetter(mean, best: best))
            case .paired(let budget):
                return try paired(sealed, .zero, budget)
            case .nonInferior(let budget, let margin):
                return try paired(sealed, margin, budget)
            }
        } catch {
            return .void(.sealedVoid(voided: sealed.voidedCount))
        }
    }

    /// Tests whether the candidate is better than the incumbent with a margin as its handicap.
    private static func paired(
        _ sealed: TrialResults,
        _ margin: Proportion,
        _ budget: ErrorBudget
    ) throws(ExamError) -> StepTwo {
        guard let incumbent = try sealed.incumbentMean() else { return .void(.sealedNotExamined) }
        let finding = PairedFinding(
            candidate: try sealed.mean(),
            incumbent: incumbent,
            pValue: SignFlipTest.pValue(try sealed.drawnDifferences(handicap: margin)),
            level: budget.perTest
        )
        return finding.isShown
            ? .notWorse(finding.candidate, .pairedShown(finding))
            : .below(.pairedNotShown(finding))
    }
}
