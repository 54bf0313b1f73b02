import Benchmarks
import ExamResults
import LinuxKernel
import Testing

extension Privileged {
    @Suite("Hostile candidates in an exam")
    struct ExamHostileTests {
        /// The same tasks with and without attacks in some of them.
        struct Comparison {
            let honest: ExamReport
            let attacked: ExamReport
            let tasks: [HostileCandidate: TaskID]
        }

        static let comparison = Result { try compared(.train) }

        static func compared(_ split: Split) throws -> Comparison {
            var comparison: Comparison?
            try ExamHall.run { hall in
                let template = try ExamHall.template("agent.py")
                hall.site.patience.candidate = .milliseconds(4_000)
                let tasks = Array(hall.tasks.prefix(2 * HostileCandidate.allCases.count))
                let chosen = Array(zip(HostileCandidate.allCases, tasks))
                let attacks = try chosen.map { attack, task in
                    (marker: try hall.marker(of: task), body: attack.attack)
                }
                let honest = try hall.exam(template, split, tasks: tasks)
                let agent = HostileCandidate.agent(template, attacks)
                let attacked = try hall.exam(agent, split, tasks: tasks)
                comparison = Comparison(
                    honest: honest,
                    attacked: attacked,
                    tasks: Dictionary(uniqueKeysWithValues: chosen)
                )
            }
            return try #require(comparison)
        }

        @Test(
            "B01, B16, B17, B18, B19, B21: a rollout fails by its own fault when its candidate",
            arguments: HostileCandidate.allCases
        )
        func fails(_ attack: HostileCandidate) throws {
            let comparison = try Self.comparison.get()
            let task = try #require(comparison.tasks[attack])
            let outcome = try comparison.attacked.results.first.outcome(of: task)
            #expect(attack.expected.contains(outcome.code), "it is \(outcome.code)")
            #expect(outcome.reward == .zero)
        }

        @Test(
            "B17, B18: stalling, crashing, killing and filling memory lower a mean, and raise none"
        )
        func lowers() throws {
            let comparison = try Self.comparison.get()
            let honest = comparison.honest.results.first
            let attacked = comparison.attacked.results.first
            #expect(attacked.planned == honest.planned)
            #expect(try attacked.mean() < honest.mean())
            let shown: Set<HostileCandidate> = [
                .neverAnswers, .raises, .killsOthers, .killsTheVerifier, .fillsMemory,
            ]
            #expect(shown.isSubset(of: comparison.tasks.keys))
            for (attack, task) in comparison.tasks {
                let rewards = (try attacked.outcome(of: task), try honest.outcome(of: task))
                #expect(rewards.0.reward <= rewards.1.reward, "\(attack)")
            }
        }

        @Test("the other rollouts of an attacked exam end as they do without attacks")
        func othersUnaffected() throws {
            let comparison = try Self.comparison.get()
            #expect(comparison.attacked.voidReason == nil)
            let attacked = Set(comparison.tasks.values)
            for (task, outcome) in comparison.honest.results.first.all
            where !attacked.contains(task) {
                #expect(
                    try comparison.attacked.results.first.outcome(of: task) == outcome,
                    "\(task)"
                )
            }
        }

        @Test("a failed train rollout keeps the last words of its standard error, and no more")
        func lastWords() throws {
            let comparison = try Self.comparison.get()
            let raising = try #require(comparison.tasks[.raises])
            let errors = comparison.attacked.records[raising]?.errors ?? ""
            #expect(errors.contains("ValueError: the last words"))
            let printing = try #require(comparison.tasks[.printsForEver])
            let printed = comparison.attacked.records[printing]?.errors ?? ""
            #expect(printed.utf8.count < 5_000)
        }

        @Test("no text of another task can be found from inside", arguments: Split.allCases)
        func findsNothing(_ split: Split) throws {
            try ExamHall.run { hall in
                let template = try ExamHall.template("agent.py")
                let tasks = Array(hall.tasks.prefix(8))
                let own = try tasks.prefix(2).map { try hall.marker(of: $0) }
                let others = try hall.tasks.dropFirst(2).map { try hall.marker(of: $0) }
                let honest = try hall.exam(template, split, tasks: tasks)
                let agent = HostileCandidate.agent(
                    template,
                    [
                        // The instrument finds what is there.
                        (own[0], HostileCandidate.search(for: others, plantsOne: true)),
                        (own[1], HostileCandidate.search(for: others, plantsOne: false)),
                    ]
                )
                let searched = try hall.exam(agent, split, tasks: tasks)
                #expect(searched.results == honest.results)
            }
        }

        @Test("B19: a candidate that dribbles frames is stopped by the wall clock")
        func wallClock() throws {
            try ExamHall.run(ExamHall.Setup(limits: SessionLimits(turns: 30, seconds: 2))) { hall in
                let template = try ExamHall.template("agent.py")
                let tasks = Array(hall.tasks.prefix(3))
                let dribble = "while True: write({'type': 'log', 'text': 'again'}); nap(0.05)"
                let agent = HostileCandidate.agent(
                    template,
                    [(try hall.marker(of: tasks[0]), dribble)]
                )
                let report = try hall.exam(agent, tasks: tasks)
                #expect(try report.results.first.outcome(of: tasks[0]) == .failed(.wallClock))
                #expect(report.faultCounts == ["wall-clock": 1])
            }
        }

        @Test(
            "a file that is no agent fails every rollout and voids nothing",
            arguments: [
                ("", "exited"), ("def broken(:", "exited"), ("import os\nos._exit(0)", "exited"),
                ("while True: pass", "idle"), ("import os\nos.read(0, 1)\nos._exit(0)", "exited"),
            ]
        )
        func noAgent(_ source: String, _ code: String) throws {
            try ExamHall.run { hall in
                hall.site.patience.candidate = .milliseconds(600)
                let report = try hall.exam(source, .test, tasks: Array(hall.tasks.prefix(4)))
                #expect(report.faultCounts == [code: 4])
                #expect(try report.results.mean().mean == 0)
            }
        }
    }
}
