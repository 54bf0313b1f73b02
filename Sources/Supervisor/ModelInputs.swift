internal import BrokerClient
internal import BrokerProtocol
internal import HostKernel
internal import LauncherClient
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
internal import StrictJSON
internal import SandboxPolicy
internal import Workspace

/// What of models is read as root: keys, certificates, the cassette, and the broker's plan.
public struct ModelInputs {
    /// What the configuration says.
    let settings: ModelSettings
    /// What the broker is started with; holds the keys.
    let start: BrokerClient.Start
    /// What is known of models.
    let table: ModelTable
    /// What providers are told in place of the names that agents give themselves: the same in every request
    /// of the experiment, and nothing that says which it is.
    let client: String
    /// The cassette, where there is one.
    let cassette: CassetteFile?

    /// Reads everything, as root; nothing where nobody has a model.
    ///
    /// - Throws: ``SupervisorError``; no text of it holds anything of a key.
    init?(
        _ config: ExperimentConfig,
        of experiment: String,
        id: String,
        owner: FileRights,
        policies: PolicySource,
        installation: Installation,
        pythonPrefix: String
    ) throws(SupervisorError) {
        settings = config.models
        guard !settings.roles.isEmpty else { return nil }
        let known = try installation.contents(of: ModelTable.file)
        client = String(SHA256Digest.hex(of: Array("invigilator client \(id)".utf8)).prefix(32))
        table = try workspace { () throws(WorkspaceError) in try ModelTable(parsing: known) }
        let host = ModelKeyHost.ofThisProcess(
            for: owner,
            isShared: try PolicySource.sharedKeys()
        )
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
            configuration: try Self.configuration(settings, host)
        )
        let cassette = settings.cassette
        self.cassette = try workspace { () throws(WorkspaceError) in
            try cassette.map { (cassette) throws(WorkspaceError) in
                try CassetteFile(cassette, seenFrom: experiment, on: host)
            }
        }
    }

    /// What is left out of requests because a model does not take it, a line each.
    var notices: [String] { settings.notices(knowing: table) }

    /// The digest of what each role's requests may hold, as the table and the configuration say it.
    var formsDigest: String {
        let forms = ModelRole.allCases.compactMap { role in
            settings.pin(of: role, knowing: table).map { (role.rawValue, $0.form.value) }
        }
        let value = JSONValue.object(Dictionary(uniqueKeysWithValues: forms))
        return SHA256Digest.hex(of: value.canonicalBytes)
    }

    /// What the broker runs under.
    var brokerPlan: CompiledPlan { start.plan }
    /// The digest of the broker's plan, for the record.
    var planDigest: String { "\(start.plan.digest)" }

    /// The key that the split is drawn under: a replay's is the recorded night's, because its coding
    /// agent must be told of the same tasks; a recording keeps a fresh one.
    ///
    /// - Throws: ``SupervisorError``.
    func splitKey(orFresh fresh: [UInt8]) throws(SupervisorError) -> [UInt8] {
        if case .record = cassette?.cassette {
            try workspace { () throws(WorkspaceError) in try cassette?.begin(splitKey: fresh) }
        }
        return cassette?.splitKey ?? fresh
    }

    private static func configuration(
        _ settings: ModelSettings,
        _ host: ModelKeyHost
    ) throws(SupervisorError) -> BrokerConfiguration {
        let secrets = try workspace { () throws(WorkspaceError) in
            try ModelSecrets(of: settings, on: host)
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
