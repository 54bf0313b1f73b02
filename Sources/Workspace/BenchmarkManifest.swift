public import ModelDialects

/// What a `benchmark.yaml` says: a benchmark that is a directory of programs, tasks and texts.
///
/// Every path is beneath that directory. The examiner's files and the candidate's are two lists,
/// because they go into two sandboxes; a file of the examiner must not be in the candidate's list.
public struct BenchmarkManifest: Sendable, Equatable {
    /// The benchmark's name: lower-case letters, digits and `-`.
    public let benchmark: String
    /// The version of the tasks and programs, from 1; a result is comparable within one version.
    public let version: Int
    /// One line for people.
    public let title: String
    /// The program that holds tasks and gives verdicts.
    public let examiner: Program
    /// Where the tasks come from, gold answers included; they go into the vault, split in two.
    public let tasks: TaskSource
    /// Python packages for the examiner, shown to it under `/environment`, if it needs any.
    public let packages: Packages?
    /// Keys of the experiment's configuration that choose a variant, with their values, the default
    /// first; `${key}` stands for the value in ``tasks``.
    public let variants: [String: [String]]
    /// The program that imports the candidate and speaks the frames for it.
    public let candidate: Program
    /// Python packages that no candidate may have, because they bring tasks or answers along.
    public let refusedPackages: [String]
    /// The template that `init` copies to `agent/agent.py`.
    public let agent: BeneathPath
    /// The benchmark's part of PROGRAM.md.
    public let program: BeneathPath
    /// What one rollout may use.
    public let limits: Limits
    /// Whether the same candidate gets the same reward for the same task and seed.
    public let isDeterministic: Bool
    /// Trivial agents by name, whose scores say what a score is worth.
    public let floors: [String: BeneathPath]
    /// An agent that knows the answers, for the benchmark's own tests only.
    public let oracle: BeneathPath?
    /// The shim whose files are added on both sides, by its name, if one is.
    public let shim: String?
    /// The models without which the examiner cannot examine.
    public let models: [ModelRole]
    /// Tasks that watch for cheats.
    public let watchful: WatchfulTasks

    /// A command with the files that it is made of.
    public struct Program: Sendable, Equatable {
        /// The program and its arguments; the first word is an absolute path in the sandbox.
        public let command: [String]
        /// The files to copy into the sandbox, sorted, each once.
        public let files: [BeneathPath]
    }

    /// Where tasks come from.
    public enum TaskSource: Sendable, Equatable {
        /// A file of the benchmark's directory.
        case file(BeneathPath)
        /// A list of JSON objects with `id` among the examiner's packages, and the file that says which
        /// ids are `train` and `test`; both may name variants.
        case packaged(list: String, splits: String?)
    }

    /// Packages of the Python Package Index for the examiner.
    public struct Packages: Sendable, Equatable {
        /// The second number of the oldest Python that they run on; the first is 3.
        public let oldestPython: Int
        /// The list of exact versions with the SHA-256 of each file, as `uv pip compile
        /// --generate-hashes` writes it.
        public let requirements: BeneathPath
        /// Files and directories that the examiner does not get to see: where packages bring tasks
        /// along, those of the other split among them.
        public let hidden: [BeneathPath]
    }

    /// What one rollout may use.
    public struct Limits: Sendable, Equatable {
        /// The most turns; 1 to 1,000.
        public let turns: Int
        /// The longest wall-clock time in seconds; 1 to 86,400.
        public let seconds: Int
    }

    /// Every file that the manifest names, sorted, each once.
    public var allFiles: [BeneathPath] {
        var files = Set(examiner.files + candidate.files + [agent, program])
        if case .file(let path) = tasks { files.insert(path) }
        if let packages { files.insert(packages.requirements) }
        files.formUnion(floors.values)
        if let oracle { files.insert(oracle) }
        return files.sorted()
    }
}
