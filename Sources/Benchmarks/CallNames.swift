/// The names of tool calls on both sides of the relay.
///
/// A candidate names its calls as it likes; the examiner sees only names that the supervisor
/// counts (`call-1`, `call-2`, …), so no text of the candidate travels in a name, and the answer
/// goes back under the candidate's own.
struct CallNames: Sendable {
    private var count = 0
    private var open: [String: String] = [:]

    /// Names one call and forgets which calls were open before.
    mutating func stamped(_ call: ToolCall) -> ToolCall {
        open = [:]
        return stamp(call)
    }

    /// Names the calls of one reply and forgets which calls were open before.
    mutating func stamped(_ reply: CandidateFrame.Reply) -> CandidateFrame.Reply {
        open = [:]
        switch reply {
        case .text: return reply
        case .toolCalls(let calls):
            var stamped: [ToolCall] = []
            for call in calls { stamped.append(stamp(call)) }
            return .toolCalls(stamped)
        }
    }

    /// The candidate's own name of an open call, which is open no longer.
    mutating func answered(_ id: String) -> String? {
        open.removeValue(forKey: id)
    }

    /// The messages under the candidate's own names; nothing where one answers no open call.
    mutating func answered(_ messages: [Message]) -> [Message]? {
        var renamed: [Message] = []
        for message in messages {
            guard let id = message.id else {
                renamed.append(message)
                continue
            }
            guard let own = answered(id) else { return nil }
            renamed.append(message.answering(own))
        }
        return renamed
    }

    private mutating func stamp(_ call: ToolCall) -> ToolCall {
        count += 1
        let name = "call-\(count)"
        open[name] = call.id
        return call.renamed(name)
    }
}
