import ExamResults
import Gate
import TestSupport
import Testing

/// Results over `rewards.count` tasks; nothing stands for a task without a verdict.
func results(_ rewards: [Double?]) throws -> ExamResults {
    let planned = try tasks(rewards.count)
    var outcomes: [TaskID: TaskOutcome] = [:]
    for (task, reward) in zip(planned, rewards) {
        if let reward { outcomes[task] = .graded(try Reward(reward)) }
    }
    return try ExamResults(planned: planned, outcomes: outcomes)
}

func voided(_ count: Int) throws -> ExamResults {
    let planned = try tasks(count)
    return try ExamResults(planned: planned, outcomes: [planned[0]: .voided(.hostExhausted)])
}

@Suite("Step 1, the regression suite")
struct StepOneTests {
    @Test("an empty suite holds")
    func empty() {
        #expect(Gate.stepOne(.empty, rules: .standard) == .holds(.suiteEmpty))
    }

    @Test("four of five pass a threshold of 0.8, three of five do not")
    func threshold() throws {
        let four = Gate.stepOne(.examined(try results([1, 1, 1, 0.5, 0])), rules: .standard)
        #expect(four.reason.number == 12)
        let three = Gate.stepOne(.examined(try results([1, 1, 1, 0.499999, 0])), rules: .standard)
        #expect(three.reason.number == 13)
        #expect(
            three.reason.description
                == "13: the regression suite is broken: 3 of 5 pass, 0.8 needed"
        )
    }

    @Test(
        "C20: with a threshold of 1 no task of the suite is traded for another; 0.8 trades one of 5"
    )
    func trade() throws {
        let traded = SuiteEvidence.examined(try results([1, 1, 1, 1, 0]))
        #expect(Gate.stepOne(traded, rules: .standard).reason.number == 12)
        #expect(Gate.stepOne(traded, rules: GateRules(threshold: .one)).reason.number == 13)
    }

    @Test("a suite task without a verdict counts as failing")
    func missing() throws {
        let one = Gate.stepOne(.examined(try results([1, 1, nil])), rules: .standard)
        #expect(one.reason.number == 13)
    }

    @Test("an exam that was not run is not an empty suite")
    func absent() {
        #expect(Gate.stepOne(.absent, rules: .standard) == .void(.suiteNotExamined))
    }

    @Test("a broken or void suite spends no sealed query unless the rules say always")
    func order() throws {
        let always = GateRules(threshold: .fourFifths, stepTwo: .always)
        let holds = Gate.stepOne(.empty, rules: .standard)
        let broken = Gate.stepOne(.examined(try results([0])), rules: .standard)
        let void = Gate.stepOne(.examined(try voided(1)), rules: .standard)
        #expect(GateRules.standard.runsSealedExam(after: holds))
        #expect(!GateRules.standard.runsSealedExam(after: broken))
        #expect(!GateRules.standard.runsSealedExam(after: void))
        for one in [holds, broken, void] { #expect(always.runsSealedExam(after: one)) }
    }
}

@Suite("The decision")
struct GateDecisionTests {
    private func decide(
        _ suite: SuiteEvidence,
        _ sealed: ExamResults?,
        best: Score? = nil
    ) -> GateDecision {
        Gate.decide(
            suite: suite,
            sealed: sealed.map { TrialResults($0) },
            best: best,
            rules: .standard
        )
    }

    @Test("the first sealed mean is accepted and becomes the best one")
    func first() throws {
        let sealed = try results([1, 0])
        let decision = decide(.empty, sealed)
        #expect(
            decision == .accept(try sealed.mean(), [.suiteEmpty, .sealedFirst(try sealed.mean())])
        )
        #expect(decision.verdict == "accepted")
    }

    @Test("a sealed mean equal to the best one is accepted, one millionth below is refused")
    func equalMeans() throws {
        let best = try results([0.1, 0.2, 0.3]).mean()
        #expect(decide(.empty, try results([0.3, 0.2, 0.1]), best: best).verdict == "accepted")
        let below = decide(.empty, try results([0.3, 0.2, 0.099999]), best: best)
        #expect(below.refusingStep == .sealed)
        #expect(below.reasons.map(\.number) == [11, 23])
    }

    @Test("a mean of 0 is refused, also against a best one of 0; older records keep their rule")
    func zero() throws {
        let nothing = try results([0, 0])
        let best = try nothing.mean()
        for known in [nil, best] {
            let decision = decide(.empty, nothing, best: known)
            #expect(decision.refusingStep == .sealed)
            #expect(decision.reasons.map(\.number) == [11, 20])
        }
        #expect(decide(.empty, try results([0, 0.000001]), best: best).verdict == "accepted")
        let older = GateRules(threshold: .fourFifths, ties: .everywhere)
        let replayed = Gate.decide(
            suite: .empty,
            sealed: TrialResults(nothing),
            best: best,
            rules: older
        )
        #expect(replayed.verdict == "accepted", "the rule under which it was recorded")
    }

    @Test(
        "where ties are refused only a better mean passes, and the reason does not say which it was"
    )
    func ties() throws {
        let best = try results([0.5, 0.5]).mean()
        let rules = GateRules(threshold: .fourFifths, ties: .refuse)
        let verdicts = try [(0.5, "rejected"), (0.499999, "rejected"), (0.500001, "accepted")].map {
            let sealed = TrialResults(try results([0.5, $0.0]))
            let decision = Gate.decide(suite: .empty, sealed: sealed, best: best, rules: rules)
            #expect(decision.verdict == $0.1, "\($0.0)")
            return decision.reasons[1].description
        }
        #expect(verdicts[0] == verdicts[1])
    }

    @Test("a broken suite refuses at step 1, whatever the sealed exam says")
    func broken() throws {
        let suite = SuiteEvidence.examined(try results([0, 0]))
        for sealed in [nil, try results([1]), try results([0]), try voided(2)] {
            let decision = decide(suite, sealed)
            #expect(decision.refusingStep == .suite)
        }
        #expect(decide(suite, nil).reasons.map(\.number) == [13, 25])
    }

    @Test("an infrastructure fault voids, and a sealed exam that was not finished does too")
    func voids() throws {
        #expect(decide(.empty, try voided(3)).reasons.map(\.number) == [11, 24])
        #expect(decide(.empty, nil).reasons.map(\.number) == [11, 26])
        #expect(
            decide(.examined(try voided(1)), try results([1])).reasons.map(\.number) == [14, 21]
        )
        #expect(decide(.absent, nil).verdict == "void")
    }

    @Test("valid evidence against a candidate outweighs a fault elsewhere")
    func faultsDoNotSave() throws {
        let best = try results([1]).mean()
        let decision = decide(.examined(try voided(2)), try results([0.5]), best: best)
        #expect(decision.refusingStep == .sealed)
    }

    @Test("what the coding agent may read holds no figure of the sealed exam")
    func releasedText() throws {
        let best = try results([0.123456]).mean()
        for sealed in [try results([0.654321]), try results([0.012345]), try voided(7)] {
            for (suite, previous) in [(SuiteEvidence.empty, best), (.empty, nil)] {
                for reason in decide(suite, sealed, best: previous).reasons where reason.number > 20
                {
                    let sentence = reason.description.dropFirst(3)
                    let figures = sentence.filter { $0.isNumber }
                    #expect(figures.isEmpty, "\(reason)")
                    #expect(reason.exactText.hasPrefix(reason.description))
                }
            }
        }
        #expect(
            decide(.empty, try results([0.5]), best: best).reasons[1].exactText
                == "22: the sealed mean is at least the best one (0.5000 against 0.1235)"
        )
    }
}
