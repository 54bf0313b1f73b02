import Benchmarks
import ExamResults
import TestSupport
import Testing

@Suite("The sheets of an exam")
struct ExamSheetsTests {
    private func order(hasIncumbent: Bool) throws -> ExamOrder {
        let agent = [ExamFile(path: "agent/agent.py", bytes: [])]
        return ExamOrder(
            split: .test,
            tasks: try tasks(3),
            candidate: agent,
            incumbent: hasIncumbent ? agent : [],
            trials: 2,
            maximumConcurrency: 1,
            seed: 77
        )
    }

    @Test("each outcome stands with its arm and trial, and what was not entered is missing")
    func outcomes() throws {
        let order = try order(hasIncumbent: true)
        var sheets = try ExamSheets(order)
        let task = order.tasks[1]
        try sheets.enter(.graded(.one), for: Seat(task: task, trial: 1, arm: .incumbent))
        try sheets.enter(.graded(.half), for: Seat(task: task, trial: 0, arm: .candidate))
        let closed = sheets.closed()
        #expect(try closed.incumbent.map { try $0.outcome(of: task) } == [.missing, .graded(.one)])
        #expect(
            try closed.candidate.map { try $0.outcome(of: task) } == [.graded(.half), .missing]
        )
        #expect(throws: ExamError.outcomeTwice(task)) {
            try sheets.enter(.missing, for: Seat(task: task, trial: 1, arm: .incumbent))
        }
    }

    @Test("an incumbent's handicap is drawn from the exam's seed")
    func seed() throws {
        #expect(try ExamSheets(order(hasIncumbent: true)).closed().seed == 77)
        let alone = try ExamSheets(order(hasIncumbent: false)).closed()
        #expect(alone.seed == 0 && alone.incumbent.isEmpty)
    }

    @Test("what voids an exam voids both arms")
    func void() throws {
        var sheets = try ExamSheets(order(hasIncumbent: true))
        sheets.void(.examinerDied)
        #expect(sheets.closed().voidedCount == 12)
    }
}
