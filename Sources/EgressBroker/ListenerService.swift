internal import BrokerProtocol
internal import NIOCore
internal import NIOPosix
internal import SandboxPlan

/// A connection as bytes in and bytes out.
typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// Accepts the connections of one listener until it is closed.
struct ListenerService: Sendable {
    let desk: ListenerDesk
    private let calls: CallService
    private let listener: NIOAsyncChannel<Connection, Never>

    /// Adopts a listening socket.
    ///
    /// - Parameters:
    ///   - desk: what is known of it.
    ///   - number: the number of its descriptor, which the channel closes.
    ///   - calls: what answers its requests.
    ///   - group: the event loops.
    /// - Throws: what the event loop says about a descriptor that is no such socket.
    init(
        desk: ListenerDesk,
        number: CInt,
        calls: CallService,
        group: any EventLoopGroup
    ) async throws {
        self.desk = desk
        self.calls = calls
        listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(number) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Connection(
                        wrappingChannelSynchronously: channel,
                        // What is read ahead of a request that waits is memory, too.
                        configuration: NIOAsyncChannel.Configuration(
                            backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2)
                        )
                    )
                }
            }
    }

    /// Stops accepting; ``run()`` then cuts what is open and returns.
    func close() {
        listener.channel.close(promise: nil)
    }

    /// Serves until ``close()`` or the end of the listener; no descriptor of it is open afterwards.
    func run() async {
        do {
            try await listener.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    let limiter = ConnectionCount(limit: calls.settings.connections)
                    for try await connection in connections {
                        guard limiter.enter() else {
                            group.addTask { await Self.turnAway(connection) }
                            continue
                        }
                        group.addTask {
                            await serve(connection)
                            limiter.leave()
                        }
                    }
                    group.cancelAll()
                }
            }
        } catch is CancellationError {
            // The service ends.
        } catch {
            calls.report(
                .failed(
                    listener: desk.terms.listener,
                    BrokerFailure(
                        operation: "accept connections",
                        location: "listener \(desk.terms.listener)",
                        reason: "\(error)",
                        remedy: "close the listener and open another"
                    )
                )
            )
        }
        desk.trace?.close()
    }

    // A Unix socket stands for the address that clients are told.
    private var hosts: Set<String> {
        let port = listener.channel.localAddress?.port ?? Int(NetworkView.port)
        return ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    private static func turnAway(_ connection: Connection) async {
        do {
            try await connection.executeThenClose { _, outbound in
                try await outbound.write(
                    HTTPReply(503, .whole(Array("too many connections\n".utf8))).bytes(isLast: true)
                )
            }
        } catch {
            // It is gone already.
        }
    }

    // Two tasks: one talks, the other waits for the end of the connection and ends the talk, so that
    // a sandbox that hangs up stops the call that it no longer waits for.
    private func serve(_ connection: Connection) async {
        let service = ConnectionService(
            desk: desk,
            calls: calls,
            channel: connection.channel,
            hosts: hosts
        )
        await withTaskGroup { group in
            group.addTask { await service.run(connection) }
            group.addTask {
                do {
                    try await connection.channel.closeFuture.get()
                } catch {
                    // Closed all the same.
                }
            }
            _ = await group.next()
            group.cancelAll()
        }
    }
}
