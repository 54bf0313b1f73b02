public import ExamResults

/// One exam to be run.
public struct ExamOrder: Sendable, Equatable {
    /// The split that the tasks belong to.
    public let split: Split
    /// The tasks, each once, at least one.
    public let tasks: [TaskID]
    /// The candidate's files, below its home directory.
    public let candidate: [ExamFile]
    /// The most candidate sandboxes at one time; at least 1.
    public let maximumConcurrency: Int
    /// Decides the order of the tasks and what the examiner seeds its own randomness with.
    public let seed: UInt64

    /// Orders an exam.
    ///
    /// - Parameters:
    ///   - split: the split that the tasks belong to.
    ///   - tasks: the tasks, each once, at least one.
    ///   - candidate: the candidate's files, `agent/agent.py` among them.
    ///   - maximumConcurrency: the most candidate sandboxes at one time; 1 where it is less.
    ///   - seed: two exams with one seed run their tasks in one order.
    public init(
        split: Split,
        tasks: [TaskID],
        candidate: [ExamFile],
        maximumConcurrency: Int,
        seed: UInt64
    ) {
        self.split = split
        self.tasks = tasks
        self.candidate = candidate
        self.maximumConcurrency = max(1, maximumConcurrency)
        self.seed = seed
    }

    /// Whether nothing but outcomes may be kept.
    public var isSealed: Bool { split == .test }

    /// The tasks in the order in which they are begun.
    ///
    /// Drawn from the seed, so that a candidate cannot tell from its place which task it got.
    package var shuffled: [TaskID] {
        var generator = SeedStream(seed: seed)
        return tasks.sorted().shuffled(using: &generator)
    }

    /// What the examiner may seed one task's randomness with: the same in every exam of this seed.
    package func seed(for task: TaskID) -> Int64 {
        // FNV-1a of the name, so that neighbours in the alphabet get unrelated numbers.
        let name = task.text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        var generator = SeedStream(seed: seed ^ name)
        return Int64(bitPattern: generator.next() >> 1)
    }
}

/// The sequence of SplitMix64 (Steele, Lea and Flood, 2014): reproducible, never for secrets.
struct SeedStream: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
