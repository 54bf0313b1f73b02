internal import ModelDialects
internal import StrictYAML

/// auto-harness's keys that name a model for a role.
struct HarnessModels {
    let agentModel: Placed<String>?
    let effort: Placed<ExperimentConfig.ReasoningEffort>?
    let userModel: Placed<String>?

    /// The key that names the model of a role, and what it says.
    func model(of role: ModelRole) -> (key: String, name: Placed<String>)? {
        switch role {
        case .candidate: agentModel.map { ("agent_model", $0) }
        case .userSimulator: userModel.map { ("user_model", $0) }
        case .codingAgent, .judge: nil
        }
    }
}

/// Reads the section `models`.
struct ModelSettingsReader {
    private let harness: HarnessModels
    private var upstreams: [String: ModelUpstream] = [:]
    private var declared: Set<String> = []

    private static let maximumUpstreams = 16
    private static let maximumPrices = 256
    private static let highestPrice = 10_000.0

    /// Reads it; without the section there is no model.
    static func read(_ top: inout MappingReader, _ harness: HarnessModels) -> ModelSettings {
        guard var section = top.mapping("models") else { return .none }
        var reader = ModelSettingsReader(harness: harness)
        let settings = reader.settings(&section, &top)
        section.finish()
        return settings
    }

    private init(harness: HarnessModels) { self.harness = harness }

    private mutating func settings(
        _ section: inout MappingReader,
        _ top: inout MappingReader
    ) -> ModelSettings {
        readUpstreams(&section)
        let prices = Self.readPrices(&section)
        let cassette = Self.readCassette(&section)
        let budget = ModelBudgetReader.readTotal(&section)
        let roles = ModelRoleReader(
            harness: harness,
            upstreams: upstreams,
            declared: declared,
            prices: prices,
            isCostLimited: budget.limitsCost
        ).read(&section, &top)
        let used = Set(roles.values.map(\.upstream))
        for name in upstreams.keys.sorted()
        where !used.contains(name) && section.problems.isEmpty {
            section.refuse(
                "upstreams.\(name)",
                line: section.place.line,
                "no role uses it, so its key would be read for nothing",
                remedy: "remove it, or name it in models.roles"
            )
        }
        if let cassette, section.problems.isEmpty { Self.check(cassette, roles, section) }
        return ModelSettings(
            upstreams: upstreams,
            roles: roles,
            budget: budget,
            prices: prices,
            cassette: cassette?.cassette
        )
    }

    // MARK: - upstreams

    private mutating func readUpstreams(_ section: inout MappingReader) {
        guard var list = section.mapping("upstreams") else { return }
        let names = list.remainingKeys
        if names.count > Self.maximumUpstreams {
            list.refuse(
                "",
                line: list.place.line,
                "there are \(names.count) upstreams",
                remedy: "list at most \(Self.maximumUpstreams)"
            )
        }
        for name in names {
            guard var entry = list.mapping(name) else { continue }
            guard name.isBenchmarkName else {
                list.refuse(
                    name.printablePrefix(60),
                    line: entry.place.line,
                    "the upstream's name is malformed",
                    remedy: "write lower-case letters, digits and «-», beginning with a letter"
                )
                continue
            }
            declared.insert(name)
            upstreams[name] = ModelUpstreamReader(&entry).upstream(entry)
            entry.finish()
        }
    }

    // MARK: - prices and answers kept

    private static func readPrices(_ section: inout MappingReader) -> [String: ModelPrice] {
        guard var list = section.mapping("prices") else { return [:] }
        var prices: [String: ModelPrice] = [:]
        let names = list.remainingKeys
        if names.count > maximumPrices {
            list.refuse(
                "",
                line: list.place.line,
                "there are \(names.count) prices",
                remedy: "list at most \(maximumPrices)"
            )
        }
        for name in names {
            guard var entry = list.mapping(name) else { continue }
            let input = entry.required("input") { price("input", &$0) }
            let output = entry.required("output") { price("output", &$0) }
            let cached = price("cached-input", &entry)
            entry.finish()
            guard let input, let output else { continue }
            prices[name] = ModelPrice(input: input, output: output, cachedInput: cached)
        }
        return prices
    }

    /// Dollars for a million tokens, as millionths of a dollar.
    private static func price(_ key: String, _ entry: inout MappingReader) -> Int? {
        entry.number(key, in: 0...highestPrice).map { Int(($0.value * 1e6).rounded()) }
    }

    /// The section `cassette`, and whether it says that exams ask their models.
    private struct CassetteEntry {
        let cassette: ModelCassette
        let line: Int
        let hasLiveExams: Bool
    }

    private enum ExamAnswers: String, CaseIterable {
        case live
    }

    private static func readCassette(_ section: inout MappingReader) -> CassetteEntry? {
        guard var entry = section.mapping("cassette") else { return nil }
        let record = entry.string("record")
        let replay = entry.string("replay")
        let hasLiveExams = entry.word("exams", of: ExamAnswers.self) != nil
        entry.finish()
        let found: Placed<ModelCassette>
        switch (record, replay) {
        case (let record?, nil): found = Placed(.record(record.value), at: record.place)
        case (nil, let replay?): found = Placed(.replay(replay.value), at: replay.place)
        case (let record?, let replay?):
            entry.refuse(
                "replay",
                line: max(record.line, replay.line),
                "answers are either recorded or replayed",
                remedy: "keep one of the two"
            )
            return nil
        case (nil, nil):
            entry.refuse(
                "",
                line: entry.place.line,
                "it names no file",
                remedy: "write cassette: {record: FILE} or cassette: {replay: FILE}"
            )
            return nil
        }
        return CassetteEntry(cassette: found.value, line: found.line, hasLiveExams: hasLiveExams)
    }

    /// Refuses a cassette beside models of exams whose user does not say that he knows.
    ///
    /// What is said in a sealed exam is kept nowhere, so that no exam can be replayed: a cassette is
    /// the coding agent's.
    private static func check(
        _ entry: CassetteEntry,
        _ roles: [ModelRole: ModelRoleSettings],
        _ section: MappingReader
    ) {
        guard roles[.codingAgent] != nil else {
            section.refuse(
                "cassette",
                line: entry.line,
                "the coding agent has no model whose answers it could hold",
                remedy: "add models.roles.coding-agent and its upstream, or remove the key"
            )
            return
        }
        let speaking = ModelRole.allCases.filter { $0 != .codingAgent && roles[$0] != nil }
        guard !entry.hasLiveExams, !speaking.isEmpty else { return }
        let names = speaking.map(\.rawValue).joined(separator: ", ")
        section.refuse(
            "cassette",
            line: entry.line,
            "it holds no answer to \(names): what is said in sealed exams is never kept",
            remedy: "add exams: live, so that exams ask their upstreams while the coding agent is"
                + " recorded or replayed; or remove these roles"
        )
    }
}
