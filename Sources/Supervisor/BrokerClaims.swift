internal import BrokerClient
internal import BrokerProtocol
internal import ModelDialects

/// What the brokers of one run say was used, and how far they are believed.
///
/// A broker that was broken into says what it wants. Whatever it says, and however often, takes one place
/// for each role and kind; what it cannot know, because the listener is not open or the role does not
/// speak there, is an error, and another broker takes its place.
struct BrokerClaims {
    /// What somebody has to be told of.
    enum Notice: Equatable {
        /// The first event of its kind and role.
        case event(ModelRole, ModelEvent)
        /// A provider failed again: how often now in a row, and the last time how.
        case failure(ModelRole, ProviderFailures)
        /// The first request since a listener is held.
        case arrival(Int)
    }

    private struct Desk {
        let roles: [ModelRole]
        let session: String
        let mostCalls: Int
        var isHeld = false
        var hasArrival = false
        // What calls that still stream have used, by their numbers.
        var open: [Int: CallSpending] = [:]
        // Why calls fail that have not ended, by who made them.
        var reasons: [ModelRole: String] = [:]
    }

    /// What was used since the last row.
    private(set) var unwritten = ModelUsage()
    /// What was used before this run, and in it.
    private(set) var campaign: ModelUsage
    /// What was used in this iteration.
    private(set) var iteration = ModelUsage()
    /// Whom the broker refused for a budget, in this iteration.
    private(set) var refused: Set<ModelRole> = []
    /// How often it refused for a budget that a role's sandboxes share.
    private(set) var sharedRefusals = 0

    private var desks: [Int: Desk] = [:]
    private var sessions: [String: ModelUsage] = [:]
    private var told: [ModelRole: Set<ModelEvent.Kind>] = [:]
    private var toldFailures = 0
    /// Whose calls fail, one after the other.
    private(set) var failing: [ModelRole: ProviderFailures] = [:]
    // The longest row of failures that was told of; no success takes it back, or who can make calls fail and
    // succeed would be told of without end.
    private var toldUpTo: [ModelRole: Int] = [:]

    private static let sharedAccounts = ["campaign", "iteration"]

    // A failure has a text of its own, so that the kind alone is no reason to tell only the first.
    private static let maximumFailures = 10

    /// Begins with what was used before this run.
    init(campaign: ModelUsage) { self.campaign = campaign }

    // MARK: - listeners

    /// The name of the session whose budget a listener draws on.
    ///
    /// A rollout's sandbox is one session. The coding agent's lasts as long as the run: an agent
    /// that ends and is started again, in its home as it left it, has no new budget for it.
    static func session(of listener: Int, _ roles: [ModelRole]) -> String {
        roles.first == .codingAgent ? "sandbox:coding-agent" : "sandbox:\(listener)"
    }

    /// A budget was extended: who was refused may ask again.
    mutating func forgetRefusals() { refused = [] }

    /// A listener is about to be opened.
    ///
    /// - Parameters:
    ///   - listener: its number.
    ///   - roles: who speaks there.
    ///   - mostCalls: the most calls at the same time.
    mutating func open(_ listener: Int, roles: [ModelRole], atMost mostCalls: Int) {
        let session = Self.session(of: listener, roles)
        desks[listener] = Desk(roles: roles, session: session, mostCalls: mostCalls)
        if sessions[session] == nil { sessions[session] = ModelUsage() }
    }

    /// A listener is closed: nothing can be said of it any more.
    mutating func close(_ listener: Int) {
        bookOpenCalls(of: listener)
        guard let desk = desks.removeValue(forKey: listener) else { return }
        if desk.roles.first != .codingAgent { sessions[desk.session] = nil }
    }

    /// A listener is held from now on, or no more.
    mutating func setHeld(_ listener: Int, _ isHeld: Bool) {
        desks[listener]?.isHeld = isHeld
        desks[listener]?.hasArrival = false
    }

    /// What a listener's session used.
    func used(at listener: Int) -> ModelUsage {
        desks[listener].flatMap { sessions[$0.session] } ?? ModelUsage()
    }

    /// What the coding agent's session used.
    var usedByCodingAgent: ModelUsage {
        sessions[Self.session(of: 0, [.codingAgent])] ?? ModelUsage()
    }

    // MARK: - counting

    /// A new iteration has begun.
    mutating func beginIteration() {
        iteration = ModelUsage()
        refused = []
    }

    /// A broker was lost, and every call with it; they are paid as far as they were told of.
    mutating func countGap() {
        unwritten.gaps += 1
        for listener in desks.keys { bookOpenCalls(of: listener) }
    }

    private mutating func bookOpenCalls(of listener: Int) {
        guard let desk = desks[listener] else { return }
        desks[listener]?.open = [:]
        for spending in desk.open.values {
            unwritten.add(spending, isCut: true)
            campaign.add(spending, isCut: true)
            iteration.add(spending, isCut: true)
            sessions[desk.session]?.add(spending, isCut: true)
        }
    }

    /// What calls that still stream have used.
    var openCalls: [CallSpending] { desks.values.flatMap(\.open.values) }

    /// What was used since the last row, calls that still stream included.
    var unbooked: ModelUsage {
        openCalls.reduce(into: unwritten) { $0.add($1, isCut: false) }
    }

    /// What was used since the last time, for a row; nothing where nothing was.
    mutating func takeUnwritten() -> ModelUsage? {
        guard !unwritten.isEmpty else { return nil }
        defer { unwritten = ModelUsage() }
        return unwritten
    }

    /// Takes what a broker tells by itself.
    ///
    /// - Parameter report: what it tells.
    /// - Returns: what somebody has to be told of.
    /// - Throws: ``BrokerError/protocolBroken(during:detail:)`` where no broker can say so.
    mutating func take(_ report: BrokerReport) throws(BrokerError) -> Notice? {
        switch report {
        case .call(let call):
            let desk = try desk(call.listener, role: call.role)
            desks[call.listener]?.open[call.number] = nil
            unwritten.add(call)
            campaign.add(call)
            iteration.add(call)
            sessions[desk.session]?.add(call)
            return follow(call)
        case .spending(let spending):
            let desk = try desk(spending.listener, role: spending.role)
            guard desk.open[spending.number] != nil || desk.open.count < desk.mostCalls else {
                throw Self.lie(
                    "more calls are open at listener \(spending.listener) than it may have"
                )
            }
            desks[spending.listener]?.open[spending.number] = spending
            return nil
        case .event(let listener, let role, let event):
            let desk = try desk(listener, role: role)
            // What cannot be read names no model; then whoever speaks at the listener asked for it.
            let role = role ?? desk.roles[0]
            unwritten.add(event, of: role)
            if event.kind == .budgetSpent {
                refused.insert(role)
                // The broker names the account; one of a sandbox's own is nobody else's.
                if Self.sharedAccounts.contains(where: { event.detail.hasPrefix("account \($0)") })
                {
                    sharedRefusals += 1
                }
            }
            if [.upstreamFailed, .rateLimited].contains(event.kind) {
                desks[listener]?.reasons[role] = event.detail
            }
            guard told[role, default: []].insert(event.kind).inserted else { return nil }
            return .event(role, event)
        case .arrived(let listener):
            let desk = try desk(listener, role: nil)
            // One may have come before the broker read of the release.
            guard desk.isHeld, !desk.hasArrival else { return nil }
            desks[listener]?.hasArrival = true
            return .arrival(listener)
        case .failed(let listener, let failure):
            var role = ModelRole.codingAgent
            if let listener { role = try desk(listener, role: nil).roles[0] }
            let event = ModelEvent(.upstreamFailed, "\(failure)")
            unwritten.add(event, of: role)
            guard toldFailures < Self.maximumFailures else { return nil }
            toldFailures += 1
            return .event(role, event)
        case .ready, .configured, .opened, .closed:
            throw Self.lie("it answers what nobody asked")
        }
    }

    // Whether a call failed is known when it ends: one that was tried again may succeed, and what the broker
    // itself refuses is no call.
    private mutating func follow(_ call: CallRecord) -> Notice? {
        let role = call.role
        let reason = desks[call.listener]?.reasons.removeValue(forKey: role)
        guard call.status >= 400 || call.isCut else {
            if let failures = failing.removeValue(forKey: role) {
                unwritten.failing[role] = ProviderFailures(times: 0, words: failures.words)
            }
            return nil
        }
        // Who hangs up, or has no budget left, says nothing of the provider.
        guard let reason else { return nil }
        let failures = ProviderFailures(times: (failing[role]?.times ?? 0) + 1, words: reason)
        failing[role] = failures
        unwritten.failing[role] = failures
        // Each doubling, once: what is told is bounded, and the second time is told.
        guard failures.isWorthTelling, failures.times > toldUpTo[role, default: 0] else {
            return nil
        }
        toldUpTo[role] = failures.times
        return .failure(role, failures)
    }

    private func desk(_ listener: Int, role: ModelRole?) throws(BrokerError) -> Desk {
        guard let desk = desks[listener] else {
            throw Self.lie("it reports of listener \(listener), which is not open")
        }
        if let role, !desk.roles.contains(role) {
            throw Self.lie("it reports of \(role.rawValue) at listener \(listener) of another role")
        }
        return desk
    }

    private static func lie(_ detail: String) -> BrokerError {
        .protocolBroken(during: "serve models", detail: detail)
    }
}
