import BrokerClient
import BrokerProtocol
import Foundation
import HostKernel
import LinuxKernel
import ModelDialects
import StrictJSON
import Supervisor
import Synchronization
import Workspace

/// A broker of which every run of it says what a test tells it to, on a thread of its own.
final class LyingBroker: Sendable {
    /// A descriptor that came with a request.
    final class Kept: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// One run of it, from its side.
    final class Run: Sendable {
        /// Which run it is, from 0.
        let number: Int
        private let channel: Descriptor
        private let owner: LyingBroker

        fileprivate init(_ number: Int, _ channel: consuming Descriptor, _ owner: LyingBroker) {
            self.number = number
            self.channel = channel
            self.owner = owner
        }

        /// Says something, true or not; fails where the supervisor has hung up.
        func say(_ report: BrokerReport) throws(SystemError) { try say(report.bytes) }

        /// Says bytes.
        func say(_ bytes: [UInt8]) throws(SystemError) { try channel.send(bytes) }

        /// Says something with a descriptor.
        func say(
            _ report: BrokerReport,
            with descriptor: borrowing Descriptor
        ) throws(SystemError) {
            var along = DescriptorPlacements()
            along.add(descriptor)
            try channel.send(report.bytes, with: along)
        }

        /// Says something until the supervisor hangs up; not so fast that other tests have no turn.
        func sayForever(_ report: BrokerReport) throws(SystemError) {
            let bytes = report.bytes
            while true {
                for _ in 0..<10 { try channel.send(bytes) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }

        /// The next request; nothing where the supervisor has hung up.
        func next() throws -> BrokerRequest? {
            var message = try channel.receive()
            guard !message.bytes.isEmpty else { return nil }
            let request = try BrokerRequest(bytes: message.bytes)
            owner.heard.withLock { $0.append(request) }
            if owner.isKeeping, let descriptor = message.takeDescriptor() {
                let kept = Kept(descriptor)
                owner.kept.withLock { $0.append(kept) }
            }
            return request
        }

        /// Answers as an honest broker does, but for what the test answers itself.
        func serve(
            _ instead: (BrokerRequest) throws -> Bool = { _ in false }
        ) throws {
            try say(.ready)
            while let request = try next() {
                if try instead(request) { continue }
                switch request {
                case .configure: try say(.configured)
                case .open(let terms): try say(.opened(listener: terms.listener))
                case .close(let listener):
                    try say(.closed(listener: listener, ListenerTotals()))
                case .account, .hold, .release: break
                }
            }
        }
    }

    fileprivate let heard = Mutex<[BrokerRequest]>([])
    fileprivate let kept = Mutex<[Kept]>([])
    fileprivate let isKeeping: Bool
    private let count = Mutex(0)
    private let script: @Sendable (Run) throws -> Void

    /// Makes one.
    ///
    /// - Parameters:
    ///   - isKeeping: whether it keeps every descriptor that it gets.
    ///   - script: what a run of it does.
    init(isKeeping: Bool = false, _ script: @escaping @Sendable (Run) throws -> Void) {
        self.isKeeping = isKeeping
        self.script = script
    }

    /// What all its runs were asked.
    var requests: [BrokerRequest] { heard.withLock(\.self) }
    /// What it kept of them.
    var keptDescriptors: [Kept] { kept.withLock(\.self) }
    /// How often it was started.
    var starts: Int { count.withLock(\.self) }

    /// Starts it; what the supervisor has of it.
    func start(
        on loop: EventLoop,
        _ patience: BrokerClient.Patience
    ) throws(SupervisorError) -> BrokerClient {
        let number = count.withLock { count in
            count += 1
            return count - 1
        }
        do {
            var pair = try DescriptorPair.sockets(keepsMessages: true)
            let ours = pair.takeFirst()
            let run = Run(number, pair.takeSecond(), self)
            Thread.detachNewThread { [self] in
                do { try script(run) } catch {
                    // The supervisor hung up.
                }
            }
            return try BrokerClient(
                over: ours,
                BrokerConfiguration(upstreams: [], prices: [], cassette: nil),
                on: loop,
                patience: patience
            )
        } catch {
            throw SupervisorError(
                .hostFailed,
                operation: "start the broker",
                location: "a test",
                reason: "\(error)",
                remedy: "none"
            )
        }
    }
}

/// Models served by a lying broker, and what the supervisor was told.
final class LiedTo {
    let loop = EventLoop()
    let broker: LyingBroker
    let service: ModelService
    private(set) var gaps: [String] = []
    private(set) var gapsInExam: [String] = []
    private(set) var ends: [String] = []
    private(set) var events: [ModelEvent] = []
    private(set) var arrivals: [Int] = []

    init(_ broker: LyingBroker, budget: String = "{}", answer: UInt64 = 20_000, isSlow: Bool = true)
        throws
    {
        self.broker = broker
        let text = """
            benchmark: x
            models:
              upstreams:
                one:
                  url: https://model.example
                  dialects: [openai-chat]
              roles:
                coding-agent: {model: m, budget: \(budget)}
                candidate: {model: m, budget: \(budget)}
            """
        let settings = try ExperimentConfig(parsing: Array(text.utf8), file: "c").models
        var patience = BrokerClient.Patience()
        patience.start = .milliseconds(isSlow ? 20_000 : 500)
        patience.answer = .milliseconds(answer)
        service = try ModelService(settings, on: loop, used: ModelUsage()) {
            [loop, patience] () throws(SupervisorError) in
            try broker.start(on: loop, patience)
        }
        service.onGap = { [unowned self] in gaps.append($0) }
        service.onGapInExam = { [unowned self] in gapsInExam.append($0) }
        service.onEnd = { [unowned self] in ends.append($0.description) }
        service.onEvent = { [unowned self] in events.append($1) }
        service.onArrival = { [unowned self] in arrivals.append($0) }
    }

    /// Serves a sandbox at an endpoint of its own; its number.
    func serve(_ roles: [ModelRole] = [.candidate]) throws -> Int {
        while true {
            let port = UInt16.random(in: 20_000..<60_000)
            let endpoint: BrokerClient.Along
            do throws(SystemError) {
                endpoint = Descriptor?.Box(try .loopbackListener(port: port))
            } catch {
                // Somebody else has this one; any will do.
                continue
            }
            guard let listener = try service.serve(at: endpoint, roles: roles, bodies: nil) else {
                throw CancellationError()
            }
            return listener
        }
    }

    /// Turns the loop until something holds, or a time is over.
    func turn(atMost seconds: Double = 60, until holds: () -> Bool) throws {
        let deadline = MonotonicTime.now.advanced(by: .milliseconds(UInt64(seconds * 1000)))
        while !holds(), MonotonicTime.now < deadline {
            try loop.turn(atMost: .milliseconds(10))
        }
    }
}

/// What a broker says of one call that still streams.
func spending(
    _ listener: Int,
    role: ModelRole = .candidate,
    tokens: Int = 1,
    number: Int = 1
) -> BrokerReport {
    .spending(
        CallSpending(
            listener: listener,
            number: number,
            role: role,
            inputTokens: tokens,
            outputTokens: 0,
            microdollars: tokens
        )
    )
}

/// What a broker says of one call.
func call(
    _ listener: Int,
    role: ModelRole = .candidate,
    tokens: Int = 1,
    number: Int = 1
) -> BrokerReport {
    .call(
        CallRecord(
            listener: listener,
            number: number,
            role: role,
            dialect: .openAIChat,
            model: "m",
            status: 200,
            inputTokens: tokens,
            outputTokens: 0,
            isProvidersCount: true,
            microdollars: tokens,
            milliseconds: 1,
            isStreamed: false,
            isCut: false
        )
    )
}
