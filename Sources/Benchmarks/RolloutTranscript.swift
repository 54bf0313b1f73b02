public import StrictJSON

/// One entry of a train trace.
public struct TranscriptEntry: Sendable, Equatable {
    /// Its place, from 0.
    public let index: Int
    /// When the supervisor saw it, in milliseconds since 1970.
    public let time: Int64
    /// `user`, `assistant`, `tool`, `log`, or `note` for the supervisor's own remark.
    public let role: String
    /// What was said, cleaned.
    public let content: String
    /// What was called.
    public internal(set) var toolCalls: [ToolCall] = []
    /// The call that a tool's entry answers.
    public internal(set) var id: String?
    /// The tool's name, where it is known.
    public internal(set) var name: String?
    /// Whether a tool's answer is an error; nothing for other roles.
    public internal(set) var isError: Bool?

    init(index: Int, time: Int64, role: String, content: String) {
        self.index = index
        self.time = time
        self.role = role
        self.content = content
    }

    /// The entry as a JSON object, in the form of `trace.json`.
    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "index": JSONValue(index), "time": .integer(time), "role": .string(role),
            "content": .string(content),
        ]
        if !toolCalls.isEmpty { members["tool_calls"] = .array(toolCalls.map(\.json)) }
        if let id { members["id"] = .string(id) }
        if let name { members["name"] = .string(name) }
        if let isError { members["error"] = .bool(isError) }
        return .object(members)
    }
}

/// What was said in one rollout, recorded by the relay; nothing at all in a sealed exam.
struct RolloutTranscript: Sendable {
    /// The most bytes of one text in an entry.
    private static let entryBytes = 1 << 16
    /// The most bytes of all entries; a larger trace is one that no coding agent reads to its end.
    private static let mostBytes = 4 << 20
    /// The most bytes of all traces of one exam.
    ///
    /// Two such sets, the reasons of verdicts and the other
    /// files lie in the coding sandbox's view of 256 MiB.
    static let examBytes = 48 << 20

    let records: Bool
    private let totalBytes: Int
    private var bytes = 0
    private var isFull = false
    private(set) var entries: [TranscriptEntry] = []
    private(set) var hasReply = false

    /// Begins a transcript.
    ///
    /// - Parameters:
    ///   - records: whether anything is kept.
    ///   - rollouts: among how many the room of an exam is shared.
    init(records: Bool, sharing rollouts: Int = 1) {
        self.records = records
        totalBytes = min(Self.mostBytes, Self.examBytes / max(rollouts, 1))
    }

    mutating func add(_ message: Message, time: Int64) {
        let isTool = message.role == .tool
        append(time, message.role.rawValue, message.content) { entry in
            entry.id = message.id
            entry.name = message.name
            entry.isError = isTool ? message.isError : nil
        }
    }

    mutating func add(toolResult content: String, id: String, isError: Bool, time: Int64) {
        append(time, "tool", content) { entry in
            entry.id = id
            entry.isError = isError
        }
    }

    mutating func add(_ reply: CandidateFrame.Reply, time: Int64) {
        hasReply = true
        switch reply {
        case .text(let text): append(time, "assistant", text)
        case .toolCalls(let calls):
            append(time, "assistant", "") { entry in
                entry.toolCalls = calls.map(Self.cleaned)
            }
        }
    }

    mutating func add(log text: String, time: Int64) {
        append(time, "log", text)
    }

    mutating func add(note text: String, time: Int64) {
        append(time, "note", text)
    }

    private mutating func append(
        _ time: Int64,
        _ role: String,
        _ content: String,
        completing complete: (inout TranscriptEntry) -> Void = { _ in }
    ) {
        guard records, !isFull else { return }
        let text = VisibleText.cleaned(content, maximumBytes: Self.entryBytes)
        var entry = TranscriptEntry(index: entries.count, time: time, role: role, content: text)
        complete(&entry)
        // As the file has it: there, many small values take several times their own bytes.
        bytes += JSONValue.array([entry.json]).prettyText().utf8.count
        if bytes > totalBytes {
            isFull = true
            entry = TranscriptEntry(
                index: entries.count,
                time: time,
                role: "note",
                content: "the trace is cut here: it is full"
            )
        }
        entries.append(entry)
    }

    private static func cleaned(_ call: ToolCall) -> ToolCall {
        let arguments = VisibleText.cleaned(.object(call.arguments), maximumBytes: entryBytes)
        return ToolCall(id: call.id, name: call.name, arguments: arguments.objectValue ?? [:])
    }
}
