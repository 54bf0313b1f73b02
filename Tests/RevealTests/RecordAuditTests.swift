import ExamResults
import Gate
import IterationLoop
import Reveal
import StrictJSON
import Testing

@Suite("A record, recomputed")
struct RecordAuditTests {
    private static func isSealed(_ body: JSONValue) -> Bool { body["split"] == "test" }

    @Test("an honest night has nothing that does not follow, with the key and without")
    func honest() throws {
        let night = try SampleNight.whole()
        let verdicts = night.rows.filter { $0.kind == "decision" }
            .compactMap { $0.body["verdict"]?.stringValue }
        #expect(verdicts == ["accepted", "rejected", "rejected", "rejected", "accepted"])
        #expect(try night.audited().faults == [])
        #expect(try night.revealed().faults == [])
        #expect(try night.audited().map(\.subject) == ["commitments", "decisions"])
        #expect(
            try night.revealed().map(\.subject) == ["commitments", "sealed outcomes", "decisions"]
        )
    }

    @Test("a night of paired exams with two trials is recomputed, its test from the outcomes")
    func paired() throws {
        var night = try SampleNight(rules: SampleNight.paired())
        try night.start()
        try night.judge(1, sealed: 4)
        try night.judge(2, sealed: 1)
        let verdicts = night.rows.filter { $0.kind == "decision" }
            .compactMap { $0.body["verdict"]?.stringValue }
        #expect(verdicts == ["accepted", "rejected"])
        #expect(try night.audited().faults == [])
        #expect(try night.revealed().faults == [])
        // A p-value is taken at its word without the key, and computed with it.
        let number = try #require(night.numbers("decision").last)
        night.change(number) { members in
            var paired = members["paired"]?.objectValue ?? [:]
            paired["p"] = 0.875
            members["paired"] = .object(paired)
        }
        #expect(try night.audited().faults == [])
        let faults = try night.revealed().faults
        #expect(faults.contains { $0.contains("row \(number): paired.p: the row has 0.875") })
        let exam = try #require(
            night.numbers("exam-ended", where: { $0["incumbent"] != nil }).last
        )
        night.change(exam) { $0["incumbent_mean"] = 0.125 }
        let more = try night.revealed().faults
        #expect(more.contains { $0.contains("row \(exam): incumbent_mean: the row has 0.125") })
    }

    @Test("rewards between 0 and 1 are decided by the lots of the exam, whose seed is kept")
    func lots() throws {
        var night = try SampleNight(rules: SampleNight.paired())
        try night.start()
        try night.judge(1, sealed: 4, earning: Reward(0.5))
        #expect(try night.revealed().faults == [])
        // The instrument: another seed draws other lots.
        let row = try #require(night.rows.last { $0.kind == "decision" })
        let told = try #require(row.body["paired"]?["p"]?.numberValue)
        let candidate = try SampleNight.results(SampleNight.sealed, passing: 4, Reward(0.5))
        let incumbent = try SampleNight.results(SampleNight.sealed, passing: 1)
        let others = try (UInt64(0)..<8).compactMap { seed in
            Gate.decide(
                suite: .empty,
                sealed: try TrialResults(
                    candidate: [candidate, candidate],
                    incumbent: [incumbent, incumbent],
                    seed: seed
                ),
                best: try candidate.mean(),
                rules: try SampleNight.paired()
            ).finding?.pValue
        }
        #expect(others.count == 8 && others.contains { $0 != told }, "\(others)")
    }

    @Test("a forged figure of any sealed exam is named with its row, once the exam is opened")
    func figures() throws {
        let honest = try SampleNight.whole()
        for number in honest.numbers("exam-ended", where: Self.isSealed) {
            var night = honest
            night.change(number) { $0["faults"] = ["idle": 4] }
            #expect(try night.audited().faults == [], "faults rest on single outcomes")
            let faults = try night.revealed().faults
            #expect(
                faults.contains { $0.contains("row \(number): faults: the row has {\"idle\":4}") }
            )
        }
    }

    @Test("means that were raised together, row by row, are found by who opens the exam")
    func raised() throws {
        var night = try SampleNight()
        try night.start()
        try night.judge(1, sealed: 2)
        let exam = try #require(
            night.numbers("exam-ended", where: { $0["purpose"] == "sealed" }).last
        )
        let decision = try #require(night.numbers("decision").last)
        let release = try #require(night.numbers("release").last)
        night.change(exam) {
            $0["mean"] = 0.75; $0["passed"] = 3
        }
        night.change(decision) {
            $0["sealed_mean"] = 0.75
            $0["released"] = 0.75
            let reasons = $0["reasons"]?.arrayValue?.compactMap(\.stringValue) ?? []
            $0["reasons"] = JSONValue(
                reasons.map { $0.replacing("(0.5000", with: "(0.7500") }
            )
        }
        night.change(release) { $0["released"] = 0.75 }
        #expect(try night.audited().faults == [], "consistent with each other")
        let faults = try night.revealed().faults
        #expect(faults.contains { $0.contains("row \(exam): mean: the row has 0.75") }, "\(faults)")
        #expect(faults.contains { $0.contains("row \(decision): reason 2") }, "\(faults)")
    }

    @Test("a decision that the rows do not give is named without any key", arguments: [0, 1, 2, 4])
    func verdicts(index: Int) throws {
        var night = try SampleNight.whole()
        let number = night.numbers("decision")[index]
        let was = night.rows[number - 1].body["verdict"]?.stringValue
        guard was == "rejected" else {
            night.change(number) { $0["best_before"] = 0.125 }
            let faults = try night.audited().faults
            #expect(
                faults == [
                    "decisions: row \(number): best_before: the row has 0.125, "
                        + "recomputed is \(index == 0 ? "0.25" : "0.5")"
                ]
            )
            return
        }
        // Turned into a void, which no sum of means contradicts in a replay.
        night.change(number) {
            $0["verdict"] = "void"; $0["step"] = nil
        }
        let release = try #require(night.numbers("release").first { $0 > number })
        night.change(release) { $0["verdict"] = "void" }
        let faults = try night.audited().faults
        #expect(faults.contains { $0.contains("row \(number): verdict") }, "\(faults)")
        #expect(try night.revealed().faults.contains { $0.contains("row \(number): verdict") })
    }

    @Test("another threshold in the genesis row contradicts the decisions that were made")
    func threshold() throws {
        var night = try SampleNight.whole()
        night.change(1) { members in
            var rules = members["rules"]?.objectValue ?? [:]
            rules["threshold"] = 0.1
            members["rules"] = .object(rules)
        }
        let faults = try night.audited().faults
        #expect(faults.contains { $0.contains("0.1 needed") }, "\(faults)")
    }

    @Test("a released score, a promotion and a baseline that do not follow are named")
    func derived() throws {
        let honest = try SampleNight.whole()
        var night = honest
        let promotion = try #require(night.numbers("promotion").first)
        night.change(promotion) { $0["promoted"] = ["train-2"] }
        #expect(try night.audited().faults.contains { $0.contains("row \(promotion): promoted") })
        night = honest
        let baseline = try #require(night.numbers("baseline").first)
        night.change(baseline) { $0["released"] = 0.3 }
        #expect(try night.audited().faults.contains { $0.contains("row \(baseline): released") })
        night = honest
        let floor = try #require(night.numbers("floor").first)
        night.change(floor) {
            $0["sealed_mean"] = 0.25; $0["released"] = 0.25
        }
        #expect(try night.audited().faults.contains { $0.contains("row \(floor): sealed mean") })
    }

    @Test("a commitment that is missing, misplaced or of another exam is named")
    func commitments() throws {
        let honest = try SampleNight.whole()
        let exams = honest.numbers("exam-ended", where: Self.isSealed)
        let first = try #require(exams.first)
        let last = try #require(exams.last)
        var night = honest
        night.change(first) { $0["sealed_root"] = nil }
        #expect(
            try night.audited().faults == [
                "commitments: row \(first): a sealed exam without sealed_root"
            ]
        )
        night = honest
        night.change(first) { $0["sealed_root"] = "0" }
        #expect(try night.audited().faults.count == 1)
        night = honest
        let root = honest.rows[last - 1].body["sealed_root"]
        night.change(first) { $0["sealed_root"] = root }
        #expect(try night.audited().faults == [], "a root tells nothing without the key")
        let faults = try night.revealed().faults
        #expect(faults.contains { $0.hasPrefix("sealed outcomes: row \(first): sealed_root") })
        night = honest
        let train = try #require(
            night.numbers("exam-ended", where: { $0["split"] == "train" }).first
        )
        night.change(train) { $0["sealed_root"] = root }
        #expect(
            try night.audited().faults == [
                "commitments: row \(train): a train exam has the root of a sealed one"
            ]
        )
    }

    @Test("outcomes that are missing, swapped or opened with another key are named")
    func files() throws {
        let honest = try SampleNight.whole()
        let names = honest.files.keys.sorted()
        var night = honest
        night.replace(names[0], with: nil)
        #expect(try night.revealed().faults.contains { $0.hasSuffix(": missing") })
        night = honest
        night.replace(names[0], with: honest.files[names[1]])
        #expect(try night.revealed().faults.contains { $0.contains("not sealed for this exam") })
        let other = try honest.revealed(with: SampleNight.key(8)).faults
        #expect(other.contains { $0.contains("the genesis row names the reveal key") }, "\(other)")
    }

    @Test("a record of a version without commitments is recomputed as far as it goes")
    func older() throws {
        var night = try SampleNight.whole()
        night.change(1) { $0["reveal_digest"] = nil }
        for number in night.numbers("exam-ended", where: Self.isSealed) {
            night.change(number) { $0["sealed_root"] = nil }
        }
        #expect(try night.audited().faults == [])
        #expect(try !night.revealed().faults.isEmpty, "nothing vouches for these outcomes")
    }

    @Test("rows in front of any cut are recomputed without a fault")
    func everyCut() throws {
        let night = try SampleNight.whole()
        for count in 1...night.rows.count {
            let rows = Array(night.rows.prefix(count))
            #expect(try RecordAudit(of: rows).findings.faults == [], "\(count) rows")
        }
    }
}
