import ExamResults
import TestSupport
import Testing

@Suite("Exam results")
struct ExamResultsTests {
    @Test("B17, B18: the denominator is the number of planned tasks, whatever came of them")
    func denominator() throws {
        let planned = try tasks(4)
        let results = try ExamResults(
            planned: planned,
            outcomes: [planned[0]: .graded(.one), planned[1]: .failed(.exited)]
        )
        #expect(try results.mean().mean == 0.25)
        #expect(try results.outcome(of: planned[3]) == .missing)
        #expect(try results.passRate().passed == 1)
        #expect(try results.passRate().total == 4)
        #expect(results.faultCounts == ["exited": 1, "missing": 2])
    }

    @Test("C17: one infrastructure fault voids every figure")
    func voidExam() throws {
        let planned = try tasks(3)
        let results = try ExamResults(
            planned: planned,
            outcomes: [planned[0]: .graded(.one), planned[2]: .voided(.examinerDied)]
        )
        let error = ExamError.voided(task: planned[2], fault: .examinerDied)
        #expect(results.isVoid)
        #expect(results.voided == [planned[2]])
        #expect(throws: error) { try results.mean() }
        #expect(throws: error) { try results.passedTasks() }
        #expect(throws: error) { try results.passRate() }
    }

    @Test("an exam without tasks, with a task twice or with a stranger's outcome is refused")
    func refusals() throws {
        let planned = try tasks(2)
        #expect(throws: ExamError.nothingPlanned) { try ExamResults(planned: [], outcomes: [:]) }
        #expect(throws: ExamError.plannedTwice(planned[0])) {
            try ExamResults(planned: planned + [planned[0]], outcomes: [:])
        }
        let stranger = try TaskID("other")
        #expect(throws: ExamError.notPlanned(stranger)) {
            try ExamResults(planned: planned, outcomes: [stranger: .graded(.one)])
        }
        let results = try ExamResults(planned: planned, outcomes: [:])
        #expect(throws: ExamError.notPlanned(stranger)) { try results.outcome(of: stranger) }
    }

    @Test("planned tasks are sorted, so equal exams compare equal")
    func sorted() throws {
        let planned = try tasks(12)
        let one = try ExamResults(planned: planned, outcomes: [:])
        let other = try ExamResults(planned: planned.reversed(), outcomes: [:])
        #expect(one == other)
        #expect(one.planned.map(\.text).prefix(3) == ["task-0", "task-1", "task-10"])
    }

    @Test("a sheet takes one outcome a task and closes with the rest missing")
    func sheet() throws {
        let planned = try tasks(3)
        var sheet = try ExamSheet(planned: planned)
        try sheet.enter(.graded(.half), for: planned[1])
        #expect(throws: ExamError.outcomeTwice(planned[1])) {
            try sheet.enter(.graded(.one), for: planned[1])
        }
        #expect(throws: ExamError.self) { try sheet.enter(.missing, for: try TaskID("x")) }
        #expect(sheet.open == [planned[0], planned[2]])
        #expect(try sheet.closed().mean().text() == "0.1667")
        sheet.void(.hostExhausted)
        #expect(sheet.closed().voided == planned)
    }
}

@Suite("Nothing drops out of a mean")
struct MeanPropertyTests {
    @Test("replacing a grade by a fault or by nothing never raises the mean", arguments: 0..<50)
    func faultsNeverRaise(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let planned = try tasks(1 + generator.below(20))
        var outcomes = try generator.outcomes(of: planned)
        var mean = try ExamResults(planned: planned, outcomes: outcomes).mean()
        var passed = try ExamResults(planned: planned, outcomes: outcomes).passedTasks()
        for task in planned.shuffled(using: &generator) {
            let faults = CandidateFault.allCases
            outcomes[task] =
                [nil, .missing, .failed(faults[generator.below(faults.count)])][
                    generator.below(3)
                ]
            let results = try ExamResults(planned: planned, outcomes: outcomes)
            let lowered = try results.mean()
            #expect(lowered <= mean, "seed \(seed)")
            #expect(Set(try results.passedTasks()).isSubset(of: passed), "seed \(seed)")
            mean = lowered
            passed = try results.passedTasks()
        }
        #expect(mean.mean == 0)
    }

    @Test("planning one more task without a grade never raises the mean", arguments: 0..<30)
    func planningMoreNeverRaises(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let planned = try tasks(1 + generator.below(20))
        let outcomes = try generator.outcomes(of: planned)
        let mean = try ExamResults(planned: planned, outcomes: outcomes).mean()
        let more = planned + [try TaskID("late")]
        #expect(try ExamResults(planned: more, outcomes: outcomes).mean() <= mean)
    }

    @Test("an infrastructure fault anywhere leaves no figure at all", arguments: 0..<30)
    func voidsSpread(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let planned = try tasks(1 + generator.below(20))
        var outcomes = try generator.outcomes(of: planned)
        let faults = InfrastructureFault.allCases
        outcomes[planned[generator.below(planned.count)]] = .voided(
            faults[generator.below(faults.count)]
        )
        let results = try ExamResults(planned: planned, outcomes: outcomes)
        #expect(throws: ExamError.self) { try results.mean() }
    }

    @Test("the mean does not depend on the order of the tasks", arguments: 0..<30)
    func orderFree(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let planned = try tasks(1 + generator.below(40))
        let rewards = try planned.map { _ in TaskOutcome.graded(try generator.reward()) }
        let shuffled = planned.shuffled(using: &generator)
        let one = try ExamResults(
            planned: planned,
            outcomes: Dictionary(uniqueKeysWithValues: zip(planned, rewards))
        )
        let other = try ExamResults(
            planned: shuffled,
            outcomes: Dictionary(uniqueKeysWithValues: zip(shuffled, rewards))
        )
        #expect(try one.mean() == other.mean())
    }
}
