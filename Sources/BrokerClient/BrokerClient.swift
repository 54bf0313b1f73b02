// BrokerClient: the supervisor's end of M5, and the sandbox that the broker runs in.

public import BrokerProtocol
public import HostKernel
public import LauncherClient
internal import LauncherProtocol
public import LinuxKernel
public import SandboxPlan
internal import StrictJSON

/// A running broker.
///
/// Requests wait for their answers, a bounded time. What the broker tells by itself is delivered as it
/// is read, from within requests, too: whoever takes it counts it, and asks nothing of the broker
/// then. Nothing is kept for later, so that a broker that never stops talking fills no memory.
public final class BrokerClient {
    /// A descriptor that goes along with a request and stays ours.
    public typealias Along = Descriptor?.Box

    /// Told every report that answers no request; what it throws ends the broker as one that is lost.
    public var onReport: (BrokerReport) throws(BrokerError) -> Void = {
        (_: BrokerReport) throws(BrokerError) in
        let detail = "it reports before it is configured"
        throw .protocolBroken(during: "start the broker", detail: detail)
    }
    /// Told once when the broker has ended or cannot be understood.
    public var onLost: (BrokerError) -> Void = { _ in }
    /// Whether it serves nobody any more.
    public private(set) var isLost = false

    private let loop: EventLoop
    private let channel: Descriptor
    private let patience: Patience
    private var sandbox: RunningSandbox?
    private var token: EventLoop.Token?

    /// How long a broker may take; a test makes it short.
    package struct Patience: Sendable {
        /// To begin and to be configured: it reads certificates then.
        package var start = Nanoseconds.milliseconds(60_000)
        /// To answer.
        package var answer = Nanoseconds.milliseconds(10_000)

        /// The patience of a real run.
        package init() {}
    }

    /// What a broker is started with.
    public struct Start: Sendable {
        /// The compiled plan of its sandbox, with one slot for the socket.
        public let plan: CompiledPlan
        /// The program's path inside.
        public let program: String
        /// Providers and prices.
        public let configuration: BrokerConfiguration

        /// Creates a value.
        public init(plan: CompiledPlan, program: String, configuration: BrokerConfiguration) {
            self.plan = plan
            self.program = program
            self.configuration = configuration
        }
    }

    /// Starts a broker and configures it.
    ///
    /// - Parameters:
    ///   - start: what it is started with.
    ///   - launcher: the launcher, on whose loop reports arrive.
    ///   - log: takes its standard output and error; stays open.
    ///   - cassette: the cassette's file where the configuration has one; stays open.
    /// - Throws: ``BrokerError``; then nothing of it runs.
    public init(
        _ start: Start,
        on launcher: LauncherClient,
        log: borrowing Descriptor,
        cassette: Along? = nil
    ) throws(BrokerError) {
        loop = launcher.loop
        patience = Patience()
        let operation = "start the broker"
        var ends = try Self.allowed(operation) { () throws(SystemError) in
            try DescriptorPair.sockets(keepsMessages: true)
        }
        channel = ends.takeFirst()
        try refuseDescriptors()
        let theirs = ends.takeSecond()
        let null = try Self.allowed(operation) { () throws(SystemError) in
            try Descriptor.open("/dev/null", .read)
        }
        var descriptors = DescriptorPlacements()
        descriptors.add(null)
        descriptors.add(log)
        descriptors.add(log)
        descriptors.add(theirs)
        do throws(LauncherError) {
            sandbox = try launcher.launch(
                start.plan,
                trees: [],
                command: [start.program],
                descriptors: descriptors,
                onExit: { [weak self] _ in self?.lose(.lost(during: "serve models")) }
            )
        } catch { throw .notStarted(error) }
        try begin(start.configuration, cassette)
    }

    /// Talks to a broker that runs already, and not in a sandbox of ours: a test plays it.
    ///
    /// - Parameters:
    ///   - channel: our end of M5.
    ///   - configuration: providers and prices.
    ///   - loop: where reports arrive.
    ///   - patience: how long it may take.
    /// - Throws: ``BrokerError``.
    package init(
        over channel: consuming Descriptor,
        _ configuration: BrokerConfiguration,
        on loop: EventLoop,
        patience: Patience
    ) throws(BrokerError) {
        self.channel = channel
        self.loop = loop
        self.patience = patience
        try refuseDescriptors()
        try begin(configuration, nil)
    }

    private func begin(
        _ configuration: BrokerConfiguration,
        _ cassette: Along?
    ) throws(BrokerError) {
        let operation = "configure the broker"
        do throws(BrokerError) {
            try expect(.ready, during: "start the broker", within: patience.start)
            try send(.configure(configuration), cassette.map { [$0] } ?? [], during: operation)
            try expect(.configured, during: operation, within: patience.start)
        } catch {
            isLost = true
            // What went wrong first is what a person needs to read; the launcher kills it with us.
            do throws(BrokerError) { try end() } catch {}
            throw error
        }
        token = loop.watch(channel, .readable) { [unowned self] _ in receive() }
    }

    private func refuseDescriptors() throws(BrokerError) {
        do throws(SystemError) { try channel.refuseDescriptors() } catch {
            throw .host(during: "start the broker", error)
        }
    }

    private static func allowed<Value: ~Copyable>(
        _ operation: String,
        _ body: () throws(SystemError) -> Value
    ) throws(BrokerError) -> Value {
        do throws(SystemError) { return try body() } catch { throw .host(during: operation, error) }
    }

    // MARK: - requests

    /// Sets what is left of an account.
    ///
    /// - Throws: ``BrokerError``.
    public func set(_ terms: AccountTerms) throws(BrokerError) {
        try send(.account(terms), [], during: "set the budget \(terms.name)")
    }

    /// Has a listener served.
    ///
    /// - Parameters:
    ///   - terms: on which terms.
    ///   - endpoint: the listener; stays open.
    ///   - bodies: the file that takes what is said, never with sealed terms; stays open.
    /// - Throws: ``BrokerError``.
    public func open(
        _ terms: ListenerTerms,
        endpoint: Along,
        bodies: Along? = nil
    ) throws(BrokerError) {
        let operation = "serve listener \(terms.listener)"
        precondition(
            !terms.isSealed || bodies == nil,
            "what is said in a sealed exam is never kept"
        )
        try send(.open(terms), [endpoint] + (bodies.map { [$0] } ?? []), during: operation)
        try expect(
            .opened(listener: terms.listener),
            during: operation,
            within: patience.answer,
            about: terms.listener
        )
    }

    /// Keeps the next request of a listener unanswered; the report `arrived` tells of it.
    ///
    /// - Throws: ``BrokerError``.
    public func hold(_ listener: Int) throws(BrokerError) {
        try send(.hold(listener: listener), [], during: "hold listener \(listener)")
    }

    /// Answers what was held.
    ///
    /// - Throws: ``BrokerError``.
    public func release(_ listener: Int) throws(BrokerError) {
        try send(.release(listener: listener), [], during: "release listener \(listener)")
    }

    /// Closes a listener; on return no descriptor of it is open in the broker.
    ///
    /// - Returns: what it was used for.
    /// - Throws: ``BrokerError``.
    public func close(_ listener: Int) throws(BrokerError) -> ListenerTotals {
        let operation = "close listener \(listener)"
        try send(.close(listener: listener), [], during: operation)
        var totals = ListenerTotals()
        try takeReports(during: operation, within: patience.answer, isRefusable: false) { report in
            guard case .closed(listener, let found) = report else { return false }
            totals = found
            return true
        }
        return totals
    }

    /// Kills the broker and waits until every process of it is gone.
    ///
    /// - Throws: ``BrokerError``.
    public func end() throws(BrokerError) {
        loop.forget(token)
        token = nil
        isLost = true
        guard let sandbox else { return }
        do throws(LauncherError) { try sandbox.kill() } catch { throw .notStarted(error) }
        do throws(SystemError) { try loop.run(until: { sandbox.exit != nil }) } catch {
            throw .host(during: "end the broker", error)
        }
    }

    private func send(
        _ request: BrokerRequest,
        _ along: [Along],
        during operation: String
    ) throws(BrokerError) {
        guard !isLost else { throw .lost(during: operation) }
        do throws(SystemError) {
            var descriptors = DescriptorPlacements()
            for box in along {
                try box.withDescriptor { (descriptor) throws(SystemError) in
                    descriptors.add(descriptor)
                }
            }
            try channel.send(request.bytes, with: descriptors, isWaiting: false)
        } catch {
            if error.isWouldBlock { throw .silent(during: operation) }
            throw error.isDisconnected ? .lost(during: operation) : .host(during: operation, error)
        }
    }

    // MARK: - reports

    private func expect(
        _ expected: BrokerReport,
        during operation: String,
        within span: Nanoseconds,
        about listener: Int? = nil
    ) throws(BrokerError) {
        try takeReports(during: operation, within: span, about: listener) { $0 == expected }
    }

    /// Takes reports until one is the answer; every other one is delivered.
    private func takeReports(
        during operation: String,
        within span: Nanoseconds,
        about listener: Int? = nil,
        isRefusable: Bool = true,
        _ isAnswer: (BrokerReport) -> Bool
    ) throws(BrokerError) {
        let deadline = MonotonicTime.now.advanced(by: span)
        while true {
            // Asked here, because one that never stops talking always has something to read.
            guard MonotonicTime.now < deadline else { throw .silent(during: operation) }
            guard let report = try next(during: operation, until: deadline) else {
                throw .silent(during: operation)
            }
            if isAnswer(report) { return }
            // Something else may fail meanwhile: a file that is full, another listener.
            if case .failed(let about, let failure) = report, about == listener, isRefusable {
                throw .refused(failure)
            }
            try onReport(report)
        }
    }

    private func next(
        during operation: String,
        until deadline: MonotonicTime
    ) throws(BrokerError) -> BrokerReport? {
        let waiting = EventLoop()
        var isReadable = false
        var isLate = false
        let token = waiting.watch(channel, .readable) { _ in isReadable = true }
        _ = waiting.at(deadline) { isLate = true }
        do throws(SystemError) {
            try waiting.run(until: { isReadable || isLate })
        } catch { throw .host(during: operation, error) }
        waiting.forget(token)
        return isReadable ? try received(during: operation) : nil
    }

    private func received(during operation: String) throws(BrokerError) -> BrokerReport {
        let bytes: [UInt8]
        let hasDescriptors: Bool
        do throws(SystemError) {
            let message = try channel.receive(isWaiting: false)
            bytes = message.bytes
            hasDescriptors = message.descriptorCount > 0
        } catch {
            throw error.isDisconnected ? .lost(during: operation) : .host(during: operation, error)
        }
        guard !bytes.isEmpty else { throw .lost(during: operation) }
        guard !hasDescriptors else {
            throw .protocolBroken(during: operation, detail: "a descriptor came with a report")
        }
        do throws(JSONError) { return try BrokerReport(bytes: bytes) } catch {
            throw .protocolBroken(during: operation, detail: "\(error)")
        }
    }

    private func receive() {
        do throws(BrokerError) {
            try onReport(try received(during: "serve models"))
        } catch {
            lose(error)
        }
    }

    private func lose(_ error: BrokerError) {
        guard !isLost else { return }
        isLost = true
        loop.forget(token)
        token = nil
        onLost(error)
    }
}
