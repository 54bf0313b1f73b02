import LauncherClient
import HostKernel
import LauncherProtocol
import LinuxKernel
import SandboxPlan

/// A launcher spoken to without the client, for messages that no client would send.
final class RawLauncher {
    let pid: Int32
    private var channel: Descriptor?

    init(_ more: [String] = []) throws {
        var pair = try DescriptorPair.sockets(keepsMessages: true)
        let null = try Descriptor.open("/dev/null", .readWrite)
        let theirs = pair.takeSecond()
        var descriptors = DescriptorPlacements()
        for _ in 0..<2 { descriptors.add(null) }
        let errors = try Descriptor.copy(ofInherited: 2)
        descriptors.add(errors)
        descriptors.add(theirs)
        pid = try Spawn.start(
            Host.launcher,
            arguments: ["serve", "--channel", "3", "--supervisor", "\(Lab.supervisor)"] + more,
            environment: [],
            descriptors: descriptors
        )
        channel = pair.takeFirst()
        guard case .ready = try reply() else { throw Unexpected() }
    }

    struct Unexpected: Error {}

    /// Sends bytes as one message, with so many descriptors of nothing.
    func send(_ bytes: [UInt8], descriptors count: Int = 0) throws {
        let null = try Descriptor.open("/dev/null", .readWrite)
        var descriptors = DescriptorPlacements()
        for _ in 0..<count { descriptors.add(null) }
        switch channel {
        case .some(let open): try open.send(bytes, with: descriptors)
        case .none: throw Unexpected()
        }
    }

    /// The next reply, but for word of a payload's end, which `exited` follows; an error when the
    /// launcher closed its end.
    func reply() throws -> LauncherReply {
        switch channel {
        case .some(let open):
            let reply = try LauncherReply(bytes: open.receive().bytes)
            if case .ended = reply { return try self.reply() }
            return reply
        case .none: throw Unexpected()
        }
    }

    /// Asks and waits for the answer.
    func ask(_ bytes: [UInt8], descriptors count: Int = 0) throws -> LauncherReply {
        try send(bytes, descriptors: count)
        return try reply()
    }

    /// Closes our end, as the death of a supervisor does.
    func close() { channel = nil }

    /// Closes and reaps.
    func end() throws -> ProcessEnd {
        close()
        return try ProcessEnd.wait(for: pid)
    }
}
