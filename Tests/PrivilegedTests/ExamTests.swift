import Benchmarks
import ExamResults
import LinuxKernel
import Testing

extension Privileged {
    @Suite("An exam in real sandboxes")
    struct ExamTests {
        @Test("the template earns between 0.45 and 0.60 over all tasks of the helpdesk")
        func template() throws {
            try ExamHall.run { hall in
                let report = try hall.exam(try ExamHall.template("agent.py"))
                #expect(report.voidReason == nil)
                #expect(report.examinerErrors == "")
                let mean = try report.results.mean().mean
                #expect((0.45...0.60).contains(mean))
                #expect(report.records.count == hall.tasks.count)
                #expect(report.records.values.allSatisfy { !$0.transcript.isEmpty })
            }
        }

        @Test("an agent that does nothing earns nothing")
        func doNothing() throws {
            try ExamHall.run { hall in
                let agent = try ExamHall.template("floors/do_nothing.py")
                let report = try hall.exam(agent, tasks: Array(hall.tasks.prefix(20)))
                #expect(try report.results.mean().mean == 0)
                #expect(report.faultCounts.isEmpty)
            }
        }

        @Test("an oracle earns everything")
        func oracle() throws {
            let tasks = Array(try ExamHall.template("tasks.json").utf8)
            let file = ExamFile(path: "agent/tasks.json", bytes: tasks)
            try ExamHall.run(ExamHall.Setup(candidateFiles: [file])) { hall in
                let agent = try ExamHall.template("tests/oracle.py")
                let report = try hall.exam(agent, concurrency: 2)
                #expect(try report.results.mean().mean == 1)
            }
        }

        @Test("A10, A11: a sealed exam keeps outcomes and nothing else")
        func sealed() throws {
            try ExamHall.run { hall in
                let agent = try ExamHall.template("agent.py")
                let tasks = Array(hall.tasks.prefix(12))
                let train = try hall.exam(agent, .train, tasks: tasks)
                let sealed = try hall.exam(agent, .test, tasks: tasks)
                #expect(sealed.results == train.results)
                #expect(sealed.records.isEmpty)
                #expect(sealed.examinerErrors.isEmpty)
                #expect(sealed.examinerPlan != train.examinerPlan)
                #expect(sealed.candidatePlan == train.candidatePlan)
                // The instrument sees what a train exam keeps.
                #expect(train.records.values.contains { !$0.detail.isEmpty })
            }
        }
    }
}
