import ExamResults
import Gate
import TestSupport
import Testing

@Suite("A fault never turns a refusal into an acceptance")
struct GatePropertyTests {
    private struct Arm {
        let planned: [TaskID]
        var outcomes: [TaskID: TaskOutcome]

        func results() throws -> ExamResults {
            try ExamResults(planned: planned, outcomes: outcomes)
        }
    }

    private func decide(_ suite: Arm, _ sealed: Arm, _ best: Score?) throws -> GateDecision {
        Gate.decide(
            suite: .examined(try suite.results()),
            sealed: TrialResults(try sealed.results()),
            best: best,
            rules: GateRules(threshold: .fourFifths, stepTwo: .always)
        )
    }

    private func arm(_ generator: inout SeededGenerator) throws -> Arm {
        let planned = try tasks(1 + generator.below(9))
        var outcomes = try generator.outcomes(of: planned)
        for task in planned where generator.below(3) > 0 { outcomes[task] = .graded(.one) }
        return Arm(planned: planned, outcomes: outcomes)
    }

    private func fault(_ generator: inout SeededGenerator) -> TaskOutcome? {
        switch generator.below(4) {
        case 0: nil
        case 1: .missing
        case 2: .failed(CandidateFault.allCases[generator.below(CandidateFault.allCases.count)])
        default: .voided(.badVerdict)
        }
    }

    private func isAccepted(_ decision: GateDecision) -> Bool {
        switch decision {
        case .accept: true
        case .void, .reject: false
        }
    }

    private func addFault(to arm: inout Arm, _ generator: inout SeededGenerator) {
        let task = arm.planned[generator.below(arm.planned.count)]
        guard arm.outcomes[task]?.isVoided != true else { return }
        arm.outcomes[task] = fault(&generator)
    }

    @Test("B17, B18: whatever fault replaces whichever outcome", arguments: 0..<300)
    func monotone(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var suite = try arm(&generator)
        var sealed = try arm(&generator)
        let best = generator.below(3) > 0 ? try sealed.results().mean() : nil
        var accepted = isAccepted(try decide(suite, sealed, best))
        for _ in 0..<12 {
            if generator.below(2) == 0 {
                addFault(to: &suite, &generator)
            } else {
                addFault(to: &sealed, &generator)
            }
            let still = isAccepted(try decide(suite, sealed, best))
            #expect(accepted || !still, "seed \(seed)")
            accepted = still
        }
    }

    @Test("raising one reward never turns an acceptance into a refusal", arguments: 0..<100)
    func raisingHelps(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var suite = try arm(&generator)
        var sealed = try arm(&generator)
        let best = try sealed.results().mean()
        var accepted = isAccepted(try decide(suite, sealed, best))
        for task in suite.planned + sealed.planned {
            if suite.outcomes[task] != .graded(.one), suite.planned.contains(task) {
                suite.outcomes[task] = .graded(.one)
            } else if sealed.planned.contains(task) {
                sealed.outcomes[task] = .graded(.one)
            }
            let still = isAccepted(try decide(suite, sealed, best))
            #expect(still || !accepted, "seed \(seed)")
            accepted = still
        }
        for task in sealed.planned { sealed.outcomes[task] = .graded(.one) }
        let final = try decide(suite, sealed, best)
        #expect(isAccepted(final), "seed \(seed)")
    }
}

@Suite("Promotion and train evidence")
struct TrainEvidenceTests {
    private func evidence(_ rewards: [Double?]) throws -> TrainEvidence {
        var evidence = try TrainEvidence(train: tasks(rewards.count))
        try evidence.enter(try results(rewards))
        return evidence
    }

    @Test("what failed and passes now is promoted, what passed before is not")
    func promotes() throws {
        let evidence = try evidence([0, 1, 0, nil])
        let named = Gate.promotion(evidence: evidence, recheck: try results([1, 1, 0, 1]))
        #expect(named.map(\.text) == ["task-0", "task-3"])
    }

    @Test("A03: a task outside the train split is never promoted, whatever the recheck holds")
    func trainOnly() throws {
        let evidence = try evidence([0, 0])
        let named = Gate.promotion(evidence: evidence, recheck: try results([1, 1, 1, 1]))
        #expect(named.map(\.text) == ["task-0", "task-1"])
        var copy = evidence
        #expect(throws: ExamError.self) { try copy.promote([try TaskID("sealed-1")]) }
        #expect(throws: ExamError.self) { try copy.enter(try results([1, 1, 1])) }
        #expect(copy == evidence)
    }

    @Test(
        "C04: without evidence every train task counts as failing, so the suite cannot be starved"
    )
    func starvation() throws {
        var evidence = try TrainEvidence(train: tasks(3))
        #expect(evidence.failing.count == 3)
        try evidence.enter(try results([1]))
        #expect(evidence.failing.map(\.text) == ["task-1", "task-2"])
    }

    @Test("a voided outcome neither promotes nor erases what was known")
    func voids() throws {
        var evidence = try evidence([1, 0])
        let before = evidence
        let planned = try tasks(2)
        let void = try ExamResults(
            planned: planned,
            outcomes: [planned[0]: .voided(.examinerDied), planned[1]: .voided(.examinerDied)]
        )
        #expect(Gate.promotion(evidence: evidence, recheck: void).isEmpty)
        try evidence.enter(void)
        #expect(evidence == before)
    }

    @Test("the suite only grows and stays sorted")
    func growth() throws {
        var evidence = try evidence([0, 0, 0])
        try evidence.promote([try TaskID("task-2")])
        try evidence.promote([try TaskID("task-0"), try TaskID("task-2")])
        #expect(evidence.suite.map(\.text) == ["task-0", "task-2"])
        #expect(evidence.failing.map(\.text) == ["task-1"])
    }
}
