// Models for the sandboxes of one run: the broker, who is served at which listener, and what was used.
//
// A listener is the sandbox: its roles, pins and budgets hang on it, and nobody names himself. We keep
// a copy of each listener's descriptor, so that a broker that is lost can be replaced; it is closed
// before its sandbox counts as gone.

internal import BrokerClient
internal import BrokerProtocol
internal import HostKernel
internal import LauncherClient
internal import LinuxKernel
internal import ModelDialects
internal import Workspace

/// Serves models to the sandboxes of one run.
final class ModelService {
    /// Told that a held listener has a request.
    var onArrival: (Int) -> Void = { _ in }
    /// Told the role of each call that has ended.
    var onCall: (ModelRole) -> Void = { _ in }
    /// Told the first event of each kind and role; all are counted.
    var onEvent: (ModelRole, ModelEvent) -> Void = { _, _ in }
    /// Told that the broker was lost and replaced, with the reason.
    var onGap: (String) -> Void = { _ in }
    /// Told the same while an exam runs whose sandboxes have models.
    var onGapInExam: (String) -> Void = { _ in }
    /// Told that there is no broker any more.
    var onEnd: (SupervisorError) -> Void = { _ in }

    private let inputs: ModelInputs
    private let launcher: LauncherClient
    private let log: String
    private var broker: BrokerClient
    private var served: [Int: Served] = [:]
    private var lastListener = 0
    private var told: [ModelRole: Set<ModelEvent.Kind>] = [:]
    /// What was used since the last row.
    private var usage = ModelUsage()
    /// What was used before this run, and in it, up to the last row.
    private var usedBefore: ModelUsage
    private var usedInIteration = ModelUsage()
    private var usedBySandbox: [Int: ModelUsage] = [:]
    private var mainRoles: [Int: ModelRole] = [:]
    /// Whom the broker refused for a budget, in this iteration.
    private var refused: Set<ModelRole> = []
    private var restarts = 0
    private var isReplacing = false

    // A broker that is lost more often in one run is broken, and a night must not be spent on it.
    private static let maximumRestarts = 20

    private struct Served {
        let terms: ListenerTerms
        let endpoint: BrokerClient.Along
        let bodies: BrokerClient.Along?
        var isHeld = false
    }

    /// Starts the broker.
    ///
    /// - Parameters:
    ///   - inputs: what was read as root.
    ///   - launcher: the launcher.
    ///   - log: the file that takes what the broker prints.
    ///   - used: what was used before this run.
    /// - Throws: ``SupervisorError``.
    init(
        _ inputs: ModelInputs,
        on launcher: LauncherClient,
        log: String,
        used: ModelUsage
    ) throws(SupervisorError) {
        self.inputs = inputs
        self.launcher = launcher
        self.log = log
        usedBefore = used
        broker = try Self.start(inputs, launcher, log)
        try watchBroker()
    }

    private static func start(
        _ inputs: ModelInputs,
        _ launcher: LauncherClient,
        _ log: String
    ) throws(SupervisorError) -> BrokerClient {
        let opened = try system("open the broker's log", log) { () throws(SystemError) in
            Descriptor?.Box(
                try Descriptor.open(log, [.write, .create, .append], permissions: 0o600)
            )
        }
        guard let file = opened.take() else { fatalError("a box that was just filled is full") }
        return try brokered { () throws(BrokerError) in
            try BrokerClient(inputs.start, on: launcher, log: file, cassette: inputs.cassette?.file)
        }
    }

    private func watchBroker() throws(SupervisorError) {
        broker.onReport = { [unowned self] report in take(report) }
        broker.onLost = { [unowned self] error in replaceBroker(error) }
        try setAccounts()
    }

    /// Ends the broker; every listener must be closed.
    func end() throws(SupervisorError) {
        broker.onLost = { _ in }
        try brokered { () throws(BrokerError) in try broker.end() }
    }

    // MARK: - listeners

    /// Whether any of these roles has a model.
    func hasModel(for roles: [ModelRole]) -> Bool {
        roles.contains { inputs.settings.roles[$0] != nil }
    }

    /// Serves a sandbox at its endpoint; nothing where none of its roles has a model.
    ///
    /// - Parameters:
    ///   - sandbox: a running sandbox.
    ///   - roles: who speaks there, the usual one first.
    ///   - bodies: the file that takes what is said; nothing for a sealed exam, whose words are never
    ///     kept.
    /// - Returns: the listener's number.
    /// - Throws: ``SupervisorError``.
    func serve(
        _ sandbox: RunningSandbox,
        roles: [ModelRole],
        bodies: BrokerClient.Along?
    ) throws(SupervisorError) -> Int? {
        let pinned = roles.compactMap { role in pin(role) }
        guard !pinned.isEmpty else { return nil }
        guard let endpoint = sandbox.endpoint else {
            throw SupervisorError(
                .hostFailed,
                operation: "serve models to a sandbox",
                location: "policy key network",
                reason: "the sandbox has no endpoint",
                remedy: "write network: endpoint in its policy; see the launcher's messages"
            )
        }
        lastListener += 1
        let number = lastListener
        var accounted: [PinnedRole] = []
        for role in pinned {
            let name = Self.account(of: number, role.role)
            accounted.append(
                PinnedRole(role: role.role, pin: role.pin, accounts: role.accounts + [name])
            )
        }
        usedBySandbox[number] = ModelUsage()
        mainRoles[number] = pinned[0].role
        try setAccounts(of: number, pinned.map(\.role))
        let first = inputs.settings.roles[pinned[0].role]
        let terms = ListenerTerms(
            listener: number,
            roles: accounted,
            isSealed: bodies == nil,
            unknownFields: first?.unknownFields ?? .drop,
            maximumConcurrency: first?.maximumConcurrency ?? 8
        )
        try asked { (broker) throws(BrokerError) in
            try broker.open(terms, endpoint: endpoint, bodies: bodies)
        }
        served[number] = Served(terms: terms, endpoint: endpoint, bodies: bodies)
        return number
    }

    /// Closes a listener; on return nobody has a descriptor of it.
    func close(_ listener: Int) throws(SupervisorError) {
        guard let gone = served.removeValue(forKey: listener) else { return }
        usedBySandbox[listener] = nil
        do { _ = gone.endpoint.take() }
        guard !broker.isLost else { return }
        do throws(BrokerError) { _ = try broker.close(listener) } catch {
            // Another broker never had it.
            try replace(error)
        }
    }

    /// Keeps the next request of a listener waiting, or lets it go on.
    func setHeld(_ listener: Int, _ isHeld: Bool) throws(SupervisorError) {
        guard let state = served[listener], state.isHeld != isHeld else { return }
        served[listener]?.isHeld = isHeld
        guard !broker.isLost else { return }
        do throws(BrokerError) {
            try isHeld ? broker.hold(listener) : broker.release(listener)
        } catch { try replace(error) }
    }

    private func pin(_ role: ModelRole) -> PinnedRole? {
        guard let pin = inputs.settings.pin(of: role) else { return nil }
        return PinnedRole(
            role: role,
            pin: pin,
            accounts: [
                "campaign", "iteration", "campaign:\(role.rawValue)", "iteration:\(role.rawValue)",
            ]
        )
    }

    // MARK: - budgets

    /// A new iteration has begun: its budgets are whole again.
    func beginIteration() throws(SupervisorError) {
        usedInIteration = ModelUsage()
        refused = []
        try setAccounts()
    }

    private func setAccounts() throws(SupervisorError) {
        let all = inputs.settings.budget
        try set(all.campaign, usedBefore.total, "campaign")
        try set(all.iteration, usedInIteration.total, "iteration")
        for role in inputs.settings.roles.keys {
            guard let budget = inputs.settings.roles[role]?.budget else { continue }
            try set(budget.campaign, usedBefore.share(of: role), "campaign:\(role.rawValue)")
            try set(budget.iteration, usedInIteration.share(of: role), "iteration:\(role.rawValue)")
        }
    }

    private static func account(of listener: Int, _ role: ModelRole) -> String {
        "sandbox:\(listener):\(role.rawValue)"
    }

    private func setAccounts(
        of listener: Int,
        _ roles: [ModelRole]
    ) throws(SupervisorError) {
        for role in roles {
            let limits = inputs.settings.roles[role]?.budget.sandbox ?? .unlimited
            let used = usedBySandbox[listener]?.share(of: role) ?? ModelUsage.Share()
            try set(limits, used, Self.account(of: listener, role))
        }
    }

    private func set(
        _ limits: ModelLimits,
        _ used: ModelUsage.Share,
        _ name: String
    ) throws(SupervisorError) {
        let terms = AccountTerms(
            name: name,
            requests: limits.requests.map { max(0, $0 - used.calls) },
            tokens: limits.tokens.map { max(0, $0 - used.inputTokens - used.outputTokens) },
            microdollars: limits.costMicrodollars.map { max(0, $0 - used.microdollars) }
        )
        try asked { (broker) throws(BrokerError) in try broker.set(terms) }
    }

    /// Whether a budget that a role draws on has nothing left, or too little for what was asked last.
    func isSpent(for role: ModelRole) -> Bool {
        guard !refused.contains(role) else { return true }
        let settings = inputs.settings
        guard let own = settings.roles[role]?.budget else { return false }
        let limits = [
            (settings.budget.campaign, usedBefore.total),
            (settings.budget.iteration, usedInIteration.total),
            (own.campaign, usedBefore.share(of: role)),
            (own.iteration, usedInIteration.share(of: role)),
        ]
        return limits.contains { limit, used in limit.isReached(by: used) }
    }

    // MARK: - what the broker tells

    private func take(_ report: BrokerReport) {
        switch report {
        case .call(let call):
            usage.add(call)
            usedBefore.add(call)
            usedInIteration.add(call)
            usedBySandbox[call.listener]?.add(call)
            onCall(call.role)
        case .event(let listener, let role, let event):
            // What cannot be read names no model; then whoever speaks at the listener asked for it.
            let role = role ?? mainRoles[listener] ?? .codingAgent
            usage.add(event, of: role)
            if event.kind == .budgetSpent { refused.insert(role) }
            if told[role, default: []].insert(event.kind).inserted { onEvent(role, event) }
        case .arrived(let listener): onArrival(listener)
        case .failed(_, let failure):
            onEvent(.codingAgent, ModelEvent(.upstreamFailed, "\(failure)"))
        case .ready, .configured, .opened, .closed: break
        }
    }

    /// What was used since the last time, for a row; nothing where nothing was.
    func takeUsage() -> ModelUsage? {
        guard !usage.isEmpty else { return nil }
        defer { usage = ModelUsage() }
        return usage
    }

    // Asks the broker, and once more the one that takes its place where it is lost.
    private func asked(
        _ body: (BrokerClient) throws(BrokerError) -> Void
    ) throws(SupervisorError) {
        if !isReplacing {
            do throws(BrokerError) {
                try body(broker)
                return
            } catch { try replace(error) }
        }
        try brokered { () throws(BrokerError) in try body(broker) }
    }

    private func replaceBroker(_ error: BrokerError) {
        do throws(SupervisorError) { try replace(error) } catch {
            onGapInExam(error.description)
            onEnd(error)
        }
    }

    /// Starts a broker in place of one that is lost, and serves every listener as before; who held a
    /// connection sees it end.
    private func replace(_ error: BrokerError) throws(SupervisorError) {
        // What it refuses, it refuses again.
        if case .refused = error { throw SupervisorError(error) }
        isReplacing = true
        defer { isReplacing = false }
        var problem: SupervisorError? = SupervisorError(error)
        while let reason = problem {
            restarts += 1
            usage.gaps += 1
            guard restarts <= Self.maximumRestarts else { throw reason }
            do throws(SupervisorError) {
                try begin()
                problem = nil
            } catch { problem = error }
        }
        onGapInExam("\(error)")
        onGap("\(error)")
    }

    private func begin() throws(SupervisorError) {
        // One that speaks nonsense still runs; one that has ended cannot be ended again.
        do throws(BrokerError) { try broker.end() } catch {}
        broker = try Self.start(inputs, launcher, log)
        try watchBroker()
        for (number, state) in served.sorted(by: { $0.key < $1.key }) {
            try setAccounts(of: number, state.terms.roles.map(\.role))
            try brokered { () throws(BrokerError) in
                try broker.open(state.terms, endpoint: state.endpoint, bodies: state.bodies)
                if state.isHeld { try broker.hold(number) }
            }
        }
    }
}

extension ModelLimits {
    fileprivate func isReached(by used: ModelUsage.Share) -> Bool {
        let tokens = used.inputTokens + used.outputTokens
        return requests.map { used.calls >= $0 } ?? false
            || self.tokens.map { tokens >= $0 } ?? false
            || costMicrodollars.map { used.microdollars >= $0 } ?? false
    }
}

/// Carries out something with the broker, in the supervisor's words.
func brokered<Value>(
    _ body: () throws(BrokerError) -> Value
) throws(SupervisorError) -> Value {
    do throws(BrokerError) { return try body() } catch { throw SupervisorError(error) }
}

extension SupervisorError {
    init(_ error: BrokerError) { self.init(.hostFailed, error) }
}
