internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// The kernel's audit subsystem, over netlink (netlink(7), linux/audit.h).
///
/// Only the first user namespace's root, in the host's network namespace, hears or asks anything.
public enum AuditSocket {
    // AUDIT_NLGRP_READLOG, as a bit of the groups to join.
    private static let readLog: UInt32 = 1
    // For some ten thousand records, where the host's default holds a few hundred.
    private static let room: Int32 = 8 << 20
    private static let header = 16
    // NLM_F_REQUEST, NLMSG_ERROR and AUDIT_GET.
    private static let request: UInt16 = 1
    private static let error: UInt16 = 2
    private static let get: UInt16 = 1000

    /// Opens a non-blocking socket that hears every record which the kernel makes, beside any audit daemon.
    ///
    /// What it was opened with stays when its owner gives up rights (CAP_AUDIT_READ is looked at when the
    /// group is joined).
    ///
    /// - Throws: ``SystemError``; EPERM without CAP_AUDIT_READ.
    public static func listener() throws(SystemError) -> Descriptor {
        let socket = try open(joining: readLog)
        let number = socket.number
        try result("setsockopt", "SO_RCVBUFFORCE") { clx_receive_room(number, room) }
        return socket
    }

    /// Whether the kernel makes records.
    ///
    /// - Throws: ``SystemError``; EPERM without CAP_AUDIT_CONTROL.
    public static func isEnabled() throws(SystemError) -> Bool {
        // struct audit_status: its mask, and then whether records are made, or for ever are.
        let status = try ask(get, [], answer: get)
        guard status.count >= 8 else { throw SystemError("recv", "audit status", number: EPROTO) }
        return status[4..<8].contains { $0 != 0 }
    }

    /// Asks the subsystem and waits for the answer.
    ///
    /// - Parameters:
    ///   - kind: the message's type.
    ///   - payload: what follows the header.
    ///   - wanted: the type of the answer; nil to wait for the acknowledgement alone.
    /// - Returns: the answer without its header.
    /// - Throws: ``SystemError``; ETIMEDOUT where there is none within a second.
    @discardableResult
    public static func ask(
        _ kind: UInt16,
        _ payload: [UInt8],
        answer wanted: UInt16?
    ) throws(SystemError) -> [UInt8] {
        let socket = try open(joining: 0)
        // NLM_F_ACK where nothing else would answer.
        let flags = wanted == nil ? request | 4 : request
        let length = UInt32(header + payload.count)
        var message: [UInt8] = []
        for shift in [0, 8, 16, 24] { message.append(UInt8(truncatingIfNeeded: length >> shift)) }
        for part in [kind, flags] {
            message += [UInt8(truncatingIfNeeded: part), UInt8(truncatingIfNeeded: part >> 8)]
        }
        message += [UInt8](repeating: 0, count: 8) + payload
        try socket.writeAll(message)
        while true {
            let answer = try next(on: socket)
            guard answer.count >= header else { throw SystemError("recv", number: EPROTO) }
            let type = UInt16(answer[4]) | UInt16(answer[5]) << 8
            let body = Array(answer[header...])
            if type == wanted { return body }
            guard type == error, body.count >= 4 else { continue }
            let number = body[0..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard number == 0 else {
                throw SystemError("send", "audit", number: 0 &- Int32(bitPattern: number))
            }
            if wanted == nil { return [] }
        }
    }

    private static func next(on socket: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        let loop = EventLoop()
        var isReady = false
        let token = loop.watch(socket, .readable) { _ in isReady = true }
        try loop.turn(atMost: .milliseconds(1000))
        loop.forget(token)
        guard isReady else { throw SystemError("recv", "audit", number: ETIMEDOUT) }
        return try socket.receive(isWaiting: false).bytes
    }

    private static func open(joining groups: UInt32) throws(SystemError) -> Descriptor {
        let socket = Descriptor(
            adopting: try result("socket", "NETLINK_AUDIT") { clx_audit_socket() }
        )
        let number = socket.number
        try result("bind", "NETLINK_AUDIT") { clx_netlink_join(number, groups) }
        return socket
    }
}

extension SystemError {
    /// Whether a socket's messages came faster than they were read, and some are gone.
    public var isOverrun: Bool { number == ENOBUFS }
}
