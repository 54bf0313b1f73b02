internal import ExamResults
internal import Gate
internal import IterationLoop

/// The decision that follows from the rows before a `decision` row.
struct RecomputedDecision {
    private let suite: SuiteEvidence
    private let examined: SuiteEvidence
    private let sealed: Score?
    private let incumbent: Score?
    private let best: Score?
    private let floors: [String]
    private let isLastTry: Bool
    private let rules: GateRules

    /// Collects what the gate was given.
    ///
    /// - Parameters:
    ///   - state: the replay up to the row.
    ///   - genesis: the genesis row with the rules.
    ///   - repeats: what failed suite tasks did on fresh seeds.
    ///   - voidedExams: exams of this candidate that infrastructure broke.
    init(
        in state: CampaignState,
        _ genesis: GenesisRecord,
        _ repeats: [ExamResults],
        voidedExams: Int
    ) {
        examined =
            state.suite.isEmpty
            ? .empty : state.open?.suite.map { .examined($0) } ?? .absent
        rules = genesis.rules
        suite = genesis.promotion.weighed(examined, repeats, rules: genesis.rules).suite
        sealed = state.open?.sealed
        incumbent = state.open?.incumbent
        best = state.best?.score
        floors = state.open?.sealed.map { state.floors(above: $0) } ?? []
        isLastTry = voidedExams > 1 || state.usage.repetitions >= GateRules.mostRepetitions
    }

    /// What a row says and the gate does not decide on these outcomes.
    func differences(from record: DecisionRecord, on outcomes: SealedOutcomes?) -> [String] {
        let gate = Gate.decide(
            suite: suite,
            sealed: outcomes?.trials,
            best: best,
            rules: rules,
            isLastTry: isLastTry
        )
        var found = Differences()
        found.add("verdict", record.verdict.rawValue, gate.verdict)
        found.add("step", record.step, gate.refusingStep?.rawValue)
        for (index, reason) in gate.reasons.enumerated() {
            let told = record.reasons.indices.contains(index) ? record.reasons[index] : nil
            found.add("reason \(index + 1)", told, reason.exactText)
        }
        found.add("reasons", record.reasons.count, gate.reasons.count)
        found.add("paired.p", record.paired?.pValue, gate.finding?.pValue)
        found.add("paired.level", record.paired?.level, gate.finding?.level)
        addFigures(of: record, to: &found)
        return found.texts
    }

    /// What a row says and does not follow from suite, means, rules and the test that it names; nothing
    /// of single outcomes is known here.
    func differences(from record: DecisionRecord) -> [String] {
        let one = Gate.stepOne(suite, rules: rules)
        var found = Differences()
        found.add("reason 1", record.reasons.first, one.reason.exactText)
        let (verdict, step) = verdict(after: one, record.paired)
        found.add("verdict", record.verdict.rawValue, verdict.rawValue)
        found.add("step", record.step, step)
        addFigures(of: record, to: &found)
        return found.texts
    }

    private func verdict(after one: StepOne, _ paired: PairedRecord?) -> (Verdict, step: Int?) {
        if case .broken = one { return (.rejected, 1) }
        if isBelow(paired) { return (.rejected, 2) }
        if case .void = one { return isLastTry ? (.rejected, 1) : (.void, nil) }
        if sealed == nil { return isLastTry ? (.rejected, 2) : (.void, nil) }
        return (.accepted, nil)
    }

    private func isBelow(_ paired: PairedRecord?) -> Bool {
        guard let sealed, let best else { return false }
        switch rules.sealed {
        case .ratchet: return !rules.ratchetAccepts(sealed, best: best)
        case .paired, .nonInferior: return paired?.isShown != true
        }
    }

    private func addFigures(of record: DecisionRecord, to found: inout Differences) {
        found.add("sealed_mean", record.sealed?.mean, sealed?.mean)
        found.add("sealed_count", record.sealed?.count, sealed?.count)
        found.add("best_before", record.bestBefore, best?.mean)
        found.add("under_floors", record.underFloors, floors)
        found.add("paired.incumbent_mean", record.paired?.incumbent.mean, incumbent?.mean)
        let level = incumbent.flatMap { _ in rules.sealed.budget?.perTest }
        found.add("paired.level", record.paired?.level, level)
        let (passed, total) = suiteFigures
        found.add("suite_passed", record.suitePassed, passed)
        found.add("suite_total", record.suiteTotal, total)
    }

    private var suiteFigures: (passed: Int, total: Int) {
        guard case .examined(let results) = examined else { return (0, 0) }
        do throws(ExamError) {
            return (try results.passedTasks().count, results.planned.count)
        } catch {
            return (0, results.planned.count)
        }
    }
}

/// Figures of a row that are not what was computed.
private struct Differences {
    private(set) var texts: [String] = []

    mutating func add<Figure: Equatable>(_ name: String, _ row: Figure?, _ computed: Figure?) {
        guard row != computed else { return }
        let text = "\(name): the row has \(Self.text(row)), recomputed is \(Self.text(computed))"
        guard !texts.contains(text) else { return }
        texts.append(text)
    }

    private static func text<Figure>(_ figure: Figure?) -> String {
        figure.map { "\($0)" } ?? "none"
    }
}
