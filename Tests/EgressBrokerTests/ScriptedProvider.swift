import EgressBroker
import HTTPFront
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A provider that answers each request with what a test scripted, and remembers the requests.
final class ScriptedProvider: Sendable {
    /// What is done with a request.
    enum Step: Sendable {
        case send(String)
        /// Waits until the test says go on.
        case wait(Gate)
        /// Ends the connection where it stands.
        case hangUp
        /// Takes nothing more from the connection, its end included.
        case deafen
    }

    /// Opened once by the test.
    final class Gate: Sendable {
        private let promise: EventLoopPromise<Void>

        init() {
            promise = BrokerBench.group.next().makePromise()
        }

        func open() {
            promise.succeed()
        }

        func pass() async throws {
            try await promise.futureResult.get()
        }
    }

    let port: Int
    private let channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
    private let seen = Mutex<[HTTPRequest]>([])
    private let begun = Mutex(0)
    private let ended = Mutex(0)
    private let carriers = Mutex<[Int]>([])
    private let task = Mutex<Task<Void, any Error>?>(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - host: the name that it is called by.
    ///   - tls: its certificate, or nothing for plain HTTP.
    ///   - script: what is done with the n-th request.
    /// - Throws: what the event loop says.
    init(
        host: String = "127.0.0.1",
        tls: TLSConfiguration? = nil,
        script: @escaping @Sendable (Int) -> [Step]
    ) async throws {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        channel = try await ServerBootstrap(group: BrokerBench.group)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLServerHandler(context: context)
                        )
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        port = channel.channel.localAddress?.port ?? 0
        let hosts: Set = ["\(host):\(port)"]
        let running = Task { [self] in
            try await channel.executeThenClose { connections in
                await withTaskGroup { group in
                    do {
                        for try await connection in connections {
                            group.addTask { await self.serve(connection, hosts, script) }
                        }
                    } catch {
                        // The test ends.
                    }
                    group.cancelAll()
                }
            }
        }
        task.withLock { $0 = running }
    }

    /// The requests so far.
    var requests: [HTTPRequest] { seen.withLock(\.self) }
    /// The connection of each request so far, numbered from 1.
    var connectionOfRequest: [Int] { carriers.withLock(\.self) }
    /// How many connections have ended.
    var endedConnections: Int { ended.withLock(\.self) }

    /// Stops accepting; nobody listens at the port then.
    func stop() async throws {
        try await channel.channel.close()
        task.withLock(\.self)?.cancel()
    }

    private func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ hosts: Set<String>,
        _ script: @Sendable (Int) -> [Step]
    ) async {
        let own = begun.withLock { begun in
            begun += 1
            return begun
        }
        do {
            try await connection.executeThenClose { inbound, outbound in
                var reader = HTTPRequestReader(
                    limits: HTTPLimits(bodyBytes: 64 << 20),
                    hosts: hosts
                )
                for try await part in inbound {
                    reader.feed(part.readableBytesView)
                    while let request = try reader.next() {
                        carriers.withLock { $0.append(own) }
                        let number = seen.withLock { seen in
                            seen.append(request)
                            return seen.count - 1
                        }
                        for step in script(number) {
                            switch step {
                            case .send(let text):
                                try await outbound.write(ByteBuffer(string: text))
                            case .wait(let gate): try await gate.pass()
                            case .hangUp: return
                            case .deafen:
                                try await connection.channel.setOption(.autoRead, value: false)
                                    .get()
                            }
                        }
                    }
                }
            }
        } catch {
            // The broker hung up, or the test ended.
        }
        ended.withLock { $0 += 1 }
    }
}

/// Answers of providers.
enum Said {
    /// A whole answer.
    static func whole(
        _ status: Int,
        _ body: String,
        fields: [String] = []
    ) -> String {
        let lines =
            [
                "HTTP/1.1 \(status) Some Phrase", "Content-Type: application/json",
                "X-Request-Id: req-123", "Set-Cookie: a=b", "X-RateLimit-Remaining: 17",
                "Content-Length: \(body.utf8.count)",
            ] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    static let chat = whole(
        200,
        #"{"id":"chatcmpl-77","object":"chat.completion","created":5,"model":"pinned","choices":"#
            + #"[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"#
            + #""usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}"#
    )

    static let streamHead =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// One chunk with one event.
    static func event(_ name: String?, _ data: String) -> String {
        let text = (name.map { "event: \($0)\n" } ?? "") + "data: \(data)\n\n"
        return String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n"
    }

    static let end = "0\r\n\r\n"

    static let messageStart = event(
        "message_start",
        #"{"type":"message_start","message":{"id":"msg_9","type":"message","role":"assistant","#
            + #""model":"pinned","content":[],"usage":{"input_tokens":11,"output_tokens":1}}}"#
    )
    static let messageDelta = event(
        "content_block_delta",
        #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#
    )
    static let messageEnd =
        event(
            "message_delta",
            #"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"#
                + #""usage":{"output_tokens":5}}"#
        )
        + event("message_stop", #"{"type":"message_stop"}"#) + end
}
