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
        #expect(first.shuffled == reversed.shuffled)
        #expect(first.shuffled.sorted() == first.tasks.sorted())
    }

    @Test("another seed gives another order and other seeds of tasks")
    func anotherSeed() throws {
        let (first, second) = (try order(3), try order(4))
        #expect(first.shuffled != second.shuffled)
        let task = try TaskID("task-1")
        #expect(first.seed(for: task) != second.seed(for: task))
        #expect(first.seed(for: task) != first.seed(for: try TaskID("task-2")))
    }

    @Test("seeds of tasks are never negative and do not depend on the other tasks")
    func seeds() throws {
        let (many, one) = (try order(9), try order(9, count: 1))
        #expect(many.tasks.allSatisfy { many.seed(for: $0) >= 0 })
        #expect(many.seed(for: one.tasks[0]) == one.seed(for: one.tasks[0]))
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
}
