package import BrokerProtocol
internal import HostKernel
internal import LinuxKernel
internal import ModelDialects
package import NIOCore
internal import NIOPosix

/// Carries the supervisor's orders out, in their order.
package struct BrokerService: Sendable {
    private let settings: BrokerSettings
    private let resolver: NameResolver?
    private let report: @Sendable (BrokerReport) -> Void
    private let group: any EventLoopGroup
    // Blocking calls: files, and the reading of large bodies.
    private let pool = NIOThreadPool(numberOfThreads: 2)
    // Names have threads of their own, because a resolver may take half a minute to give up.
    private let names = NIOThreadPool(numberOfThreads: 2)

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - settings: the limits of every connection.
    ///   - resolver: how names become addresses; nothing for the host's way.
    ///   - group: the event loops that everything runs on.
    ///   - report: where reports go; never waits.
    package init(
        settings: BrokerSettings,
        resolver: NameResolver? = nil,
        group: any EventLoopGroup,
        report: @escaping @Sendable (BrokerReport) -> Void
    ) {
        self.settings = settings
        self.resolver = resolver
        self.group = group
        self.report = report
    }

    // What the orders so far have made.
    private struct State {
        var calls: CallService?
        var desks: [Int: ListenerDesk] = [:]
        var listeners: [Int: ListenerService] = [:]
    }

    /// Serves until the orders end; every listener is closed then.
    package func run(_ orders: AsyncStream<BrokerOrder>) async {
        pool.start()
        names.start()
        report(.ready)
        var state = State()
        await withDiscardingTaskGroup { listeners in
            for await order in orders {
                switch order.request {
                case .configure(let configuration):
                    await configure(configuration, order.descriptors, &state)
                case .account(let terms): state.calls?.accounts.set(terms)
                case .open(let terms):
                    guard let listener = await open(terms, order.descriptors, &state) else {
                        continue
                    }
                    let desk = listener.desk
                    listeners.addTask {
                        await listener.run()
                        for pool in desk.pools.values { await pool.cut() }
                        report(.closed(listener: terms.listener, desk.totals))
                        for pool in desk.pools.values { await pool.shutDown() }
                    }
                    report(.opened(listener: terms.listener))
                case .hold(let number): state.desks[number]?.hold()
                case .release(let number): state.desks[number]?.release()
                case .close(let number):
                    state.desks.removeValue(forKey: number)
                    state.listeners.removeValue(forKey: number)?.close()
                }
            }
            listeners.cancelAll()
        }
        do {
            try await pool.shutdownGracefully()
            try await names.shutdownGracefully()
        } catch {
            Complaint.print(
                operation: "end the threads for files and names",
                location: "the broker",
                reason: "\(error)",
                remedy: "report this"
            )
        }
    }

    private func configure(
        _ configuration: BrokerConfiguration,
        _ descriptors: [HandedDescriptor],
        _ state: inout State
    ) async {
        do throws(BrokerFailure) {
            guard state.calls == nil else {
                throw BrokerFailure(
                    operation: "configure the broker",
                    location: "M5",
                    reason: "it is configured already",
                    remedy: "start another broker"
                )
            }
            state.calls = try CallService(
                configuration,
                cassette: descriptors.first,
                settings: settings,
                resolver: resolver ?? .host(on: names),
                group: group,
                pool: pool,
                report: report
            )
            report(.configured)
        } catch {
            report(.failed(listener: nil, error))
        }
    }

    private func open(
        _ terms: ListenerTerms,
        _ descriptors: [HandedDescriptor],
        _ state: inout State
    ) async -> ListenerService? {
        do {
            guard let calls = state.calls else { throw refusal(terms, "nothing is configured yet") }
            guard state.desks[terms.listener] == nil else {
                throw refusal(terms, "the number is in use")
            }
            guard !terms.isSealed || descriptors.count < 2 else {
                throw refusal(terms, "a file for bodies came along with a sealed listener")
            }
            guard !terms.roles.isEmpty else { throw refusal(terms, "it has no role") }
            guard let number = try descriptors.first?.take()?.releasedNumber() else {
                throw refusal(terms, "no descriptor came along")
            }
            let trace = descriptors.dropFirst().first
                .flatMap { TraceFile($0, limit: settings.traceBytes, pool: pool) }
            let bodies = BodyMemory(
                limit: settings.listenerBodies,
                partOf: terms.roles.first.flatMap { calls.bodies[$0.role] }
            )
            let desk = ListenerDesk(
                terms,
                trace: trace,
                bodies: bodies,
                pools: calls.pools(for: terms)
            )
            let listener = try await ListenerService(
                desk: desk,
                number: number,
                calls: calls,
                group: group
            )
            state.desks[terms.listener] = desk
            state.listeners[terms.listener] = listener
            return listener
        } catch let failure as BrokerFailure {
            report(.failed(listener: terms.listener, failure))
        } catch {
            report(.failed(listener: terms.listener, refusal(terms, "\(error)")))
        }
        return nil
    }

    private func refusal(_ terms: ListenerTerms, _ reason: String) -> BrokerFailure {
        BrokerFailure(
            operation: "serve a listener",
            location: "listener \(terms.listener)",
            reason: reason,
            remedy: "open it with a listening socket, after configure, under a number of its own"
        )
    }
}
