import EgressBroker
import HTTPFront
import NIOCore
import NIOPosix
import Synchronization

/// A provider that talks as a test tells it, connection by connection: before it has read, beyond what
/// it announced, without an end.
final class HostileProvider: Sendable {
    /// One connection, from the provider's side.
    struct Line {
        private let inbound: NIOAsyncChannelInboundStream<ByteBuffer>
        private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        private let provider: HostileProvider
        /// Which connection it is.
        let number: Int

        fileprivate init(
            _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
            _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
            _ provider: HostileProvider,
            _ number: Int
        ) {
            self.inbound = inbound
            self.outbound = outbound
            self.provider = provider
            self.number = number
        }

        /// Sends text; fails where the broker has hung up.
        func say(_ text: String) async throws {
            try await outbound.write(ByteBuffer(string: text))
        }

        /// Sends text again and again, until the broker hangs up; not so fast that other tests have no
        /// turn.
        func sayForever(_ text: String, every pause: TimeAmount = .milliseconds(1)) async throws {
            let part = ByteBuffer(string: text)
            while true {
                try await outbound.write(part)
                try await Task.sleep(for: .nanoseconds(pause.nanoseconds))
            }
        }

        /// Reads requests, each told to a test's words, until the broker hangs up.
        func hear(_ answer: (Int) async throws -> Bool) async throws {
            var reader = HTTPRequestReader(
                limits: HTTPLimits(bodyBytes: 64 << 20),
                hosts: ["127.0.0.1:\(provider.port)"]
            )
            for try await part in inbound {
                reader.feed(part.readableBytesView)
                while let request = try reader.next() {
                    guard try await answer(provider.note(request)) else { return }
                }
            }
        }
    }

    // A loop of its own: what it floods is the broker, and not what the test hears of it.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let port: Int
    private let channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
    private let seen = Mutex<[HTTPRequest]>([])
    private let accepted = Mutex(0)
    private let ended = Mutex(0)
    private let task = Mutex<Task<Void, any Error>?>(nil)

    /// Starts it.
    init(_ talk: @escaping @Sendable (Line) async throws -> Void) async throws {
        channel = try await ServerBootstrap(group: Self.group)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        port = channel.channel.localAddress?.port ?? 0
        let running = Task { [self] in
            try await channel.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        group.addTask { await self.serve(connection, talk) }
                    }
                }
            }
        }
        task.withLock { $0 = running }
    }

    /// A provider that answers every request with the same text, and then ends the connection or not.
    static func saying(
        _ text: String,
        hangsUp: Bool = false
    ) async throws -> HostileProvider {
        try await HostileProvider { line in
            try await line.hear { _ in
                try await line.say(text)
                return !hangsUp
            }
        }
    }

    /// The requests that came whole.
    var requests: [HTTPRequest] { seen.withLock(\.self) }
    /// How many connections came.
    var connections: Int { accepted.withLock(\.self) }
    /// How many of them have ended.
    var endedConnections: Int { ended.withLock(\.self) }

    /// Ends it.
    func stop() async throws {
        try await channel.channel.close()
        task.withLock(\.self)?.cancel()
    }

    private func note(_ request: HTTPRequest) -> Int {
        seen.withLock { seen in
            seen.append(request)
            return seen.count - 1
        }
    }

    private func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ talk: @Sendable (Line) async throws -> Void
    ) async {
        let number = accepted.withLock { count in
            count += 1
            return count - 1
        }
        do {
            try await connection.executeThenClose { inbound, outbound in
                try await talk(Line(inbound, outbound, self, number))
            }
        } catch {
            // The broker hung up, or the test ended.
        }
        ended.withLock { $0 += 1 }
    }
}
