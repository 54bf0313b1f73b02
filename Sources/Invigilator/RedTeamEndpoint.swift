// Attacks of programs that have a model: the shipped sandboxes with an endpoint, a real broker under its
// shipped policy, and behind it a model of the red team's own that tells what reached it.
//
// Order: as root the plans, the programs and the model, which gives root up once it listens; then, as the
// supervisor's user, the broker; then two sandboxes of each role, each with a listener of its own. The
// control of what is asked at the endpoint is a proxy of the usual kind, in a sandbox without a broker.

internal import BrokerClient
internal import BrokerProtocol
internal import HostKernel
internal import HostProbe
internal import LauncherClient
internal import LinuxKernel
internal import ModelDialects
internal import RedTeam
internal import SandboxPlan
internal import SandboxPolicy
internal import Supervisor

/// A model, and who asks it.
final class RedTeamEndpoint {
    private let plans: [SandboxPlan]
    private let controlPlan: SandboxPlan
    private let broker: CompiledPlan
    private let brokerProgram: String
    private let attacks: [UInt8]
    private let naive: [UInt8]
    private let python: PythonInterpreter
    private let key: String
    private var model: Int32?
    private var keeper: Descriptor?.Box?
    private var ports: [Int] = []
    private var lastListener = 0

    private static let folder = "templates/red-team/"
    private static let attacksName = "endpoint_attacks.py"
    private static let naiveName = "naive_endpoint.py"
    private static let dialects: [Dialect] = [.openAIChat, .openAIResponses]
    // More than the other attacks ask, and fewer than the one that asks until it is stopped.
    private static let requests = 64

    /// Resolves the plans and reads the programs, as root.
    init(
        _ roles: [SandboxRole],
        split: String,
        python: PythonInterpreter,
        installation: Installation,
        options: PolicyOptions
    ) throws(SupervisorError) {
        let layout = options.state.layout()
        let source = PolicySource(directory: try options.policyDirectory(), layout: layout)
        func plan(_ role: SandboxRole) throws(SupervisorError) -> SandboxPlan {
            try source.plan(
                role == .coding ? "coding-agent" : "\(role.label)-with-model",
                pythonPrefix: python.sandboxPrefix,
                vaultSplit: role == .examiner ? split : nil
            )
        }
        var resolved: [SandboxPlan] = []
        for role in roles { resolved.append(RedTeamRun.demandingLess(try plan(role))) }
        plans = resolved
        controlPlan = RedTeamRun.demandingLess(try plan(.coding))
        brokerProgram = installation.broker
        broker = try Self.brokerPlan(showing: installation.broker, options)
        attacks = try installation.contents(of: Self.folder + Self.attacksName)
        naive = try installation.contents(of: Self.folder + Self.naiveName)
        self.python = python
        let bytes = try kernel("draw a key", "red team") { () throws(SystemError) in
            try KernelRandom.bytes(12)
        }
        key = "sk-red-team-" + bytes.map { String(UInt16($0) + 256, radix: 16) }.joined()
    }

    private static func brokerPlan(
        showing program: String,
        _ options: PolicyOptions
    ) throws(SupervisorError) -> CompiledPlan {
        let library = try options.library()
        let policy = try options.policy("broker", in: library).showing([program])
        let resolver = PolicyResolver(groups: library.groups, context: try options.context())
        do throws(PolicyRefusal) {
            return CompiledPlan(RedTeamRun.demandingLess(try resolver.resolve(policy).plan))
        } catch { throw SupervisorError(.usage, error) }
    }

    /// What attacks are told that look for the key: the key in a form that is not the key.
    var told: [String: String] {
        let masked = key.utf8.map { String(UInt16($0 ^ 0x5A) + 256, radix: 16).dropFirst() }
        return ["key-mask": masked.joined(), "endpoint-port": "\(NetworkView.port)"]
    }

    // MARK: - the model

    /// Starts the model, as root, and waits until it listens.
    func startModel() throws(SupervisorError) {
        let words = [
            "-I", "-S", "-B", "-c", String(decoding: naive, as: UTF8.self), "model",
            "\(StateLayout.supervisor)",
        ]
        let started = try kernel("start a model", python.path) { () throws(SystemError) in
            try RedTeamChild(python.path, words)
        }
        model = started.pid
        keeper = started.keeper
        let line = try kernel("read the model's ports", python.path) { () throws(SystemError) in
            try started.words.withDescriptor { (words) throws(SystemError) in
                try words.read(atMost: 64)
            } ?? []
        }
        ports = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Int($0) }
        guard ports.count == 2 else {
            throw Self.failure("start a model", python.path, "it named no ports")
        }
    }

    /// Ends the model.
    func close() throws(SupervisorError) {
        keeper = nil
        guard let pid = model else { return }
        model = nil
        try kernel("end the model", python.path) { () throws(SystemError) in
            _ = try ProcessEnd.wait(for: pid)
        }
    }

    private static func failure(
        _ operation: String,
        _ location: String,
        _ reason: String
    ) -> SupervisorError {
        SupervisorError(
            .hostFailed,
            operation: operation,
            location: location,
            reason: reason,
            remedy: "look at its last words above; report this if there are none"
        )
    }

    // MARK: - attacks

    /// What the attacks met with.
    struct Findings {
        /// On the proxy.
        var control: [String: Answer] = [:]
        /// In sandboxes with a model.
        var inside: [SandboxRole: [String: Answer]] = [:]
    }

    /// Where attacks are made, and with what.
    struct Field {
        /// The attacks' program.
        let program: [UInt8]
        /// What the victims of the host are called.
        let settings: [String: String]
        /// Where sandboxes are started.
        let site: SandboxSite
        /// Waits until sandboxes are gone.
        let wait: ([RedTeamRoom.Guest]) throws(SupervisorError) -> Void
    }

    /// Makes the attacks of this family, as the supervisor's user.
    func findings(of probes: [Probe], on field: Field) throws(SupervisorError) -> Findings {
        var findings = Findings()
        let asking = probes.filter { $0.launch == .request }
        if !asking.isEmpty {
            findings.control = try control(asking.flatMap(\.words), field)
        }
        let client = try startBroker(field.site)
        for plan in plans {
            let own = probes.filter { $0.roles.contains(plan.role) }
            findings.inside[plan.role] = try answers(to: own, in: plan, field, client)
        }
        try brokered { () throws(BrokerError) in try client.end() }
        return findings
    }

    private func control(
        _ words: [String],
        _ field: Field
    ) throws(SupervisorError) -> [String: Answer] {
        let room = try room(controlPlan, field)
        try room.place(program: attacks, named: Self.attacksName)
        let names = words.map(Self.name)
        let guest = try room.run(naive, named: Self.naiveName, ["control"] + names) {
            $0.network = .loopback
        }
        try field.wait([guest])
        return ProbeOutput(guest.output).answers
    }

    private func answers(
        to probes: [Probe],
        in plan: SandboxPlan,
        _ field: Field,
        _ client: BrokerClient
    ) throws(SupervisorError) -> [String: Answer] {
        let room = try room(plan, field)
        var guests: [RedTeamRoom.Guest] = []
        let around = probes.filter { $0.launch == .endpoint }.flatMap(\.words)
        if !around.isEmpty {
            let told = field.settings.merging(told) { _, new in new }
            guests.append(try room.attack(around, told))
        }
        let through = probes.filter { $0.launch == .request }.flatMap(\.words)
        if !through.isEmpty {
            let words = ["\(NetworkView.port)", "\(ports[1])"] + through.map(Self.name)
            guests.append(try room.run(attacks, named: Self.attacksName, words))
        }
        var listeners: [Int] = []
        for guest in guests { listeners.append(try serve(guest, plan.role, client)) }
        try field.wait(guests)
        for listener in listeners {
            try brokered { () throws(BrokerError) in _ = try client.close(listener) }
        }
        return guests.map { ProbeOutput($0.output).answers }
            .reduce(into: [:]) { all, one in all.merge(one) { _, new in new } }
    }

    private static func name(_ word: String) -> String {
        String(word.dropFirst(ProbeFamily.endpoint.rawValue.count + 1))
    }

    private func room(
        _ plan: SandboxPlan,
        _ field: Field
    ) throws(SupervisorError) -> RedTeamRoom {
        let own = plan.role == .coding ? "\(python.sandboxPrefix)/bin/python3" : "/usr/bin/python3"
        return try RedTeamRoom(plan, probe: field.program, python: own, on: field.site)
    }

    // MARK: - the broker

    private func startBroker(_ site: SandboxSite) throws(SupervisorError) -> BrokerClient {
        let upstream = UpstreamTerms(
            name: "model",
            url: "http://127.0.0.1:\(ports[0])/v1",
            dialects: Self.dialects,
            key: SecretText(key),
            trust: nil,
            allowsAnyAddress: true,
            allowsPlainHTTP: true
        )
        let start = BrokerClient.Start(
            plan: broker,
            program: brokerProgram,
            configuration: BrokerConfiguration(upstreams: [upstream], prices: [], cassette: nil)
        )
        let null = try kernel("open the broker's log", "/dev/null") { () throws(SystemError) in
            Descriptor?.Box(try Descriptor.open("/dev/null", .readWrite))
        }
        guard let log = null.take() else { fatalError("a box that was just filled is full") }
        return try brokered { () throws(BrokerError) in
            let client = try BrokerClient(start, on: site.launcher, log: log)
            // What was asked for and refused is seen from inside; nobody counts it here.
            client.onReport = { _ in }
            return client
        }
    }

    private func serve(
        _ guest: RedTeamRoom.Guest,
        _ role: SandboxRole,
        _ client: BrokerClient
    ) throws(SupervisorError) -> Int {
        guard let endpoint = guest.sandbox?.endpoint else {
            throw Self.failure("serve a sandbox", role.label, "it has no endpoint")
        }
        lastListener += 1
        let listener = lastListener
        let account = AccountTerms(
            name: "sandbox:\(listener)",
            requests: Self.requests,
            tokens: nil,
            microdollars: nil
        )
        let terms = ListenerTerms(
            listener: listener,
            roles: Self.pins(of: role).map { role, model in
                PinnedRole(role: role, pin: Self.pin(model), accounts: [account.name])
            },
            isSealed: role != .coding
        )
        try brokered { () throws(BrokerError) in
            try client.set(account)
            try client.open(terms, endpoint: endpoint)
        }
        do { _ = endpoint.take() }
        return listener
    }

    private static func pins(of role: SandboxRole) -> [(ModelRole, String)] {
        switch role {
        case .coding, .broker: [(.codingAgent, "pinned-model")]
        case .candidate: [(.candidate, "pinned-model")]
        case .examiner: [(.userSimulator, "pinned-model"), (.judge, "judges-model")]
        }
    }

    private static func pin(_ model: String) -> ModelPin {
        ModelPin(
            upstream: "model",
            dialects: dialects,
            model: model,
            effort: "low",
            temperature: 0.5,
            maxOutputTokens: 100
        )
    }

    private func brokered<Value>(
        _ body: () throws(BrokerError) -> Value
    ) throws(SupervisorError) -> Value {
        do throws(BrokerError) { return try body() } catch {
            throw SupervisorError(.hostFailed, error)
        }
    }
}

// What a run does about it.
extension RedTeamRun {
    /// The attacks of programs that have a model.
    static func endpointProbes(_ probes: [Probe]) -> [Probe] {
        probes.filter { [.endpoint, .request].contains($0.launch) }
    }

    func performEndpointControls() throws(SupervisorError) {
        let words = probes.filter { $0.launch == .endpoint }.flatMap(\.words)
        guard let endpoint, !words.isEmpty else { return }
        let told = endpoint.told.map { "\($0.key)=\($0.value)" }
        controlAnswers.merge(try stage.control(words, told: told)) { _, new in new }
    }

    func attackEndpoint(_ program: [UInt8], _ site: SandboxSite) throws(SupervisorError) {
        guard let endpoint else { return }
        let field = RedTeamEndpoint.Field(
            program: program,
            settings: attackSettings(of: stage),
            site: site,
            wait: { guests throws(SupervisorError) in try self.wait(for: guests, site) }
        )
        let findings = try endpoint.findings(of: Self.endpointProbes(probes), on: field)
        controlAnswers.merge(findings.control) { _, new in new }
        for (role, answers) in findings.inside {
            insideAnswers[role, default: [:]].merge(answers) { _, new in new }
        }
    }
}
