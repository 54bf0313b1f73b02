public import SeccompCompiler

extension SocketFamily {
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
