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
}
