import BrokerProtocol
import EgressBroker
import Glibc
import LinuxKernel
import ModelDialects
import NIOCore
import NIOPosix
import StrictJSON
import Synchronization
import Testing

/// A broker in this process, with listeners on loopback, and what it reports.
final class BrokerBench: Sendable {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let feed: AsyncStream<BrokerOrder>.Continuation
    private let task: Task<Void, Never>
    private let box = ReportBox()

    init(settings: BrokerSettings = BrokerSettings(), resolver: NameResolver? = nil) {
        let (orders, feed) = AsyncStream.makeStream(of: BrokerOrder.self)
        self.feed = feed
        let service = BrokerService(
            settings: settings,
            resolver: resolver,
            group: Self.group,
            report: { [box] in box.add($0) }
        )
        task = Task { await service.run(orders) }
    }

    /// Gives an order.
    func order(_ request: BrokerRequest, _ descriptors: [HandedDescriptor] = []) {
        feed.yield(BrokerOrder(request, descriptors))
    }

    /// All reports so far.
    var all: [BrokerReport] { box.all }

    /// Waits until a report is there; a test in which it never comes ends the run, because nothing else
    /// could end the wait.
    func wait<Found>(for match: (BrokerReport) -> Found?) async -> Found {
        var count = 0
        let alarm = Self.group.next().scheduleTask(in: .seconds(60)) { [box] in
            fatalError("a report did not come within a minute; what came: \(box.all)")
        }
        defer { alarm.cancel() }
        while true {
            for report in all.dropFirst(count) { if let found = match(report) { return found } }
            count = await box.waitForMore(than: all.count)
        }
    }

    /// The next call that is reported after so many.
    func call(_ number: Int = 0) async -> CallRecord {
        var left = number
        return await wait { report in
            guard case .call(let record) = report else { return nil }
            left -= 1
            return left < 0 ? record : nil
        }
    }

    /// The kinds of events so far.
    var kinds: [ModelEvent.Kind] { events.map(\.kind) }

    /// The events so far.
    var events: [ModelEvent] {
        all.compactMap { if case .event(_, _, let event) = $0 { event } else { nil } }
    }

    /// Configures one provider at a port of this host, and an account without limits.
    func configure(
        _ upstreams: [UpstreamTerms],
        cassette: CassetteMode? = nil,
        file: HandedDescriptor? = nil
    ) {
        let configuration = BrokerConfiguration(
            upstreams: upstreams,
            prices: [
                PriceTerms(model: "pinned", input: 1_000_000, output: 2_000_000, cachedInput: nil)
            ],
            cassette: cassette
        )
        order(.configure(configuration), file.map { [$0] } ?? [])
        account("campaign")
    }

    /// Sets an account.
    func account(
        _ name: String,
        requests: Int? = nil,
        tokens: Int? = nil,
        microdollars: Int? = nil
    ) {
        order(
            .account(
                AccountTerms(
                    name: name,
                    requests: requests,
                    tokens: tokens,
                    microdollars: microdollars
                )
            )
        )
    }

    /// Opens a listener and waits until it is served.
    ///
    /// - Returns: its port.
    func open(
        _ number: Int = 1,
        isSealed: Bool = false,
        role: ModelRole = .codingAgent,
        requests: Int = 1000,
        concurrency: Int = 64,
        trace: HandedDescriptor? = nil
    ) async throws -> Int {
        let socket = try LoopbackSocket()
        let terms = ListenerTerms(
            listener: number,
            roles: [PinnedRole(role: role, pin: Self.pin, accounts: ["campaign"])],
            isSealed: isSealed,
            maximumRequests: requests,
            maximumConcurrency: concurrency
        )
        order(.open(terms), [socket.descriptor] + (trace.map { [$0] } ?? []))
        _ = await wait { if case .opened(number) = $0 { true } else { nil } }
        return socket.port
    }

    /// The model that every listener of these tests has.
    static let pin = ModelPin(
        alias: "fast",
        upstream: "provider",
        dialects: Dialect.allCases,
        model: "pinned",
        maxOutputTokens: 100
    )

    /// Ends the broker, and waits for it.
    func end() async {
        feed.finish()
        await task.value
    }
}

enum BenchError: Error {
    case missing
}

/// The reports of a broker.
private final class ReportBox: Sendable {
    private struct State {
        var reports: [BrokerReport] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func add(_ report: BrokerReport) {
        let waiters = state.withLock { state in
            state.reports.append(report)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var all: [BrokerReport] { state.withLock(\.reports) }

    /// Waits until there are more than so many; returns so many.
    func waitForMore(than count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.reports.count <= count else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
        return count
    }
}

/// A listening socket on a free port of loopback.
struct LoopbackSocket {
    let descriptor: HandedDescriptor
    let port: Int

    init() throws {
        while true {
            let tried = Int.random(in: 20_000..<60_000)
            do throws(SystemError) {
                descriptor = HandedDescriptor(try .loopbackListener(port: UInt16(tried)))
                port = tried
                return
            } catch {
                // Somebody else has this one; any will do.
                guard error.number == EADDRINUSE else { throw error }
            }
        }
    }
}

/// The provider of these tests.
func provider(
    _ port: Int,
    host: String = "127.0.0.1",
    scheme: String = "http",
    trust: String? = nil,
    allowsAnyAddress: Bool = true,
    key: String = "sk-very-secret-key"
) -> UpstreamTerms {
    UpstreamTerms(
        name: "provider",
        url: "\(scheme)://\(host):\(port)",
        dialects: [.openAIChat, .anthropicMessages],
        key: SecretText(key),
        trust: trust,
        allowsAnyAddress: allowsAnyAddress,
        allowsPlainHTTP: true
    )
}
