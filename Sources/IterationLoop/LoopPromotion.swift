internal import ExamResults
internal import Gate

extension LoopMachine {
    /// The suite's exam with what its failed tasks did on fresh seeds.
    func weighed(_ judgement: Judgement) -> WeighedSuite {
        let (suite, repeats) = (judgement.suite ?? .absent, judgement.repeats)
        return genesis.promotion.weighed(suite, repeats, rules: genesis.rules)
    }

    /// What becomes of the tasks that pass anew under an accepted candidate, as far as is known.
    func promotion(_ judgement: Judgement) -> Promotion {
        genesis.promotion.promotion(
            of: state.evidence.flatMap { evidence in
                judgement.recheck.map { Gate.promotion(evidence: evidence, recheck: $0) }
            } ?? [],
            after: judgement.confirmations,
            mark: genesis.rules.passMark,
            known: (flaky: state.quarantine, suite: state.suite),
            cluster: { rules.clusters[$0] ?? $0.text }
        )
    }
}
