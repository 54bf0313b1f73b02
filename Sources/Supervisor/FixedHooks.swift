internal import StrictJSON
package import Workspace

/// The hooks of the process that tells them: fixed at its start, while the supervisor is root.
///
/// They are the first message of its supervisor, written before that gives its rights up; what a pipe
/// holds nobody can change. Each later message names a hook by its place and has the event, nothing else:
/// so a supervisor that was taken over can tell the operator's hooks what it likes, and start nothing.
/// Not the command line, which others may read: an address may hold a secret.
package struct FixedHooks: Sendable, Equatable {
    /// Those who are told, in the configuration's order.
    package let hooks: [NotifySettings.Hook]
    /// The longest that telling one of them may take.
    package let seconds: Int

    /// Fixes hooks.
    ///
    /// - Parameters:
    ///   - hooks: those who are told.
    ///   - timeout: the longest that telling one of them may take.
    package init(_ hooks: [NotifySettings.Hook], within timeout: Duration) {
        self.hooks = hooks
        seconds = Int(clamping: max(1, timeout.components.seconds))
    }

    /// Reads the first message.
    ///
    /// - Throws: ``SupervisorError`` for anything but hooks and their time.
    package init(reading message: [UInt8]) throws(SupervisorError) {
        let members = try Self.members(of: message, "the first message")
        guard members.keys.sorted() == ["hooks", "seconds"],
            let values = members["hooks"]?.arrayValue,
            let seconds = members["seconds"]?.intValue, seconds > 0
        else { throw Self.refusal("the first message", "it is no list of hooks and their time") }
        let hooks = values.compactMap(Self.hook)
        guard hooks.count == values.count else {
            throw Self.refusal("the first message", "a hook is neither a command nor an address")
        }
        self.hooks = hooks
        self.seconds = seconds
    }

    /// The first message.
    package var message: [UInt8] {
        let values = hooks.map { hook -> JSONValue in
            switch hook {
            case .command(let words): ["command": JSONValue(words)]
            case .webhook(let address): ["webhook": .string(address)]
            }
        }
        let members: [String: JSONValue] = [
            "hooks": .array(values), "seconds": JSONValue(seconds),
        ]
        return JSONValue.object(members).canonicalBytes
    }

    /// A later message: tell this hook that event.
    ///
    /// - Parameters:
    ///   - place: the hook's place among the hooks.
    ///   - event: the event.
    /// - Returns: the message.
    static func order(_ place: Int, _ event: JSONValue) -> [UInt8] {
        let members: [String: JSONValue] = ["hook": JSONValue(place), "event": event]
        return JSONValue.object(members).canonicalBytes
    }

    /// Reads a later message.
    ///
    /// - Returns: who is told, and the event's bytes.
    /// - Throws: ``SupervisorError`` for a message with anything else, and for a hook that there is not.
    package func read(
        order message: [UInt8]
    ) throws(SupervisorError) -> (hook: NotifySettings.Hook, event: [UInt8]) {
        let members = try Self.members(of: message, "a message")
        guard members.keys.sorted() == ["event", "hook"],
            let event = members["event"], event.objectValue != nil,
            let place = members["hook"]?.intValue, hooks.indices.contains(place)
        else {
            throw Self.refusal("a message", "it has more than the place of a hook and an event")
        }
        return (hooks[place], event.canonicalBytes)
    }

    private static func hook(_ value: JSONValue) -> NotifySettings.Hook? {
        guard let members = value.objectValue, members.count == 1 else { return nil }
        if let address = members["webhook"]?.stringValue { return .webhook(address) }
        guard let values = members["command"]?.arrayValue else { return nil }
        let words = values.compactMap(\.stringValue)
        // Words that begin otherwise would be options of the program that keeps the time.
        guard words.count == values.count, words.first?.hasPrefix("/") == true else { return nil }
        return .command(words)
    }

    private static func members(
        of message: [UInt8],
        _ location: String
    ) throws(SupervisorError) -> [String: JSONValue] {
        do throws(JSONError) {
            return try JSONValue(parsing: message, limits: .document).objectValue ?? [:]
        } catch {
            throw refusal(location, "\(error)")
        }
    }

    private static func refusal(_ location: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .integrity,
            operation: "tell a hook",
            location: location,
            reason: reason,
            remedy: "nothing was started; report this: no supervisor of ours sends it"
        )
    }
}
