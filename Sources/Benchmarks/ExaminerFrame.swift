public import ExamResults
public import StrictJSON

/// What an examiner says of a session before its first turn.
public struct SessionStart: Sendable, Equatable {
    /// The kind of conversation, a word the benchmark chose.
    public let kind: String
    /// The text that the agent must follow.
    public let policy: String
    /// The tools, as function schemas.
    public let tools: [JSONValue]
    /// What the session may use.
    public let limits: SessionLimits
    /// What was said before the session.
    public let history: [Message]

    init(taking reader: inout FrameReader) throws(FrameError) {
        kind = try reader.word("kind", maximumBytes: 64)
        policy = try reader.text("policy", maximumBytes: FrameEncoder.maximumBytes)
        tools = try reader.list("tools", count: 0...256)
        guard tools.allSatisfy({ $0.objectValue != nil }) else {
            throw reader.bad("tools", "a list of objects")
        }
        var inner = try reader.object("limits")
        limits = SessionLimits(
            turns: try inner.integer("turns", in: 1...1_000),
            seconds: try inner.number("seconds", in: 0.001...86_400)
        )
        try inner.finish()
        history = try Message.list(
            &reader,
            "history",
            count: 0...1_000,
            roles: [.user, .assistant, .tool]
        )
    }

    private init(_ start: SessionStart, limits: SessionLimits) {
        kind = start.kind
        policy = start.policy
        tools = start.tools
        history = start.history
        self.limits = limits
    }

    /// The same start under limits that are no wider than `most`.
    func limited(to most: SessionLimits) -> SessionStart {
        SessionStart(
            self,
            limits: SessionLimits(
                turns: min(limits.turns, most.turns),
                seconds: min(limits.seconds, most.seconds)
            )
        )
    }

    var json: JSONValue {
        [
            "kind": .string(kind), "policy": .string(policy), "tools": .array(tools),
            "limits": [
                "turns": JSONValue(limits.turns), "seconds": .number(limits.seconds),
            ],
            "history": .array(history.map(\.json)),
        ]
    }
}

/// What one session may use.
public struct SessionLimits: Sendable, Equatable {
    /// The most turns.
    public let turns: Int
    /// The longest wall-clock time, in seconds.
    public let seconds: Double

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - turns: the most turns, at least 1.
    ///   - seconds: the longest wall-clock time, above 0.
    public init(turns: Int, seconds: Double) {
        self.turns = turns
        self.seconds = seconds
    }
}

/// A frame that an examiner may send on its conversation channel, with exactly its members.
public enum ExaminerFrame: Sendable, Equatable {
    /// The first frame of the stream.
    case hello(benchmark: String, version: Int)
    /// Answers `begin`.
    case start(SessionID, SessionStart)
    /// Gives the candidate a turn.
    case turn(SessionID, [Message])
    /// Answers a call inside a turn.
    case toolResult(SessionID, id: String, content: String, isError: Bool)
    /// The conversation is over; the verdict follows on its own channel.
    case stop(SessionID)

    /// The session that the frame belongs to; nothing for `hello`.
    public var session: SessionID? {
        switch self {
        case .hello: nil
        case .start(let session, _), .turn(let session, _), .toolResult(let session, _, _, _),
            .stop(let session):
            session
        }
    }

    /// Reads an examiner's frame.
    ///
    /// - Parameter value: the frame's payload.
    /// - Throws: ``FrameError`` for an unknown type, a missing or unknown member, or a value
    ///   outside its rule.
    public init(_ value: JSONValue) throws(FrameError) {
        var reader = try FrameReader(value, location: "examiner")
        switch try reader.text("type", maximumBytes: 32) {
        case "hello":
            self = .hello(
                benchmark: try reader.word("benchmark", maximumBytes: 64),
                version: try reader.integer("version", in: 1...1_000_000)
            )
        case "start":
            self = .start(try reader.session(), try SessionStart(taking: &reader))
        case "turn":
            let session = try reader.session()
            self = .turn(
                session,
                try Message.list(&reader, "messages", count: 1...256, roles: [.user, .tool])
            )
        case "tool_result":
            self = .toolResult(
                try reader.session(),
                id: try reader.word("id", maximumBytes: 64),
                content: try reader.text("content", maximumBytes: FrameEncoder.maximumBytes),
                isError: try reader.flag("error")
            )
        case "stop": self = .stop(try reader.session())
        default: throw .unknownType
        }
        try reader.finish()
    }
}

/// A frame that the supervisor sends to an examiner.
public enum ExaminerMessage: Sendable, Equatable {
    /// Begins a session over a task.
    case begin(SessionID, task: TaskID, seed: Int64)
    /// Passes the candidate's answer on.
    case reply(SessionID, CandidateFrame.Reply)
    /// Passes a call inside a turn on.
    case tool(SessionID, ToolCall)
    /// The candidate calls the conversation finished.
    case done(SessionID)
    /// The candidate is gone; the session gets no verdict.
    case gone(SessionID, GoneReason)
    /// The exam is over; the examiner ends.
    case finish

    /// Why a candidate is gone; an examiner learns no more than this.
    public enum GoneReason: String, Sendable {
        /// The candidate failed.
        case fault
        /// The candidate declined the task.
        case abstain
    }

    /// The frame as a JSON object.
    public var json: JSONValue {
        switch self {
        case .begin(let session, let task, let seed):
            [
                "type": "begin", "session": .string(session.hex), "task": .string(task.text),
                "seed": .integer(seed),
            ]
        case .reply(let session, .text(let text)):
            ["type": "reply", "session": .string(session.hex), "text": .string(text)]
        case .reply(let session, .toolCalls(let calls)):
            [
                "type": "reply", "session": .string(session.hex),
                "tool_calls": .array(calls.map(\.json)),
            ]
        case .tool(let session, let call):
            call.json.adding(["type": "tool", "session": .string(session.hex)])
        case .done(let session):
            ["type": "done", "session": .string(session.hex)]
        case .gone(let session, let reason):
            [
                "type": "gone", "session": .string(session.hex), "reason": .string(reason.rawValue),
            ]
        case .finish: ["type": "finish"]
        }
    }
}

/// An examiner's frame with the bytes that it took on the channel, its prefix included.
public struct SizedFrame: Sendable, Equatable {
    /// The frame.
    public let frame: ExaminerFrame
    /// Its bytes.
    public let bytes: Int
}

/// The examiner's conversation channel: `hello` first and once, then frames of sessions.
public struct ExaminerStream: Sendable {
    private let benchmark: String
    private let version: Int
    private var decoder: FrameDecoder
    private var isGreeted = false

    /// Begins the stream.
    ///
    /// - Parameters:
    ///   - benchmark: the benchmark that must answer.
    ///   - version: its version.
    ///   - limits: what the examiner may cost.
    public init(benchmark: String, version: Int, limits: FrameLimits) {
        self.benchmark = benchmark
        self.version = version
        decoder = FrameDecoder(limits: limits)
    }

    /// Whether the examiner has said `hello`.
    public var isReady: Bool { isGreeted }

    /// Takes bytes and returns the session frames they complete.
    ///
    /// - Parameter bytes: the bytes, in pieces of any size.
    /// - Returns: frames other than `hello` with the bytes that each took, in order.
    /// - Throws: ``FrameError``; the exam is then void.
    public mutating func receive(_ bytes: [UInt8]) throws(FrameError) -> [SizedFrame] {
        try decoder.append(bytes)
        var frames: [SizedFrame] = []
        while let value = try decoder.next() {
            let frame = try ExaminerFrame(value)
            if case .hello(let name, let number) = frame {
                try greet(name, number)
            } else if isGreeted {
                frames.append(SizedFrame(frame: frame, bytes: decoder.lastFrameBytes))
            } else {
                throw .badMember(location: "examiner.type", rule: "hello in the first frame")
            }
        }
        return frames
    }

    private mutating func greet(_ name: String, _ number: Int) throws(FrameError) {
        guard !isGreeted else {
            throw .badMember(location: "examiner.type", rule: "hello in the first frame only")
        }
        guard name.utf8.elementsEqual(benchmark.utf8), number == version else {
            throw .badMember(
                location: "examiner.hello",
                rule: "benchmark \(benchmark) version \(version)"
            )
        }
        isGreeted = true
    }
}
