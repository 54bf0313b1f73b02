public import StrictJSON

/// A frame that a candidate may send, with exactly its members.
public enum CandidateFrame: Sendable, Equatable {
    /// The agent is built and waits for its first turn.
    case ready
    /// The answer to a turn.
    case reply(Reply)
    /// A call inside a turn; the turn goes on when its result has come.
    case tool(ToolCall)
    /// The conversation is finished from the agent's side.
    case done
    /// The agent declines the task.
    case abstain
    /// A line for the train trace; it reaches neither examiner nor verdict.
    case log(String)

    /// The answer to a turn: text or calls, never both.
    public enum Reply: Sendable, Equatable {
        /// What the agent says.
        case text(String)
        /// What the agent does.
        case toolCalls([ToolCall])
    }

    /// The most bytes of one reply's text.
    public static let maximumTextBytes = 1 << 18
    /// The most bytes of one log line.
    public static let maximumLogBytes = 1 << 16

    /// Reads a candidate's frame.
    ///
    /// - Parameter value: the frame's payload.
    /// - Throws: ``FrameError`` for an unknown type, a missing or unknown member, or a value
    ///   outside its rule.
    public init(_ value: JSONValue) throws(FrameError) {
        var reader = try FrameReader(value, location: "frame")
        switch try reader.text("type", maximumBytes: 32) {
        case "ready": self = .ready
        case "reply": self = .reply(try Self.reply(&reader))
        case "tool": self = .tool(try ToolCall(taking: &reader))
        case "done": self = .done
        case "abstain": self = .abstain
        case "log": self = .log(try reader.text("text", maximumBytes: Self.maximumLogBytes))
        default: throw .unknownType
        }
        try reader.finish()
    }

    private static func reply(_ reader: inout FrameReader) throws(FrameError) -> Reply {
        // A reply with both members fails in `finish`, because only one of them is taken.
        if reader.isPresent("tool_calls") { return .toolCalls(try ToolCall.list(&reader)) }
        return .text(try reader.text("text", maximumBytes: maximumTextBytes))
    }
}

/// A frame that the supervisor sends to a candidate.
public enum CandidateMessage: Sendable, Equatable {
    /// Begins the session.
    case begin(session: SessionID, SessionStart)
    /// Gives the candidate its turn.
    case turn([Message])
    /// Answers a call inside a turn.
    case toolResult(id: String, content: String, isError: Bool)
    /// Ends the session.
    case stop

    /// The frame as a JSON object.
    public var json: JSONValue {
        switch self {
        case .begin(let session, let start):
            start.json.adding(["type": "init", "session": .string(session.hex)])
        case .turn(let messages):
            ["type": "turn", "messages": .array(messages.map(\.json))]
        case .toolResult(let id, let content, let isError):
            [
                "type": "tool_result", "id": .string(id), "content": .string(content),
                "error": .bool(isError),
            ]
        case .stop: ["type": "stop"]
        }
    }
}

extension JSONValue {
    /// An object with more members; the added ones win.
    func adding(_ more: [String: JSONValue]) -> JSONValue {
        .object((objectValue ?? [:]).merging(more) { _, added in added })
    }
}
