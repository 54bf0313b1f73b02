import Benchmarks
import ExamResults
import LauncherProtocol
import Testing

@Suite("The order of an exam")
struct ExamOrderTests {
    private func order(_ seed: UInt64, count: Int = 40) throws -> ExamOrder {
        ExamOrder(
            split: .train,
            tasks: try (0..<count).map { try TaskID("task-\($0)") },
            candidate: [],
            maximumConcurrency: 0,
            seed: seed
        )
    }

    @Test("one seed gives one order, whatever order the tasks came in")
    func reproducible() throws {
        let first = try order(3)
        let reversed = ExamOrder(
            split: .train,
            tasks: first.tasks.reversed(),
            candidate: [],
            maximumConcurrency: 1,
            seed: 3
        )
        #expect(first.seats == reversed.seats)
        #expect(first.seats.map(\.task).sorted() == first.tasks.sorted())
    }

    @Test("another seed gives another order and other seeds of tasks")
    func anotherSeed() throws {
        let (first, second) = (try order(3), try order(4))
        #expect(first.seats != second.seats)
        let task = Seat(task: try TaskID("task-1"))
        #expect(first.seed(for: task) != second.seed(for: task))
        #expect(first.seed(for: task) != first.seed(for: Seat(task: try TaskID("task-2"))))
    }

    @Test("seeds of tasks are never negative and do not depend on the other tasks")
    func seeds() throws {
        let (many, one) = (try order(9), try order(9, count: 1))
        #expect(many.seats.allSatisfy { many.seed(for: $0) >= 0 })
        #expect(many.seed(for: one.seats[0]) == one.seed(for: one.seats[0]))
    }

    @Test("both arms run every task in every trial, on the same seeds, in turns")
    func arms() throws {
        let plain = try order(5)
        let paired = ExamOrder(
            split: .test,
            tasks: plain.tasks,
            candidate: [],
            incumbent: [ExamFile(path: "agent/agent.py", bytes: [])],
            trials: 3,
            maximumConcurrency: 4,
            seed: 5
        )
        #expect(paired.rolloutCount == 240)
        #expect(Set(paired.seats.map { "\($0)" }).count == 240)
        let turns = stride(from: 0, to: 240, by: 4).map { Array(paired.seats[$0..<($0 + 4)]) }
        for (first, second) in zip(turns, turns.dropFirst()).enumerated()
            .filter({ $0.offset % 2 == 0 }).map(\.element)
        {
            #expect(Set(first.map(\.arm)).count == 1 && first[0].arm != second[0].arm)
            #expect(first.map(\.task) == second.map(\.task))
            #expect(first.map { paired.seed(for: $0) } == second.map { paired.seed(for: $0) })
        }
        let leads = stride(from: 0, to: turns.count, by: 2).filter {
            turns[$0][0].arm == .candidate
        }
        #expect(leads.count > 5 && leads.count < 25, "who begins is drawn by lot")
    }

    @Test("a task's trials have seeds of their own")
    func trials() throws {
        let order = try order(6)
        let seeds = (0..<5).map { order.seed(for: Seat(task: order.tasks[0], trial: $0)) }
        #expect(Set(seeds).count == 5)
    }

    @Test("at least one candidate runs at a time")
    func concurrency() throws {
        #expect(try order(1).maximumConcurrency == 1)
    }

    @Test("only the test split is sealed")
    func sealed() throws {
        #expect(try !order(1).isSealed)
        let sealed = ExamOrder(
            split: .test,
            tasks: [],
            candidate: [],
            maximumConcurrency: 1,
            seed: 0
        )
        #expect(sealed.isSealed)
    }
}

@Suite("What the end of a sandbox means for its rollout")
struct ExitMeaningTests {
    @Test(
        "every kind of exit is the candidate's fault but a broken sandbox",
        arguments: [
            (ExitKind.exited, CandidateFault.exited), (.outOfMemory, .outOfMemory),
            (.wallClock, .wallClock), (.cpuTime, .cpuTime), (.idle, .idle), (.output, .output),
            (.processes, .processes), (.violation, .violation), (.signalled, .signalled),
        ]
    )
    func kinds(_ kind: ExitKind, _ fault: CandidateFault) {
        let event = RelayEvent(SandboxExit(kind: kind), wasClosed: false)
        #expect(event == .candidateFailed(fault))
    }

    @Test("a sandbox that broke is the host's fault")
    func setup() {
        let event = RelayEvent(SandboxExit(kind: .setup), wasClosed: true)
        #expect(event == .infrastructure(.hostExhausted))
    }

    @Test("a kill that we asked for is no signal of the candidate's")
    func killed() {
        let exit = SandboxExit(kind: .signalled)
        #expect(RelayEvent(exit, wasClosed: true) == .candidateFailed(.exited))
        var requested = exit
        requested.wasRequested = true
        #expect(RelayEvent(requested, wasClosed: false) == .candidateFailed(.exited))
    }

    @Test(
        "a payload that a signal ended before our kill was ended by the signal, however late it is told"
    )
    func lateKill() {
        var exit = SandboxExit(kind: .signalled)
        exit.signal = 9
        exit.wasRequested = true
        #expect(RelayEvent(exit, wasClosed: true) == .candidateFailed(.signalled))
    }

    @Test("a shell whose program a signal ended says so by its exit code")
    func shell() {
        func meaning(_ code: Int32) -> RelayEvent {
            var exit = SandboxExit(kind: .exited)
            exit.code = code
            return RelayEvent(exit, wasClosed: false)
        }
        for code: Int32 in [129, 137, 143, 192] {
            #expect(meaning(code) == .candidateFailed(.signalled))
        }
        for code: Int32 in [0, 1, 2, 127, 128, 193, 255] {
            #expect(meaning(code) == .candidateFailed(.exited))
        }
    }
}
