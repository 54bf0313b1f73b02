public import StrictJSON

/// One call of a tool.
public struct ToolCall: Sendable, Equatable {
    /// The caller's name for the call, 1 to 64 printable ASCII characters.
    public let id: String
    /// The tool, 1 to 128 printable ASCII characters.
    public let name: String
    /// The arguments by name.
    public let arguments: [String: JSONValue]

    init(id: String, name: String, arguments: [String: JSONValue]) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }

    init(_ value: JSONValue, location: String) throws(FrameError) {
        var reader = try FrameReader(value, location: location)
        try self.init(taking: &reader)
        try reader.finish()
    }

    init(taking reader: inout FrameReader) throws(FrameError) {
        id = try reader.word("id", maximumBytes: 64)
        name = try reader.word("name", maximumBytes: 128)
        arguments = try reader.members("arguments")
    }

    /// The same call under another name.
    func renamed(_ id: String) -> ToolCall {
        ToolCall(id: id, name: name, arguments: arguments)
    }

    /// The call as a JSON object.
    public var json: JSONValue {
        ["id": .string(id), "name": .string(name), "arguments": .object(arguments)]
    }
}

/// One message of a turn or of the history.
public struct Message: Sendable, Equatable {
    /// Who speaks.
    public enum Role: String, Sendable {
        /// The simulated person or environment.
        case user
        /// The candidate, in a history only.
        case assistant
        /// A tool.
        case tool
    }

    /// Who speaks.
    public let role: Role
    /// What is said; empty where an assistant only calls tools.
    public let content: String
    /// The call that a tool's message answers; present for tools only.
    public let id: String?
    /// The tool's name, where it is given.
    public let name: String?
    /// Whether a tool's answer is an error.
    public let isError: Bool
    /// The calls of an assistant's message.
    public let toolCalls: [ToolCall]

    /// A message that answers the call `id`.
    func answering(_ id: String) -> Message {
        Message(
            role: role,
            content: content,
            id: id,
            name: name,
            isError: isError,
            toolCalls: toolCalls
        )
    }

    private init(
        role: Role,
        content: String,
        id: String?,
        name: String?,
        isError: Bool,
        toolCalls: [ToolCall]
    ) {
        self.role = role
        self.content = content
        self.id = id
        self.name = name
        self.isError = isError
        self.toolCalls = toolCalls
    }

    init(_ value: JSONValue, location: String, roles: Set<Role>) throws(FrameError) {
        var reader = try FrameReader(value, location: location)
        guard let role = Role(rawValue: try reader.word("role", maximumBytes: 16)),
            roles.contains(role)
        else { throw reader.bad("role", roles.map(\.rawValue).sorted().joined(separator: " or ")) }
        self.role = role
        content = try reader.text("content", maximumBytes: FrameEncoder.maximumBytes)
        id = role == .tool ? try reader.word("id", maximumBytes: 64) : nil
        name = role == .tool ? try reader.optionalWord("name", maximumBytes: 128) : nil
        isError = role == .tool ? try reader.flag("error") : false
        toolCalls =
            role == .assistant && reader.isPresent("tool_calls")
            ? try ToolCall.list(&reader) : []
        try reader.finish()
    }

    /// The message as a JSON object.
    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "role": .string(role.rawValue), "content": .string(content),
        ]
        if let id { members["id"] = .string(id) }
        if let name { members["name"] = .string(name) }
        if role == .tool { members["error"] = .bool(isError) }
        if !toolCalls.isEmpty { members["tool_calls"] = .array(toolCalls.map(\.json)) }
        return .object(members)
    }

    static func list(
        _ reader: inout FrameReader,
        _ name: String,
        count: ClosedRange<Int>,
        roles: Set<Role>
    ) throws(FrameError) -> [Message] {
        var messages: [Message] = []
        for (index, value) in try reader.list(name, count: count).enumerated() {
            let location = "\(reader.location).\(name)[\(index)]"
            messages.append(try Message(value, location: location, roles: roles))
        }
        return messages
    }
}

extension ToolCall {
    /// The most calls in one reply.
    static let mostInAReply = 64

    /// The list `tool_calls` of a frame: at least one call, each id once.
    static func list(_ reader: inout FrameReader) throws(FrameError) -> [ToolCall] {
        var calls: [ToolCall] = []
        for (index, value) in try reader.list("tool_calls", count: 1...mostInAReply).enumerated() {
            let location = "\(reader.location).tool_calls[\(index)]"
            calls.append(try ToolCall(value, location: location))
        }
        guard Set(calls.map(\.id)).count == calls.count else {
            throw reader.bad("tool_calls", "a list in which every id occurs once")
        }
        return calls
    }
}
