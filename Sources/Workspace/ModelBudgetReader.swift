internal import StrictYAML

/// Reads a `budget` of the section `models`.
enum ModelBudgetReader {
    private static let mostRequests = 1_000_000_000
    private static let mostTokens = 1_000_000_000_000
    private static let highestCost = 1_000_000.0

    /// The limits of one role.
    static func read(_ entry: inout MappingReader) -> ModelBudget {
        read(&entry, scopes: ["sandbox", "iteration", "campaign"])
    }

    /// The limits of all roles together; a single sandbox belongs to one role.
    static func readTotal(_ entry: inout MappingReader) -> ModelBudget {
        read(&entry, scopes: ["iteration", "campaign"])
    }

    private static func read(_ entry: inout MappingReader, scopes: [String]) -> ModelBudget {
        guard var section = entry.mapping("budget") else { return .unlimited }
        var limits: [(scope: String, line: Int, limits: ModelLimits)] = []
        for scope in scopes {
            guard var part = section.mapping(scope) else { continue }
            limits.append((scope, part.place.line, readLimits(&part)))
            part.finish()
        }
        section.finish()
        for (index, inner) in limits.enumerated() {
            for outer in limits[(index + 1)...] {
                guard let measure = inner.limits.exceeding(outer.limits) else { continue }
                section.refuse(
                    inner.scope,
                    line: inner.line,
                    "more \(measure) than the whole \(outer.scope) may use",
                    remedy: "lower this limit, or raise the one of \(outer.scope)"
                )
            }
        }
        func of(_ scope: String) -> ModelLimits {
            limits.first { $0.scope == scope }?.limits ?? .unlimited
        }
        return ModelBudget(
            sandbox: of("sandbox"),
            iteration: of("iteration"),
            campaign: of("campaign")
        )
    }

    private static func readLimits(_ part: inout MappingReader) -> ModelLimits {
        let cost = part.number("cost", in: 0.000_001...highestCost)
        return ModelLimits(
            requests: part.integer("requests", in: 1...mostRequests)?.value,
            tokens: part.integer("tokens", in: 1...mostTokens)?.value,
            costMicrodollars: cost.map { Int(($0.value * 1e6).rounded()) }
        )
    }
}

extension ModelLimits {
    /// What of these is more than another limit allows.
    fileprivate func exceeding(_ outer: ModelLimits) -> String? {
        func exceeds(_ inner: Int?, _ outer: Int?) -> Bool {
            guard let inner, let outer else { return false }
            return inner > outer
        }
        if exceeds(requests, outer.requests) { return "requests" }
        if exceeds(tokens, outer.tokens) { return "tokens" }
        return exceeds(costMicrodollars, outer.costMicrodollars) ? "cost" : nil
    }
}

extension ModelBudget {
    /// Whether a cost must be counted.
    var limitsCost: Bool {
        [sandbox, iteration, campaign].contains { $0.costMicrodollars != nil }
    }
}
