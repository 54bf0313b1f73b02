public import ExamResults
public import LauncherClient
public import LinuxKernel
public import SandboxPlan

/// What every exam of one experiment needs.
public struct ExamSite {
    /// The launcher, on whose loop exams run.
    public let launcher: LauncherClient
    /// Fills an empty directory with the system image; called once for each tree.
    public let fillImage: (borrowing Descriptor) throws(SystemError) -> Void
    /// The examiner's packages, if it has any.
    public var examinerPackages: AddedFiles?
    /// The candidate's packages, if it has any: the same in every exam, whatever its split.
    public var candidatePackages: AddedFiles?
    /// The benchmark's name and version, which its examiner must answer with.
    public let benchmark: BenchmarkName
    /// What is shown to candidates under `/candidate`, and how they are started.
    public let candidate: ExamProgram
    /// What is shown to the examiner under `/examiner`, and how it is started.
    public let examiner: ExamProgram
    /// The plan of a candidate's sandbox.
    public let candidatePlan: CompiledPlan
    /// The plan of the examiner's sandbox by split: each mounts another half of the vault.
    public let examinerPlans: [Split: CompiledPlan]
    /// What one rollout may use at most.
    public let limits: SessionLimits
    /// How long each side may be silent.
    public var patience: ExamPatience
    /// Models for both sides; nothing where neither has one.
    public var models: ExamModels?
    /// The size of each tree.
    public var treeSize = ByteCount.mebibytes(256)
    /// The most files and directories of each tree.
    public var treeInodes: UInt32 = 16_384

    /// Puts a site together.
    ///
    /// - Parameters:
    ///   - launcher: the launcher.
    ///   - fillImage: fills an empty directory with the system image.
    ///   - benchmark: the benchmark's name and version.
    ///   - programs: the two sides.
    ///   - candidatePlan: the plan of a candidate's sandbox.
    ///   - examinerPlans: the plan of the examiner's sandbox by split.
    ///   - limits: what one rollout may use at most.
    public init(
        launcher: LauncherClient,
        fillImage: @escaping (borrowing Descriptor) throws(SystemError) -> Void,
        benchmark: BenchmarkName,
        programs: ExamPrograms,
        candidatePlan: CompiledPlan,
        examinerPlans: [Split: CompiledPlan],
        limits: SessionLimits
    ) {
        self.launcher = launcher
        self.fillImage = fillImage
        self.benchmark = benchmark
        candidate = programs.candidate
        examiner = programs.examiner
        self.candidatePlan = candidatePlan
        self.examinerPlans = examinerPlans
        self.limits = limits
        patience = ExamPatience(limits: limits)
    }
}

/// Files that are laid over the system image in a tree.
public struct AddedFiles {
    /// Copies them into a directory that holds the image.
    public let copy: (borrowing Descriptor) throws(SystemError) -> Void
    /// What they need at most: bytes and inodes.
    let room: (size: ByteCount, inodes: UInt32)

    /// Describes files.
    ///
    /// - Parameters:
    ///   - fileCount: how many they are.
    ///   - byteCount: the sum of their sizes.
    ///   - copy: copies them into a directory that holds the image.
    public init(
        fileCount: Int,
        byteCount: Int,
        copy: @escaping (borrowing Descriptor) throws(SystemError) -> Void
    ) {
        self.copy = copy
        // A tmpfs gives whole pages, and every directory of packages holds a file or two at least.
        room = (
            size: ByteCount(bytes: UInt64(byteCount + 4096 * fileCount)),
            inodes: UInt32(clamping: 2 * fileCount)
        )
    }
}

/// A benchmark's name and version.
public struct BenchmarkName: Sendable, Equatable {
    /// The name.
    public let name: String
    /// The version, from 1.
    public let version: Int

    /// Names a benchmark.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - version: its version, from 1.
    public init(name: String, version: Int) {
        self.name = name
        self.version = version
    }
}

/// How long each side of an exam may be silent when it is its turn.
public struct ExamPatience: Sendable, Equatable {
    /// A candidate in its turn; afterwards the rollout fails as idle.
    public var candidate: Nanoseconds
    /// The examiner, when it begins and when it ends; afterwards the exam is void.
    public var examiner = Nanoseconds.milliseconds(30_000)
    /// The examiner, when a session waits for it; afterwards the exam is void.
    public var examinerTurn = Nanoseconds.milliseconds(30_000)
    /// The same where the examiner asks a model in its turn: a model takes minutes to think at times,
    /// and a provider that is asked again after a fault takes as long once more.
    public static let modelTurn = Nanoseconds.milliseconds(600_000)
    /// A candidate that closed its channel, until it ends by itself and says why.
    public var closing = Nanoseconds.milliseconds(500)
    /// A killed sandbox, until every process of it is gone.
    public var removal = Nanoseconds.milliseconds(15_000)

    /// The usual patience: half of a session for a candidate, which may wait for a model, and at
    /// least 10 s, because a busy host starts Python slowly.
    ///
    /// - Parameter limits: what one rollout may use at most.
    public init(limits: SessionLimits) {
        candidate = .milliseconds(UInt64(max(10, min(limits.seconds, 86_400) / 2) * 1000))
    }
}
