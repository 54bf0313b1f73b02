public import ExamResults

/// One exam to be run.
public struct ExamOrder: Sendable, Equatable {
    /// The split that the tasks belong to.
    public let split: Split
    /// The tasks, each once, at least one.
    public let tasks: [TaskID]
    /// The candidate's files, below its home directory.
    public let candidate: [ExamFile]
    /// The incumbent's files, which run every task beside the candidate; empty where none does.
    public let incumbent: [ExamFile]
    /// How often each arm runs every task; at least 1.
    public let trials: Int
    /// The most candidate sandboxes at one time; at least 1.
    public let maximumConcurrency: Int
    /// Decides the order of the tasks, what the examiner seeds its own randomness with, and which
    /// rewards a handicap takes from the incumbent.
    public let seed: UInt64

    /// Orders an exam.
    ///
    /// - Parameters:
    ///   - split: the split that the tasks belong to.
    ///   - tasks: the tasks, each once, at least one.
    ///   - candidate: the candidate's files, `agent/agent.py` among them.
    ///   - incumbent: the incumbent's files, where it is to run the same tasks on the same seeds.
    ///   - trials: how often each arm runs every task; 1 where it is less.
    ///   - maximumConcurrency: the most candidate sandboxes at one time; 1 where it is less.
    ///   - seed: two exams with one seed run their tasks in one order.
    public init(
        split: Split,
        tasks: [TaskID],
        candidate: [ExamFile],
        incumbent: [ExamFile] = [],
        trials: Int = 1,
        maximumConcurrency: Int,
        seed: UInt64
    ) {
        self.split = split
        self.tasks = tasks
        self.candidate = candidate
        self.incumbent = incumbent
        self.trials = max(1, trials)
        self.maximumConcurrency = max(1, maximumConcurrency)
        self.seed = seed
    }

    /// Whether nothing but outcomes may be kept.
    public var isSealed: Bool { split == .test }

    /// How many rollouts the exam has.
    public var rolloutCount: Int { tasks.count * trials * (incumbent.isEmpty ? 1 : 2) }

    /// The rollouts in the order in which they are begun.
    ///
    /// Drawn from the seed, so that a candidate cannot tell from its place which task it got. The
    /// arms take turns, a handful of tasks each, which of them first by lot: what changes on the
    /// host in the course of an exam meets both alike.
    package var seats: [Seat] {
        var generator = SeedStream(seed: seed)
        var seats: [Seat] = []
        for trial in 0..<trials {
            let order = tasks.sorted().shuffled(using: &generator)
            for start in stride(from: 0, to: order.count, by: maximumConcurrency) {
                let some = order[start..<min(start + maximumConcurrency, order.count)]
                for arm in arms(&generator) {
                    seats += some.map { Seat(task: $0, trial: trial, arm: arm) }
                }
            }
        }
        return seats
    }

    private func arms(_ generator: inout SeedStream) -> [ExamArm] {
        guard !incumbent.isEmpty else { return [.candidate] }
        return Bool.random(using: &generator)
            ? [.candidate, .incumbent] : [.incumbent, .candidate]
    }

    /// What the examiner may seed one rollout's randomness with: the same for one task and trial
    /// in both arms, and in every exam of this seed.
    package func seed(for seat: Seat) -> Int64 {
        // FNV-1a of the name, so that neighbours in the alphabet get unrelated numbers.
        let name = seat.task.text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        var generator = SeedStream(seed: seed ^ name)
        for _ in 0..<seat.trial { _ = generator.next() }
        return Int64(bitPattern: generator.next() >> 1)
    }
}

/// Whose rollout it is.
package enum ExamArm: Sendable {
    /// The judged candidate's.
    case candidate
    /// The incumbent's, beside it.
    case incumbent
}

/// One rollout of an exam: a task, which time it is run, and whose agent runs it.
package struct Seat: Sendable, Equatable {
    /// The task.
    package let task: TaskID
    /// The trial, from 0.
    package let trial: Int
    /// Whose agent.
    package let arm: ExamArm

    /// Makes a seat.
    package init(task: TaskID, trial: Int = 0, arm: ExamArm = .candidate) {
        self.task = task
        self.trial = trial
        self.arm = arm
    }
}
