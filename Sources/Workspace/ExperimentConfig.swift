public import StrictJSON

/// What `experiment_config.yaml` says, with every default resolved.
///
/// Every key that auto-harness knows is accepted; keys of an adapter (tau-bench's `domain`,
/// BIRD's ports) are kept in ``adapter`` for it. The file decides nothing about the boundary that
/// its later, lenient readers could undo: it is read once, and its ``digest`` goes into the first
/// record of the ledger.
public struct ExperimentConfig: Sendable, Equatable {
    /// The name of the benchmark.
    public let benchmark: String
    /// The model that the candidate may call, if any.
    public let agentModel: String?
    /// How hard that model is asked to think, if it is asked at all.
    public let reasoningEffort: ReasoningEffort?
    /// The most rollouts that run at the same time; 1 to 256.
    public let maximumConcurrency: Int
    /// The wall-clock limit of one rollout where the benchmark's own is to be replaced.
    public let perTaskTimeout: Duration?
    /// Keys that one adapter understands, by their name in the file.
    public let adapter: [String: JSONValue]
    /// The rules of the gate.
    public let gate: GateSettings
    /// What the coding agent's side learns of a score, and when.
    public let release: ReleaseSettings
    /// When the loop ends by itself.
    public let budget: BudgetSettings
    /// Where sandboxes take their parts from.
    public let sandbox: SandboxSettings
    /// Whom a sealed exam freezes.
    public let isolation: Isolation
    /// The program that edits the candidate.
    public let codingAgent: CodingAgentSettings
    /// What a candidate finds beside the benchmark's own files.
    public let candidate: CandidateSettings
    /// What is done with the record beside keeping it.
    public let ledger: LedgerSettings
    /// The models that sandboxes may call, and how they are reached.
    public let models: ModelSettings
    /// What is done about a submission without a manifest.
    public let manifest: ManifestSettings
    /// How candidates are audited.
    public let audit: AuditSettings
    /// What tripwires lead to.
    public let tripwires: TripwireSettings
    /// How train tasks enter the regression suite and are protected there.
    public let promotion: PromotionSettings
    /// Whom the operator wants told of what happens; nothing for nobody.
    public let notify: NotifySettings?
    /// Which old files are removed.
    public let retention: RetentionSettings

    /// How hard a model is asked to think.
    public enum ReasoningEffort: String, Sendable, CaseIterable {
        /// The provider's words, weakest first.
        case none, minimal, low, medium, high, xhigh, max
    }
}

/// Whose coding agents are frozen while a sealed exam runs.
public enum Isolation: String, Sendable, CaseIterable {
    /// Those of every experiment on the host.
    case host
    /// That of the exam's own experiment: what the exam's programs can tell another one that runs beside
    /// them is not bounded.
    case experiment
}

/// The rules of the gate.
public struct GateSettings: Sendable, Equatable {
    /// The pass rate that the regression suite must reach; 0 to 1.
    public var threshold: Double
    /// When the sealed exam is run.
    public let step2: Step2
    /// What the sealed exam must show; nothing where the benchmark decides: `ratchet` where its
    /// rewards do not vary, `paired` where they may.
    public var rule: Rule?
    /// How often a sealed exam runs every task, 1 to 100; nothing where the rule decides.
    public var trials: Int?
    /// The chance of any false acceptance in the campaign; above 0, at most 0.5.
    public var error: Double?
    /// Over how many tests that chance is spread, and how many are made at the most.
    public var tests: Int?
    /// The share of the incumbent's rate that a candidate may fall short of under `non-inferior`.
    public var margin: Double?
    /// Whether the ratchet accepts a sealed mean that equals the best one above 0; `nil` where it is not said,
    /// which accepts.
    public var ties: Ties?
    /// The share of the sealed tasks that no exam of the gate touches, 0 to 0.9.
    public var final: Double?

    package init(threshold: Double, step2: Step2) {
        self.threshold = threshold
        self.step2 = step2
    }

    /// Whether a sealed mean that equals the best one is enough.
    public enum Ties: String, Sendable, CaseIterable {
        /// It is, above 0.
        case accept
        /// The candidate must be better.
        case refuse
    }

    /// What the sealed exam must show.
    public enum Rule: String, Sendable, CaseIterable {
        /// A mean that is at least the best one.
        case ratchet
        /// A paired test that the candidate is better.
        case paired
        /// A paired test that the candidate's rate is above (1 - margin) times the incumbent's.
        case nonInferior = "non-inferior"
    }

    /// When the sealed exam is run.
    public enum Step2: String, Sendable, CaseIterable {
        /// Only where the suite passed: a failed suite spends no sealed query.
        case afterStep1 = "after-step-1"
        /// Always, as auto-harness documents it.
        case always
    }
}

/// What the coding agent's side learns of a score, and when.
public struct ReleaseSettings: Sendable, Equatable {
    /// What is told on acceptance.
    public let score: Score
    /// The step that a released score is rounded to; 0.01 to 0.5.
    public let bucket: Double
    /// The bits that all releases together may tell about sealed tasks; nothing without a limit.
    public let bits: Double?
    /// The bits that the host's counters of objects may tell of one sealed exam; 0.01 to 10.
    public let counterBits: Double
    /// The grid of times at which answers are given; its slot should be longer than an exam.
    public let grid: Duration

    /// What is told on acceptance.
    public enum Score: String, Sendable, CaseIterable {
        /// Accepted or rejected, nothing else.
        case verdict
        /// The verdict and, on acceptance, the score rounded to a bucket.
        case bucket
        /// The verdict and, on acceptance, the score rounded to a bucket where it is at least a
        /// bucket above the last one that was told; otherwise that one again.
        case ladder
        /// The verdict and, on acceptance, the score with four decimals, as auto-harness tells it.
        case score
    }
}

/// When the loop ends by itself.
public struct BudgetSettings: Sendable, Equatable {
    /// The most judged candidates.
    public let iterations: Int
    /// The most hours of running, pauses not counted.
    public let hours: Double
    /// The most train exams that the coding agent may ask for.
    public let trainRuns: Int
    /// The number of judged candidates in a row without a higher score that ends the loop.
    public let noImprovement: Int
    /// The most submissions, void ones counted.
    public let submissions: Int
}

/// Where sandboxes take their parts from.
public struct SandboxSettings: Sendable, Equatable {
    /// A directory of policies in place of the shipped ones.
    public let policies: String?
    /// The Python whose files the candidate's root is made of, in place of the one that is found.
    public let python: String?
    /// The cache of coding agents, in place of ``shippedAgents``.
    public let agents: String?

    /// Where scripts/agents puts coding agents unless it is told otherwise.
    public static let shippedAgents = "/var/cache/invigilator/agents"
}

/// What a candidate finds beside the benchmark's own files.
public struct CandidateSettings: Sendable, Equatable {
    /// The list of Python packages, beneath the experiment's directory, if it has one; see
    /// ``PackageList``.
    public let packages: BeneathPath?
}

/// The program that edits the candidate.
public struct CodingAgentSettings: Sendable, Equatable {
    /// What is started.
    public let program: Program
    /// The longest that one session may last.
    public let wall: Duration
    /// The longest that it may be silent, in place of what its profile says.
    public let idle: Duration?
    /// How often it is started again when it ends, in place of what its profile says.
    public let restarts: Int?

    /// What is started in the coding sandbox.
    public enum Program: Sendable, Equatable {
        /// A profile by its name, or by the absolute path of its directory.
        case profile(String)
        /// A command, its first word an absolute path inside the sandbox.
        case command([String])
    }
}
