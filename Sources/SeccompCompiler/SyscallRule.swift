// SeccompCompiler: turns a list of allowed system calls into a BPF program, once, at policy-freeze time.

/// One system call that may be made, as long as every condition holds.
///
/// Several rules of one call are alternatives.
public struct SyscallRule: Sendable, Equatable, Hashable {
    /// The call's name in the kernel's table for x86_64.
    public let call: String
    /// What must hold for its arguments; none for any call.
    public let conditions: [ArgumentCondition]

    /// Creates a rule.
    public init(_ call: String, when conditions: [ArgumentCondition] = []) {
        self.call = call
        self.conditions = conditions.sorted { $0.argument < $1.argument }
    }
}

/// The comparison `(argument & mask) == value` on the low 32 bits of one argument.
///
/// The kernel truncates the arguments that filters judge (descriptors, commands, families, flags)
/// to 32 bits. A compare of all 64 would be passed by a set upper bit (CVE-2019-10063), so there
/// is no way to write one.
public struct ArgumentCondition: Sendable, Equatable, Hashable {
    /// The argument's index, 0 to 5.
    public let argument: UInt8
    /// Which of the low 32 bits are looked at; never 0.
    public let mask: UInt32
    /// What they must equal; no bit outside the mask.
    public let value: UInt32

    /// Creates a condition.
    ///
    /// - Throws: ``SeccompError/impossibleCondition(argument:mask:value:)`` when it could never
    ///   hold, or would look at nothing.
    public init(
        argument: UInt8,
        mask: UInt32 = .max,
        equals value: UInt32
    ) throws(SeccompError) {
        guard argument < 6, mask != 0, value & ~mask == 0 else {
            throw .impossibleCondition(argument: argument, mask: mask, value: value)
        }
        self.argument = argument
        self.mask = mask
        self.value = value
    }

    /// Whether an argument fulfils the condition.
    public func holds(for argumentValue: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: argumentValue) & mask == value
    }
}

/// A protocol family of socket(2) that a policy can list; every other family is refused.
public enum SocketFamily: String, Sendable, Equatable, CaseIterable {
    /// `AF_UNIX`: streams, datagrams and sequenced packets within the sandbox.
    case unix
    /// `AF_INET`: TCP and UDP; a sandbox has loopback only.
    case inet
    /// `AF_INET6`: TCP and UDP; a sandbox has loopback only.
    case inet6
    /// `AF_NETLINK` with the routing protocol, which lists the sandbox's own interfaces.
    case netlinkRoute = "netlink-route"

    /// The rules that let a payload make sockets of this family.
    ///
    /// The low four bits of the type are the type proper; the others are flags (socket(2)). Raw, ICMP,
    /// SCTP and MPTCP sockets are left out.
    ///
    /// - Throws: nothing for the families there are.
    public func rules() throws(SeccompError) -> [SyscallRule] {
        // Types: 1 stream, 2 datagram, 3 raw, 5 sequenced packets. Transports: 0 what the type has by
        // default, 6 TCP, 17 UDP; a Unix socket has only one, whatever number is given.
        let internet: [(type: UInt32, transport: UInt32?)] = [(1, 0), (1, 6), (2, 0), (2, 17)]
        switch self {
        case .unix:
            let kinds: [(type: UInt32, transport: UInt32?)] = [(1, nil), (2, nil), (5, nil)]
            return try Self.rules("socket", 1, kinds) + Self.rules("socketpair", 1, kinds)
        case .inet: return try Self.rules("socket", 2, internet)
        case .inet6: return try Self.rules("socket", 10, internet)
        case .netlinkRoute: return try Self.rules("socket", 16, [(2, 0), (3, 0)])
        }
    }

    private static func rules(
        _ call: String,
        _ family: UInt32,
        _ kinds: [(type: UInt32, transport: UInt32?)]
    ) throws(SeccompError) -> [SyscallRule] {
        try kinds.map { kind throws(SeccompError) in
            var conditions = [
                try ArgumentCondition(argument: 0, equals: family),
                try ArgumentCondition(argument: 1, mask: 0xf, equals: kind.type),
            ]
            if let transport = kind.transport {
                conditions.append(try ArgumentCondition(argument: 2, equals: transport))
            }
            return SyscallRule(call, when: conditions)
        }
    }
}
