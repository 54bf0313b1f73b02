internal import HostKernel
internal import LinuxKernel

/// What the process that keeps checkpoints answers.
package enum PublisherReply: Sendable, Equatable {
    /// What the place has now; no bytes where it has nothing yet.
    case kept([UInt8])
    /// The checkpoint is kept.
    case done
    /// It could not be read or kept, in words.
    case failed(String)
}

/// The messages between a supervisor and the process that keeps its checkpoints.
///
/// Each is a length of four bytes, most significant first, and so many bytes. A request is empty (what is
/// kept?) or a checkpoint; a reply begins with a letter.
package enum PublisherMessage {
    /// The largest message: a note with the signatures of witnesses.
    package static let limit = 2 << 20

    /// A message with its length.
    package static func framed(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(bytes.count) >> UInt32($0)) } + bytes
    }

    /// The first message of what was received, which is then taken away; nothing where it is not whole.
    ///
    /// - Throws: ``PublisherMessage/TooLong``.
    package static func next(of received: inout [UInt8]) throws(TooLong) -> [UInt8]? {
        guard received.count >= 4 else { return nil }
        let length = received.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw TooLong() }
        guard received.count >= 4 + length else { return nil }
        let message = Array(received[4..<(4 + length)])
        received.removeFirst(4 + length)
        return message
    }

    /// A message that announces more than any has.
    package struct TooLong: Error {}
}

extension PublisherReply {
    /// The reply as a message.
    package var message: [UInt8] {
        switch self {
        case .kept(let note): [UInt8(ascii: "k")] + note
        case .done: [UInt8(ascii: "d")]
        case .failed(let reason): [UInt8(ascii: "f")] + Array(reason.utf8)
        }
    }

    /// Reads a message; nothing where it is none.
    package init?(message: [UInt8]) {
        let rest = Array(message.dropFirst())
        switch message.first {
        case UInt8(ascii: "k"): self = .kept(rest)
        case UInt8(ascii: "d") where rest.isEmpty: self = .done
        case UInt8(ascii: "f"): self = .failed(String(decoding: rest, as: UTF8.self))
        default: return nil
        }
    }
}

/// The supervisor's end of the process that keeps checkpoints.
package final class PublisherLink {
    private var input: Descriptor?
    private var output: Descriptor?
    private var received: [UInt8] = []
    private var loop: EventLoop?
    private var token: EventLoop.Token?

    /// Starts the process, while we are root.
    ///
    /// - Parameters:
    ///   - program: its absolute path.
    ///   - words: its arguments.
    /// - Throws: ``SupervisorError``.
    package init(_ program: String, _ words: [String]) throws(SupervisorError) {
        let operation = "start a process with the operator's rights"
        var requests = try system(operation, program) { () throws(SystemError) in
            try DescriptorPair.pipe()
        }
        var replies = try system(operation, program) { () throws(SystemError) in
            try DescriptorPair.pipe()
        }
        input = requests.takeSecond()
        output = replies.takeFirst()
        let readEnd = requests.takeFirst()
        let writeEnd = replies.takeSecond()
        try system(operation, program) { () throws(SystemError) in
            let errors = try Descriptor.copy(ofInherited: 2)
            var placements = DescriptorPlacements()
            placements.add(readEnd)
            placements.add(writeEnd)
            placements.add(errors)
            _ = try Spawn.start(
                program,
                arguments: words,
                // The command of the configuration gets this as well, and nothing of ours.
                environment: [
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                ],
                descriptors: placements
            )
        }
    }

    /// Takes replies from now on; nothing stands for the end of the process.
    func watch(on loop: EventLoop, _ onReply: @escaping (PublisherReply?) -> Void) {
        self.loop = loop
        switch output {
        case .some(let descriptor):
            token = loop.watch(descriptor, .readable) { [unowned self] _ in
                let bytes = read()
                guard !bytes.isEmpty else { return onReply(nil) }
                received += bytes
                deliver(onReply)
            }
        case .none: break
        }
    }

    private func read() -> [UInt8] {
        switch output {
        case .some(let descriptor):
            do throws(SystemError) { return try descriptor.read(atMost: 1 << 16) } catch {
                return []  // as good as the end
            }
        case .none: return []
        }
    }

    private func deliver(_ onReply: (PublisherReply?) -> Void) {
        do throws(PublisherMessage.TooLong) {
            while let message = try PublisherMessage.next(of: &received) {
                guard let reply = PublisherReply(message: message) else { return onReply(nil) }
                onReply(reply)
            }
        } catch {
            onReply(nil)
        }
    }

    /// Sends a request; false where nobody takes it.
    func send(_ bytes: [UInt8]) -> Bool {
        switch input {
        case .some(let descriptor):
            // A checkpoint is some hundred bytes, which a pipe takes at once.
            do throws(SystemError) {
                try descriptor.writeAll(PublisherMessage.framed(bytes))
                return true
            } catch {
                return false
            }
        case .none: return false
        }
    }

    /// Lets the process go: it ends when it reads the end of its requests.
    func close() {
        loop?.forget(token)
        token = nil
        input = nil
        output = nil
    }
}
