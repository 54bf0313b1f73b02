internal import BrokerClient
internal import BrokerProtocol
internal import HostKernel
internal import LauncherClient
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
internal import SandboxPolicy
internal import Workspace

/// What of models is read as root: keys, certificates, the cassette, and the broker's plan.
public struct ModelInputs {
    /// What the configuration says.
    let settings: ModelSettings
    /// What the broker is started with; holds the keys.
    let start: BrokerClient.Start
    /// The cassette, where there is one.
    let cassette: BrokerClient.Along?

    /// Reads everything, as root; nothing where nobody has a model.
    ///
    /// - Throws: ``SupervisorError``; no text of it holds anything of a key.
    init?(
        _ config: ExperimentConfig,
        of experiment: String,
        policies: PolicySource,
        installation: Installation,
        pythonPrefix: String
    ) throws(SupervisorError) {
        settings = config.models
        guard !settings.roles.isEmpty else { return nil }
        let program = installation.broker
        let resolved = try policies.resolved(
            "broker",
            pythonPrefix: pythonPrefix,
            vaultSplit: nil,
            showing: [program]
        )
        start = BrokerClient.Start(
            plan: CompiledPlan(resolved.plan),
            program: program,
            configuration: try Self.configuration(settings, experiment)
        )
        cassette = try Self.openCassette(settings.cassette, experiment)
    }

    /// The digest of the broker's plan, for the record.
    var planDigest: String { "\(start.plan.digest)" }

    private static func configuration(
        _ settings: ModelSettings,
        _ experiment: String
    ) throws(SupervisorError) -> BrokerConfiguration {
        let owner = try system("look at the experiment", experiment) { () throws(SystemError) in
            try FileStatus(path: experiment).owner
        }
        let host = ModelKeyHost(owners: [0, owner]) { EnvironmentVariable.value(of: $0) }
        var upstreams: [UpstreamTerms] = []
        for endpoint in settings.endpoints {
            upstreams.append(try terms(of: endpoint, host))
        }
        let prices = settings.prices.keys.sorted().compactMap { model in
            settings.prices[model].map {
                PriceTerms(
                    model: model,
                    input: $0.input,
                    output: $0.output,
                    cachedInput: $0.cachedInput
                )
            }
        }
        let mode: CassetteMode? =
            switch settings.cassette {
            case .record: .record
            case .replay: .replay
            case nil: nil
            }
        return BrokerConfiguration(upstreams: upstreams, prices: prices, cassette: mode)
    }

    private static func terms(
        of endpoint: ModelEndpoint,
        _ host: ModelKeyHost
    ) throws(SupervisorError) -> UpstreamTerms {
        let upstream = endpoint.upstream
        var key = ""
        if let source = endpoint.key {
            key = try workspace { () throws(WorkspaceError) in
                try ModelKey(reading: source, on: host).secret
            }
        }
        var trust: String?
        if let file = upstream.trustFile {
            trust = String(decoding: try Installation.contents(file), as: UTF8.self)
        }
        return UpstreamTerms(
            name: endpoint.name,
            url: "\(upstream.url)",
            dialects: upstream.dialects,
            key: SecretText(key),
            trust: trust,
            allowsAnyAddress: upstream.addresses == .any,
            allowsPlainHTTP: upstream.isPlainHTTP
        )
    }

    private static func openCassette(
        _ cassette: ModelCassette?,
        _ experiment: String
    ) throws(SupervisorError) -> BrokerClient.Along? {
        let path: String
        let mode: Descriptor.Mode
        switch cassette {
        case .record(let file): (path, mode) = (file, [.readWrite, .create, .append, .nonBlocking])
        case .replay(let file): (path, mode) = (file, [.read, .nonBlocking])
        case nil: return nil
        }
        let absolute = path.hasPrefix("/") ? path : "\(experiment)/\(path)"
        return try system("open the cassette", absolute) { () throws(SystemError) in
            let file = try Descriptor.open(absolute, mode, permissions: 0o600)
            return Descriptor?.Box(file)
        }
    }
}
