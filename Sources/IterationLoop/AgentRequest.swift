public import ExamResults
public import StrictJSON
public import Workspace

/// What a coding agent may ask for: the whole table, with the limits of each entry.
public enum AgentRequest: Sendable, Equatable {
    /// A train exam of the file as it stands; over these tasks, or over all.
    case train(tasks: [TaskID]?)
    /// Judge the file as it stands; policy says whether that needs a manifest.
    case submit(Manifest?)
    /// Wait for the result of a submission; without a ticket, of the latest one.
    case result(ticket: String?)
    /// Keep a note.
    case learn(LearningNote)
    /// Say where the campaign stands.
    case status
    /// Put the best candidate back.
    case revert
    /// Show the difference from the best candidate.
    case diff

    /// What the coding agent expects of a submission.
    public struct Manifest: Sendable, Equatable {
        /// What it believes and why.
        public let hypothesis: String
        /// The cluster of failures that it aims at, if it names one.
        public let targetCluster: String?
        /// The train tasks that it expects to be fixed.
        public let expectedFixes: [TaskID]
        /// The train tasks that may break.
        public let tasksAtRisk: [TaskID]

        /// The manifest as a member of an intent row.
        public var body: JSONValue {
            var writer = BodyWriter()
            writer.add("hypothesis", hypothesis)
            writer.add(optional: "target_cluster", targetCluster)
            writer.add("expected_fixes", expectedFixes)
            writer.add("tasks_at_risk", tasksAtRisk)
            return writer.body
        }

        /// Makes a manifest.
        ///
        /// - Parameters:
        ///   - hypothesis: what the coding agent believes and why.
        ///   - targetCluster: the cluster of failures that it aims at, if it names one.
        ///   - expectedFixes: the train tasks that it expects to be fixed.
        ///   - tasksAtRisk: the train tasks that may break.
        public init(
            hypothesis: String,
            targetCluster: String? = nil,
            expectedFixes: [TaskID] = [],
            tasksAtRisk: [TaskID] = []
        ) {
            self.hypothesis = hypothesis
            self.targetCluster = targetCluster
            self.expectedFixes = expectedFixes
            self.tasksAtRisk = tasksAtRisk
        }
    }

    /// The largest manifest, in bytes of its canonical form.
    public static let manifestLimit = 16 * 1024
    /// The largest note, in bytes of all its parts.
    public static let learningLimit = 4 * 1024
    /// The most bytes of all notes together.
    public static let allLearningsLimit = 64 * 1024
    /// The most notes: each costs a row, however short it is.
    public static let mostLearnings = 1_000

    /// The request's word.
    public var verb: String {
        switch self {
        case .train: "train"
        case .submit: "submit"
        case .result: "result"
        case .learn: "learn"
        case .status: "status"
        case .revert: "revert"
        case .diff: "diff"
        }
    }
}

/// Why a request was not carried out, for its sender and for the record.
public struct RequestRefusal: Error, Sendable, Equatable {
    /// What stopped it.
    public let layer: Layer
    /// A stable word.
    public let code: String
    /// What was tried, in a few words.
    public let attempt: String
    /// Why it was refused.
    public let reason: String
    /// What the sender can do.
    public let remedy: String

    /// What stops a request.
    public enum Layer: String, Sendable, CaseIterable {
        /// The table of requests with its phases, counts and sizes.
        case requestTable = "request-table"
        /// The vault: sealed tasks are known to it alone.
        case vault
        /// The copying of the candidate out of the sandbox.
        case snapshot
        /// The rule that nobody but the supervisor writes scores.
        case ledgerWriters = "ledger-only-supervisor-writes"
        /// The host failed; nobody's attempt.
        case host
    }

    /// What it says of the sender: only a wall of the record, of the vault or of the copying is met on purpose.
    public var kind: RefusalKind {
        switch layer {
        case .ledgerWriters, .vault: .attempt
        case .snapshot: Self.innocentCodes.contains(code) ? .denied : .attempt
        case .requestTable, .host: .denied
        }
    }

    /// What an editor leaves now and then; links, devices and files that change while they are read it does not.
    private static let innocentCodes: Set<String> = [
        "missing", "empty", "too-large", "not-utf8", "zero-byte", "unreadable", "too-many",
        "not-replaceable",
    ]

    /// The reply to the sender.
    public var reply: JSONValue {
        [
            "ok": false,
            "error": [
                "code": .string(code), "operation": .string(attempt), "reason": .string(reason),
                "remedy": .string(remedy),
            ],
        ]
    }
}
