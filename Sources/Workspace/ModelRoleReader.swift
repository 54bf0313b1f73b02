internal import ModelDialects
internal import StrictYAML

/// Reads the roles of the section `models`.
struct ModelRoleReader {
    let harness: HarnessModels
    let upstreams: [String: ModelUpstream]
    /// The names of all upstreams, of those too that were refused.
    let declared: Set<String>
    let prices: [String: ModelPrice]
    /// Whether all roles together may cost no more than something.
    let isCostLimited: Bool

    private typealias Effort = ExperimentConfig.ReasoningEffort

    private static let defaultOutputTokens = 16_384
    private static let defaultConcurrency = 8

    func read(
        _ section: inout MappingReader,
        _ top: inout MappingReader
    ) -> [ModelRole: ModelRoleSettings] {
        var list = section.mapping("roles")
        var roles: [ModelRole: ModelRoleSettings] = [:]
        for role in ModelRole.allCases {
            if var entry = list?.mapping(role.rawValue) {
                roles[role] = self.role(role, &entry)
                entry.finish()
            } else {
                roles[role] = implied(role, top)
            }
            checkPrice(role, roles[role], list ?? section)
        }
        list?.finish()
        return roles
    }

    // MARK: - one role

    private func role(_ role: ModelRole, _ entry: inout MappingReader) -> ModelRoleSettings? {
        let upstream = readUpstream(&entry)
        let key = ModelKeySource.read(&entry)
        let model = model(of: role, at: upstream, &entry)
        let effort = readEffort(role, at: upstream, &entry)
        let temperature = entry.number("temperature", in: 0...2)?.value
        let tokens = entry.integer("max-output-tokens", in: 1...1_000_000)?.value
        let choices = entry.integer("choices", in: 1...16)?.value
        let concurrency = entry.integer("concurrent", in: 1...64)?.value
        let unknownFields = entry.word("unknown-fields", of: RequestPolicy.UnknownFields.self)?
            .value
        let providerTools = entry.word("provider-tools", of: ToolRule.self)?.value
        let budget = ModelBudgetReader.read(&entry)
        let takes = readTraits(&entry)
        guard let upstream, let model else { return nil }
        return ModelRoleSettings(
            upstream: upstream,
            key: key,
            model: model.name,
            alias: model.alias,
            effort: effort,
            temperature: temperature,
            maximumOutputTokens: tokens ?? Self.defaultOutputTokens,
            maximumChoices: choices ?? 1,
            maximumConcurrency: concurrency ?? Self.defaultConcurrency,
            unknownFields: unknownFields ?? .drop,
            providerTools: providerTools ?? .refuse,
            budget: budget,
            takes: takes
        )
    }

    private func readTraits(_ entry: inout MappingReader) -> [ModelTrait]? {
        entry.strings("takes")?.value.compactMap { word in
            if let trait = ModelTrait(rawValue: word.value) { return trait }
            entry.refuse(
                "takes",
                line: word.line,
                "«\(word.value.printablePrefix(40))» is not known",
                remedy: "write a list of: "
                    + ModelTrait.allCases.map(\.rawValue).joined(separator: ", ")
            )
            return nil
        }
    }

    /// A role that only auto-harness's key names, where one upstream can serve it.
    private func implied(_ role: ModelRole, _ top: MappingReader) -> ModelRoleSettings? {
        guard let (key, name) = harness.model(of: role), let upstream = upstreams.keys.first
        else { return nil }
        guard declared.count == 1 else {
            top.refuse(
                key,
                line: name.line,
                "\(declared.count) upstreams could serve this model",
                remedy: "write models.roles.\(role.rawValue): {upstream: NAME}"
            )
            return nil
        }
        let model = ProviderModel(name.value, at: upstream, upstreams[upstream])
        return ModelRoleSettings(
            upstream: upstream,
            key: nil,
            model: model.name,
            alias: model.alias,
            effort: role == .candidate ? harness.effort?.value.rawValue : nil,
            temperature: nil,
            maximumOutputTokens: Self.defaultOutputTokens,
            maximumChoices: 1,
            maximumConcurrency: Self.defaultConcurrency,
            unknownFields: .drop,
            providerTools: .refuse,
            budget: .unlimited,
            takes: nil
        )
    }

    // MARK: - the parts of a role

    private func readUpstream(_ entry: inout MappingReader) -> String? {
        let known = declared.sorted().joined(separator: ", ")
        guard entry.has("upstream") else {
            guard declared.count != 1 else { return declared.first }
            entry.refuse(
                "upstream",
                line: entry.place.line,
                declared.isEmpty ? "there is no upstream" : "several upstreams could serve it",
                remedy: declared.isEmpty
                    ? "add models.upstreams, or remove the role" : "write one of: \(known)"
            )
            return nil
        }
        guard let name = entry.string("upstream") else { return nil }
        guard declared.contains(name.value) else {
            entry.refuse(
                "upstream",
                line: name.line,
                "there is no upstream of this name",
                remedy: "add it to models.upstreams"
                    + (declared.isEmpty ? "" : ", or write one of: \(known)")
            )
            return nil
        }
        return name.value
    }

    private func readEffort(
        _ role: ModelRole,
        at upstream: String?,
        _ entry: inout MappingReader
    ) -> String? {
        let own = entry.wordOrNumber("effort", of: Effort.self, in: 1...1_000_000)
        if let own, let dialects = upstream.flatMap({ upstreams[$0]?.dialects }) {
            check(own, dialects, entry)
        }
        guard role == .candidate, let outer = harness.effort else { return own?.value }
        if let own, own.value != outer.value.rawValue {
            entry.refuse(
                "effort",
                line: own.line,
                "reasoning_effort says \(outer.value.rawValue), this says \(own.value)",
                remedy: "keep one of the two"
            )
        }
        return outer.value.rawValue
    }

    /// A number of tokens means something to some providers only.
    private func check(_ effort: Placed<String>, _ dialects: [Dialect], _ entry: MappingReader) {
        guard Effort(rawValue: effort.value) == nil,
            let deaf = dialects.first(where: { $0.provider == "openai" })
        else { return }
        entry.refuse(
            "effort",
            line: effort.line,
            "\(deaf.rawValue) takes words, not a number of tokens",
            remedy: "write one of: " + Effort.allCases.map(\.rawValue).joined(separator: ", ")
        )
    }

    private func model(
        of role: ModelRole,
        at upstream: String?,
        _ entry: inout MappingReader
    ) -> ProviderModel? {
        let isMissing = !entry.has("model")
        let given = entry.string("model")
        let alias = entry.string("alias")?.value
        guard let upstream else { return nil }
        guard let outer = harness.model(of: role) else {
            guard isMissing else {
                return given.map { ProviderModel(name: $0.value, alias: alias) }
            }
            entry.refuse(
                "model",
                line: entry.place.line,
                "the key is missing",
                remedy: "write the model's name as its provider spells it"
            )
            return nil
        }
        let named = ProviderModel(outer.name.value, at: upstream, upstreams[upstream])
        guard let given else {
            return ProviderModel(name: named.name, alias: alias ?? named.alias)
        }
        guard [named.name, outer.name.value].contains(given.value) || alias == outer.name.value
        else {
            entry.refuse(
                "model",
                line: given.line,
                "\(outer.key) names another model",
                remedy: "keep one of the two, or write the other as this role's alias"
            )
            return nil
        }
        let other = outer.name.value == given.value ? nil : outer.name.value
        return ProviderModel(name: given.value, alias: alias ?? other)
    }

    /// What cannot be counted cannot be limited.
    private func checkPrice(
        _ role: ModelRole,
        _ settings: ModelRoleSettings?,
        _ entry: MappingReader
    ) {
        guard let settings, isCostLimited || settings.budget.limitsCost,
            prices[settings.model] == nil
        else { return }
        entry.refuse(
            role.rawValue,
            line: entry.place.line,
            "its cost is limited, but its model has no price",
            remedy: "add «\(settings.model.printablePrefix(80))» to models.prices"
        )
    }
}

/// A model as its provider names it.
struct ProviderModel {
    let name: String
    let alias: String?

    init(name: String, alias: String?) {
        self.name = name
        self.alias = alias
    }

    /// Takes auto-harness's spelling, which may begin with the provider and a slash.
    ///
    /// The first part is left out where it names the upstream, or the only provider that speaks one
    /// of its dialects; elsewhere it is part of the name, as resellers have it.
    init(_ text: String, at name: String, _ upstream: ModelUpstream?) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let providers = Set((upstream?.dialects ?? []).map(\.provider)).union([name])
        guard parts.count == 2, !parts[1].isEmpty, providers.contains(String(parts[0])) else {
            self.init(name: text, alias: nil)
            return
        }
        self.init(name: String(parts[1]), alias: text)
    }
}

extension Dialect {
    /// The provider whose dialect it is, as model names of auto-harness begin with it.
    fileprivate var provider: String {
        switch self {
        case .openAIChat, .openAIResponses: "openai"
        case .anthropicMessages: "anthropic"
        case .geminiGenerate: "gemini"
        }
    }
}
