internal import HostKernel
internal import LinuxKernel
internal import StrictJSON

/// A Unix socket on which programs send one framed JSON request each and wait for one framed answer.
///
/// The same form serves the coding agent (M2) and the operator's other terminal: four bytes of
/// length, most significant first, then that many bytes. Whoever connects is not trusted: requests
/// are bounded in size, number and time.
final class RequestSocket {
    /// Takes a request of a connection; the answer may come later through ``answer(_:_:)``.
    typealias Handler = (_ connection: Int, _ request: [UInt8]) -> Void

    private let loop: EventLoop
    private let listener: UnixListener
    private let onRequest: Handler
    private let onEnd: (Int) -> Void
    private var connections: [Int: Connection] = [:]
    private var lastNumber = 0
    private var token: EventLoop.Token?

    private static let maximumConnections = 32
    private static let maximumRequest = 64 * 1024
    private static let patience = Nanoseconds.milliseconds(10_000)

    private final class Connection {
        let stream: Descriptor
        var received: [UInt8] = []
        var pending: [UInt8] = []
        var wasAsked = false
        var isKept = false
        var token: EventLoop.Token?
        var deadline: EventLoop.Token?

        init(_ stream: consuming Descriptor) {
            self.stream = stream
        }
    }

    /// Binds and listens.
    init(
        path: String,
        loop: EventLoop,
        onRequest: @escaping Handler,
        onEnd: @escaping (Int) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.onRequest = onRequest
        self.onEnd = onEnd
        listener = try UnixListener(path: path)
        token = loop.watch(listener.descriptor, .readable) { [unowned self] _ in accept() }
    }

    /// Answers a connection and leaves it open until the other side ends it.
    func answerAndKeep(_ number: Int, _ value: JSONValue) {
        connections[number]?.isKept = true
        answer(number, value)
    }

    /// Answers a connection and closes it once the answer is written.
    func answer(_ number: Int, _ value: JSONValue) {
        guard let connection = connections[number] else { return }
        let body = value.canonicalBytes
        let length = UInt32(body.count)
        let header = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
        connection.pending = header + body
        write(number)
    }

    /// Closes the listener and every connection.
    func close() {
        loop.forget(token)
        token = nil
        for number in connections.keys { remove(number) }
    }

    private func accept() {
        do throws(SystemError) {
            guard let stream = try listener.accept() else { return }
            guard connections.count < Self.maximumConnections else { return }
            add(stream)
        } catch {
            // Out of descriptors: those who wait are served as soon as one is free.
        }
    }

    private func add(_ stream: consuming Descriptor) {
        lastNumber += 1
        let number = lastNumber
        let connection = Connection(stream)
        connections[number] = connection
        connection.token = loop.watch(connection.stream, .readable) { [unowned self] ready in
            if ready.contains(.writable) { write(number) } else { read(number) }
        }
        connection.deadline = loop.at(MonotonicTime.now.advanced(by: Self.patience)) {
            [unowned self] in remove(number)
        }
    }

    private func read(_ number: Int) {
        guard let connection = connections[number] else { return }
        do throws(SystemError) {
            let part = try connection.stream.read(atMost: 65536)
            guard !part.isEmpty, !connection.wasAsked else { return remove(number) }
            connection.received += part
            guard connection.received.count <= Self.maximumRequest + 4 else {
                return remove(number)
            }
            guard let request = Self.request(in: connection.received) else { return }
            connection.wasAsked = true
            loop.forget(connection.deadline)
            onRequest(number, request)
        } catch {
            if !error.isWouldBlock { remove(number) }
        }
    }

    // A whole request, or nothing yet. More bytes than the length says are never looked at: the
    // next read of the connection ends it.
    private static func request(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= maximumRequest else { return [] }
        guard bytes.count >= 4 + length else { return nil }
        return Array(bytes[4..<4 + length])
    }

    private func write(_ number: Int) {
        guard let connection = connections[number] else { return }
        do throws(SystemError) {
            while !connection.pending.isEmpty {
                connection.pending.removeFirst(try connection.stream.write(connection.pending))
            }
            if connection.isKept {
                loop.change(connection.token, to: .readable)
            } else {
                remove(number)
            }
        } catch {
            guard error.isWouldBlock else { return remove(number) }
            loop.change(connection.token, to: [.readable, .writable])
        }
    }

    private func remove(_ number: Int) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        loop.forget(connection.token)
        loop.forget(connection.deadline)
        onEnd(number)
    }
}
