// DenialEvents: what init counted of refused calls, in words, with the policy line that would allow each.

internal import FilterLint
public import LauncherClient
internal import SandboxPlan
internal import SeccompCompiler
public import StrictJSON

/// Calls of one kind that a sandbox's filter refused.
public struct DenialEvent: Sendable, Equatable {
    /// The name of the first program that made one: text of its own choosing, made printable.
    public let program: String
    /// The call's name.
    public let call: String
    /// What it would have done, for calls of which the first argument says that; otherwise empty.
    public let kind: String
    /// How many were made.
    public let count: UInt64
    /// What a policy would have to say; nil where no policy can allow it.
    public let cure: PolicyAddition?

    /// The wall that answered, by the name that refusals have on the record.
    public static let layer = Layer.filter.rawValue

    private init(_ program: String, _ call: String, _ kind: String, _ count: UInt64) {
        self.program = program
        self.call = call
        self.kind = kind
        self.count = count
        cure = PolicyAddition(call: call, kind: kind)
    }

    /// The events of one table, in the order of the calls' numbers.
    public static func events(in rows: [DenialRow]) -> [DenialEvent] {
        var events: [DenialEvent] = []
        for row in rows {
            let call = DeniedCall.name(of: row.call)
            let kind = DeniedCall.kind(of: row.kind, call: call)
            let known = events.firstIndex { $0.call == call && $0.kind == kind }
            guard let known else {
                events.append(DenialEvent(printable(row.program), call, kind, row.count))
                continue
            }
            events[known] = events[known].counted(events[known].count &+ row.count)
        }
        return events
    }

    /// The same event with another count.
    public func counted(_ count: UInt64) -> DenialEvent {
        DenialEvent(program, call, kind, count)
    }

    /// Call and kind: what was tried.
    public var attempt: String { kind.isEmpty ? call : "\(call) (\(kind))" }

    /// Whether a policy could allow it, and how.
    public var advice: String {
        cure.map { "a policy allows it with \($0)" } ?? "nothing allows it: compiled in"
    }

    /// The event for programs.
    ///
    /// - Parameter sandbox: the name of the sandbox's policy.
    /// - Returns: an object with what, who, how often, and the line that would allow it.
    public func json(sandbox: String) -> JSONValue {
        [
            "sandbox": .string(sandbox), "program": .string(program), "call": .string(call),
            "argument": kind.isEmpty ? .null : .string(kind), "layer": .string(Self.layer),
            "count": .integer(Int64(clamping: count)),
            "allowed_by": cure.map { .string("\($0)") } ?? .string(PolicyAddition.none),
        ]
    }

    private static func printable(_ bytes: [UInt8]) -> String {
        let name = bytes.prefix { $0 != 10 && $0 != 0 }.prefix(15)
        return String(
            decoding: name.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self
        )
    }
}

/// One line of a policy.
public struct PolicyAddition: Sendable, Equatable, CustomStringConvertible {
    /// The key of the list that it goes into.
    public let key: String
    /// The entry.
    public let entry: String

    /// What stands where there is none.
    public static let none = "nothing: compiled in"

    /// The line as it is read by a person: the key and the entry to add.
    public var description: String { "\(key): [\(entry)]" }

    init?(call: String, kind: String) {
        switch call {
        case "socket":
            guard let family = DeniedCall.policyFamily(kind) else { return nil }
            (key, entry) = ("sockets", family.rawValue)
        case "clone", "ioctl": return nil
        case _ where FilterLint.problem(with: SyscallRule(call)) != nil: return nil
        default: (key, entry) = ("syscalls.allow", call)
        }
    }
}
