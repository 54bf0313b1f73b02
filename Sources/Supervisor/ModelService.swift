// Models for the sandboxes of one run: the broker, who is served at which listener, and what was used.
//
// A listener is the sandbox: its roles, pins and budgets hang on it, and nobody names himself. We keep
// a copy of each listener's descriptor, so that a broker that is lost can be replaced; it is closed
// before its sandbox counts as gone.

package import BrokerClient
internal import BrokerProtocol
internal import HostKernel
package import IterationLoop
internal import LauncherClient
package import LinuxKernel
package import ModelDialects
package import Workspace

/// Serves models to the sandboxes of one run.
package final class ModelService {
    /// Told that a held listener has a request.
    package var onArrival: (Int) -> Void = { _ in }
    /// Told the role of each call that has ended, also within a request: whoever is told may not ask.
    var onCall: (ModelRole) -> Void = { _ in }
    /// Told that something was used, or goes on being used, a moment ago.
    package var onUse: () -> Void = {}
    /// Told the first event of each kind and role; all are counted.
    package var onEvent: (ModelRole, ModelEvent) -> Void = { _, _ in }
    /// Told that a provider fails one call after the other, at the second and then at every doubling.
    var onFailures: (ModelRole, ProviderFailures) -> Void = { _, _ in }
    /// Told that the broker was lost and replaced, with the reason.
    package var onGap: (String) -> Void = { _ in }
    /// Told the same while an exam runs whose sandboxes have models.
    package var onGapInExam: (String) -> Void = { _ in }
    /// Told that there is no broker any more.
    package var onEnd: (SupervisorError) -> Void = { _ in }

    let settings: ModelSettings
    private let table: ModelTable
    private let client: String
    private let loop: EventLoop
    private let start: () throws(SupervisorError) -> BrokerClient
    private var broker: BrokerClient
    private var served: [Int: Served] = [:]
    private var lastListener = 0
    var claims: BrokerClaims
    /// What is allowed beyond the configuration.
    var extended: BudgetExtension
    private var restarts = 0
    private var isReplacing = false
    private var isUseNoted = false

    // How long use may go unnoted.
    private static let useSpan = Nanoseconds.milliseconds(300)

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
    ///   - extended: what is allowed beyond the configuration.
    /// - Throws: ``SupervisorError``.
    convenience init(
        _ inputs: ModelInputs,
        on launcher: LauncherClient,
        log: String,
        used: ModelUsage,
        extended: BudgetExtension
    ) throws(SupervisorError) {
        try self.init(
            inputs.settings,
            knowing: inputs.table,
            as: inputs.client,
            on: launcher.loop,
            used: used,
            extended: extended
        ) { () throws(SupervisorError) in
            let opened = try system("open the broker's log", log) { () throws(SystemError) in
                Descriptor?.Box(
                    try Descriptor.open(log, [.write, .create, .append], permissions: 0o600)
                )
            }
            guard let file = opened.take() else { fatalError("a box that was just filled is full") }
            return try brokered { () throws(BrokerError) in
                try BrokerClient(
                    inputs.start,
                    on: launcher,
                    log: file,
                    cassette: inputs.cassette?.file
                )
            }
        }
    }

    /// Serves models by brokers that somebody else starts.
    ///
    /// - Parameters:
    ///   - settings: what the configuration says.
    ///   - table: what is known of models.
    ///   - client: what providers are told in place of the names that callers give themselves.
    ///   - loop: the supervisor's loop.
    ///   - used: what was used before this run.
    ///   - extended: what is allowed beyond the configuration.
    ///   - start: starts a broker and configures it.
    /// - Throws: ``SupervisorError``.
    package init(
        _ settings: ModelSettings,
        knowing table: ModelTable = .empty,
        as client: String = "invigilator",
        on loop: EventLoop,
        used: ModelUsage,
        extended: BudgetExtension = BudgetExtension(),
        start: @escaping () throws(SupervisorError) -> BrokerClient
    ) throws(SupervisorError) {
        self.settings = settings
        self.table = table
        self.client = client
        self.loop = loop
        self.start = start
        self.extended = extended
        claims = BrokerClaims(campaign: used)
        broker = try start()
        try watchBroker()
    }

    private func watchBroker() throws(SupervisorError) {
        broker.onReport = { [unowned self] (report) throws(BrokerError) in try take(report) }
        broker.onLost = { [unowned self] error in replaceBroker(error) }
        try setAccounts()
    }

    /// Ends the broker; every listener must be closed.
    package func end() throws(SupervisorError) {
        broker.onLost = { _ in }
        try brokered { () throws(BrokerError) in try broker.end() }
    }

    // MARK: - listeners

    /// Whether any of these roles has a model.
    func hasModel(for roles: [ModelRole]) -> Bool {
        roles.contains { settings.roles[$0] != nil }
    }

    /// Serves a sandbox at its endpoint; nothing where none of its roles has a model.
    ///
    /// - Parameters:
    ///   - sandbox: a running sandbox.
    ///   - roles: who speaks there, the usual one first.
    ///   - bodies: the file that takes what is said; nothing for a sealed exam, whose words are never
    ///     kept.
    ///   - requests: the most requests of all of its life; nil for no limit but the budgets'.
    /// - Returns: the listener's number.
    /// - Throws: ``SupervisorError``.
    func serve(
        _ sandbox: RunningSandbox,
        roles: [ModelRole],
        bodies: BrokerClient.Along?,
        atMost requests: Int? = nil
    ) throws(SupervisorError) -> Int? {
        guard hasModel(for: roles) else { return nil }
        guard let endpoint = sandbox.endpoint else {
            throw SupervisorError(
                .hostFailed,
                operation: "serve models to a sandbox",
                location: "policy key network",
                reason: "the sandbox has no endpoint",
                remedy: "write network: endpoint in its policy; see the launcher's messages"
            )
        }
        return try serve(at: endpoint, roles: roles, bodies: bodies, atMost: requests)
    }

    /// Serves whoever reaches an endpoint; nothing where none of the roles has a model.
    ///
    /// - Parameters:
    ///   - endpoint: the listener.
    ///   - roles: who speaks there, the usual one first.
    ///   - bodies: as above.
    ///   - requests: the most requests of all of its life; nil for no limit but the budgets'.
    /// - Returns: the listener's number.
    /// - Throws: ``SupervisorError``.
    package func serve(
        at endpoint: BrokerClient.Along,
        roles: [ModelRole],
        bodies: BrokerClient.Along?,
        atMost requests: Int? = nil
    ) throws(SupervisorError) -> Int? {
        lastListener += 1
        let number = lastListener
        let pinned = roles.compactMap { pin($0, at: number, among: roles) }
        guard let main = pinned.first?.role else { return nil }
        let terms = ListenerTerms(
            listener: number,
            roles: pinned,
            isSealed: bodies == nil,
            unknownFields: settings.roles[main]?.unknownFields ?? .drop,
            client: client,
            maximumRequests: requests ?? 1_000_000,
            maximumConcurrency: settings.roles[main]?.maximumConcurrency ?? 8
        )
        claims.open(number, roles: pinned.map(\.role), atMost: terms.maximumConcurrency)
        do throws(SupervisorError) {
            try setAccounts(of: terms)
            try asked { (broker) throws(BrokerError) in
                try broker.open(terms, endpoint: endpoint, bodies: bodies)
            }
        } catch {
            claims.close(number)
            throw error
        }
        served[number] = Served(terms: terms, endpoint: endpoint, bodies: bodies)
        return number
    }

    /// Closes a listener; on return nobody listens there, and no broker that is honest has a descriptor
    /// of it.
    package func close(_ listener: Int) throws(SupervisorError) {
        guard let gone = served.removeValue(forKey: listener) else { return }
        defer { Self.endListening(gone.endpoint) }
        var problem: BrokerError?
        if !broker.isLost {
            do throws(BrokerError) { _ = try broker.close(listener) } catch { problem = error }
        }
        // What was told until here was counted; of what is closed nothing can be told.
        claims.close(listener)
        // Another broker never had it.
        if let problem { try replace(problem) }
    }

    // The broker may say that it closed what it still has: then the kernel ends it for every holder.
    private static func endListening(_ endpoint: BrokerClient.Along) {
        do throws(SystemError) {
            try endpoint.withDescriptor { (descriptor) throws(SystemError) in
                try descriptor.shutDownSocket()
            }
        } catch {
            // It listens no more.
        }
        do { _ = endpoint.take() }
    }

    /// Keeps the next request of a listener waiting, or lets it go on.
    package func setHeld(_ listener: Int, _ isHeld: Bool) throws(SupervisorError) {
        guard let state = served[listener], state.isHeld != isHeld else { return }
        served[listener]?.isHeld = isHeld
        claims.setHeld(listener, isHeld)
        guard !broker.isLost else { return }
        do throws(BrokerError) {
            try isHeld ? broker.hold(listener) : broker.release(listener)
        } catch { try replace(error) }
    }

    private func pin(
        _ role: ModelRole,
        at listener: Int,
        among roles: [ModelRole]
    ) -> PinnedRole? {
        guard var pin = settings.pin(of: role, knowing: table) else { return nil }
        // Where several roles speak, a request chooses by the role's name: two roles may have one
        // model, and still have two budgets.
        if roles.count > 1 { pin = pin.called(role.rawValue) }
        let session = BrokerClaims.session(of: listener, roles)
        return PinnedRole(
            role: role,
            pin: pin,
            accounts: [
                "campaign", "iteration", "campaign:\(role.rawValue)", "iteration:\(role.rawValue)",
                "\(session):\(role.rawValue)",
            ]
        )
    }

    // MARK: - budgets

    /// A new iteration has begun: its budgets are whole again.
    package func beginIteration() throws(SupervisorError) {
        claims.beginIteration()
        try setAccounts()
    }

    func setAccounts() throws(SupervisorError) {
        try set(campaignLimits, claims.campaign.total, "campaign")
        try set(settings.budget.iteration, claims.iteration.total, "iteration")
        for (role, settings) in settings.roles {
            let (name, budget) = (role.rawValue, settings.budget)
            try set(budget.campaign, claims.campaign.share(of: role), "campaign:\(name)")
            try set(budget.iteration, claims.iteration.share(of: role), "iteration:\(name)")
        }
    }

    // The account of its own is the last of each role's.
    private func setAccounts(of terms: ListenerTerms) throws(SupervisorError) {
        let used = claims.used(at: terms.listener)
        for pinned in terms.roles {
            guard let name = pinned.accounts.last else { continue }
            let limits = settings.roles[pinned.role]?.budget.sandbox ?? .unlimited
            try set(limits, used.share(of: pinned.role), name)
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
    package func isSpent(for role: ModelRole) -> Bool {
        guard !claims.refused.contains(role) else { return true }
        guard let own = settings.roles[role]?.budget else { return false }
        var limits = [
            (campaignLimits, claims.campaign.total),
            (settings.budget.iteration, claims.iteration.total),
            (own.campaign, claims.campaign.share(of: role)),
            (own.iteration, claims.iteration.share(of: role)),
        ]
        if role == .codingAgent {
            limits.append((own.sandbox, claims.usedByCodingAgent.share(of: role)))
        }
        return limits.contains { limit, used in limit.isReached(by: used) }
    }

    /// The calls of a role that failed since one did not; nil where the last one did not fail.
    func failures(of role: ModelRole) -> ProviderFailures? { claims.failing[role] }

    /// How often the broker refused for a budget that a role's sandboxes share, in this run.
    var sharedRefusals: Int { claims.sharedRefusals }

    // MARK: - what the broker tells

    // Counted at once, also within a request; told from the loop, because whoever is told may ask.
    private func take(_ report: BrokerReport) throws(BrokerError) {
        let taken = try claims.take(report)
        if case .call(let call) = report { onCall(call.role) }
        switch report {
        case .call, .spending: noteUse()
        default: break
        }
        guard let notice = taken else { return }
        _ = loop.at(MonotonicTime.now) { [weak self] in
            switch notice {
            case .event(let role, let event): self?.onEvent(role, event)
            case .failure(let role, let failures): self?.onFailures(role, failures)
            case .arrival(let listener): self?.onArrival(listener)
            }
        }
    }

    // Once for all that is told in a moment, and from the loop.
    private func noteUse() {
        guard !isUseNoted else { return }
        isUseNoted = true
        _ = loop.at(MonotonicTime.now.advanced(by: Self.useSpan)) { [weak self] in
            self?.isUseNoted = false
            self?.onUse()
        }
    }

    /// What was used since the last row, calls that still stream included; nil where nothing was.
    package var unbooked: ModelUsage? {
        let usage = claims.unbooked
        return usage.isEmpty ? nil : usage
    }

    /// What was used since the last time, for a row; nothing where nothing was.
    package func takeUsage() -> ModelUsage? { claims.takeUnwritten() }

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
            claims.countGap()
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
        broker = try start()
        try watchBroker()
        for (number, state) in served.sorted(by: { $0.key < $1.key }) {
            try setAccounts(of: state.terms)
            try brokered { () throws(BrokerError) in
                try broker.open(state.terms, endpoint: state.endpoint, bodies: state.bodies)
                if state.isHeld { try broker.hold(number) }
            }
        }
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
