import ExamResults
import IterationLoop
import Supervisor
import Testing

@Suite("What other programs can have done to an exam of prepare")
struct OutsideHarmTests {
    private func results(_ outcomes: TaskOutcome...) throws -> TrialResults {
        let tasks = try outcomes.indices.map { try TaskID("task-\($0)") }
        return TrialResults(
            try ExamResults(
                planned: tasks,
                outcomes: Dictionary(uniqueKeysWithValues: zip(tasks, outcomes))
            )
        )
    }

    @Test("a rollout that a signal or the kernel for want of memory ended has the exam run again")
    func killed() throws {
        let one = try results(.failed(.signalled), .graded(.one), .failed(.exited))
        #expect(
            OutsideHarm.broken(one, of: .baseline)
                == "a signal ended 1 rollouts of the baseline exam"
        )
        let other = try results(.failed(.outOfMemory), .failed(.outOfMemory), .graded(.zero))
        #expect(
            OutsideHarm.broken(other, of: .floor)
                == "the kernel's out-of-memory killer ended 2 rollouts of the floor exam"
        )
        let both = try results(.failed(.outOfMemory), .failed(.signalled))
        #expect(OutsideHarm.broken(both, of: .floor)?.contains("ended 1, the kernel's") == true)
        let void = try results(.voided(.examinerDied), .graded(.one))
        #expect(OutsideHarm.broken(void, of: .floor)?.contains("examiner-died") == true)
    }

    @Test("what a candidate does by itself has no exam run again")
    func own() throws {
        for fault in CandidateFault.allCases where ![.signalled, .outOfMemory].contains(fault) {
            #expect(OutsideHarm.broken(try results(.failed(fault)), of: .baseline) == nil)
        }
        #expect(OutsideHarm.broken(try results(.graded(.zero), .missing), of: .baseline) == nil)
    }

    @Test(
        "rewards that vary are the benchmark's only where nothing outside can have ended a rollout"
    )
    func varying() {
        let ofHost: [CandidateFault] = [.signalled, .outOfMemory, .wallClock, .idle]
        for fault in CandidateFault.allCases {
            #expect(OutsideHarm.isPossible(.failed(fault)) == ofHost.contains(fault))
        }
        #expect(!OutsideHarm.isPossible(.graded(.one)) && !OutsideHarm.isPossible(.missing))
    }
}
