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
            configuration: try Self.configuration(settings)
        )
        cassette = try Self.openCassette(settings.cassette, experiment)
    }

    /// The digest of the broker's plan, for the record.
    var planDigest: String { "\(start.plan.digest)" }

    private static func configuration(
        _ settings: ModelSettings
    ) throws(SupervisorError) -> BrokerConfiguration {
        let secrets = try workspace { () throws(WorkspaceError) in
            try ModelSecrets(of: settings, on: .ofThisProcess)
        }
        let prices = settings.prices.keys.sorted().compactMap { model in
            settings.prices[model].map { PriceTerms(model: model, $0) }
        }
        let mode: CassetteMode? =
            switch settings.cassette {
            case .record: .record
            case .replay: .replay
            case nil: nil
            }
        return BrokerConfiguration(
            upstreams: settings.endpoints.map { UpstreamTerms($0, secrets) },
            prices: prices,
            cassette: mode
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

extension UpstreamTerms {
    fileprivate init(_ endpoint: ModelEndpoint, _ secrets: ModelSecrets) {
        self.init(
            name: endpoint.name,
            url: endpoint.upstream.url.text,
            dialects: endpoint.upstream.dialects,
            key: SecretText(secrets.keys[endpoint.name]?.secret ?? ""),
            trust: secrets.trust[endpoint.name],
            allowsAnyAddress: endpoint.upstream.addresses == .any,
            allowsPlainHTTP: endpoint.upstream.isPlainHTTP
        )
    }
}

extension PriceTerms {
    fileprivate init(model: String, _ price: ModelPrice) {
        self.init(
            model: model,
            input: price.input,
            output: price.output,
            cachedInput: price.cachedInput
        )
    }
}
