// DenialEvents: what filters and Landlock refused, in words, with the policy line that would allow each.

internal import FilterLint
public import LauncherClient
internal import SandboxPlan
internal import SeccompCompiler
public import StrictJSON

/// Calls of one kind that one wall of a sandbox refused.
public struct DenialEvent: Sendable, Equatable {
    /// The name of the first program that made one: text of its own choosing, made printable.
    public let program: String
    /// The call's name; of Landlock the right or scope that was missing, such as `fs.write_file`.
    public let call: String
    /// What it would have done, for calls of which the first argument says that, and of Landlock the
    /// directory or the class of ports; otherwise empty.
    public let kind: String
    /// The first path that was refused, of the program's choosing, made printable; only of Landlock.
    public let path: String?
    /// How many were made.
    public let count: UInt64
    /// What a policy would have to say; nil where no policy can allow it.
    public let cure: PolicyAddition?

    /// The wall that answered, by the name that refusals have on the record.
    public let layer: String

    /// The walls that explain what they refuse.
    public static let layers = [Layer.filter.rawValue, Layer.landlock.rawValue]

    private init(_ program: String, _ call: String, _ kind: String, _ count: UInt64) {
        layer = Layer.filter.rawValue
        self.program = program
        self.call = call
        self.kind = kind
        self.count = count
        path = nil
        cure = PolicyAddition(call: call, kind: kind)
    }

    init(
        landlock right: String,
        kind: String,
        count: UInt64,
        program: String = "",
        path: String? = nil
    ) {
        layer = Layer.landlock.rawValue
        self.program = program
        call = right
        self.kind = kind
        self.count = count
        self.path = path
        cure = PolicyAddition(landlock: right, kind: kind)
    }

    private init(_ event: DenialEvent, count: UInt64, isNameless: Bool) {
        let hidesKind = isNameless && event.layer == Layer.landlock.rawValue
        layer = event.layer
        program = isNameless ? "" : event.program
        call = event.call
        kind = hidesKind ? "" : event.kind
        self.count = count
        path = isNameless ? nil : event.path
        cure = event.cure
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
        DenialEvent(self, count: count, isNameless: false)
    }

    /// The same event without what the program chose to say by it: its name, a path.
    public var nameless: DenialEvent { DenialEvent(self, count: count, isNameless: true) }

    /// Call and kind: what was tried.
    public var attempt: String { kind.isEmpty ? call : "\(call) (\(kind))" }

    /// Whether a policy could allow it, and how.
    public var advice: String {
        cure.map { "the line that would allow it: \($0)" } ?? "nothing allows it: compiled in"
    }

    /// Who was refused first, and what, as far as that is known; otherwise empty.
    public var origin: String {
        let first = program.isEmpty ? "" : "by «\(program)»"
        let place = path.map { "at «\($0)»" } ?? ""
        let words = [first, place].filter { !$0.isEmpty }
        return words.isEmpty ? "" : "first " + words.joined(separator: " ")
    }

    /// Who was first, and what would allow it.
    public var detail: String { (origin.isEmpty ? "" : "\(origin); ") + advice }

    /// The event for programs.
    ///
    /// - Parameter sandbox: the name of the sandbox's policy.
    /// - Returns: an object with what, who, how often, and the line that would allow it.
    public func json(sandbox: String) -> JSONValue {
        [
            "sandbox": .string(sandbox), "program": .string(program), "call": .string(call),
            "argument": kind.isEmpty ? .null : .string(kind), "layer": .string(layer),
            "path": path.map { .string($0) } ?? .null,
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

    /// What would have Landlock allow it: its rules follow from mounts and sockets.
    ///
    /// Nothing in a policy moves a scope, nor what procfs and devices are good for.
    init?(landlock right: String, kind: String) {
        switch right {
        case "net.bind_tcp", "net.connect_tcp":
            (key, entry) = ("sockets", SocketFamily.inet.rawValue)
        case _ where ["/", "/proc", "/dev", "/sys", ""].contains(kind): return nil
        case "fs.execute": (key, entry) = ("mounts", "exec: true")
        case "fs.write_file", "fs.truncate", "fs.remove_file", "fs.remove_dir", "fs.make_reg",
            "fs.make_dir", "fs.make_sym", "fs.make_fifo", "fs.make_sock", "fs.refer":
            (key, entry) = ("mounts", "access: read-write")
        default: return nil
        }
    }

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
