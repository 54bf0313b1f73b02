internal import ExamResults
internal import Gate
internal import StrictJSON

// The members that say how sealed exams are judged; all are absent where one run is compared with
// the best score, as in rows of older versions.

extension BodyReader {
    /// How often every task is run.
    mutating func trials() throws(LoopError) -> Int {
        let trials = try optionalInteger("trials") ?? 1
        guard (1...1_000).contains(trials) else { throw refused("trials is not from 1 to 1000") }
        return trials
    }

    /// What the sealed exam must show.
    mutating func sealedRule() throws(LoopError) -> SealedRule {
        guard let name = try optionalString("rule") else { return .ratchet }
        let budget = ErrorBudget(error: try proportion("error"), tests: try integer("tests"))
        switch name {
        case "paired": return .paired(budget)
        case "non-inferior": return .nonInferior(budget, margin: try proportion("margin"))
        default: throw refused("the rule is none of this version")
        }
    }

    /// A member of any form, where there is one.
    mutating func optionalMember(_ name: String) throws(LoopError) -> JSONValue? {
        try take { reader throws(JSONError) in reader.optionalValue(name) }
    }

    /// A list of texts, empty where there is none.
    mutating func optionalTexts(_ name: String) throws(LoopError) -> [String] {
        guard let list = try optionalMember(name) else { return [] }
        let texts = (list.arrayValue ?? []).compactMap(\.stringValue)
        guard let count = list.arrayValue?.count, count == texts.count else {
            throw refused("\(name) is no list of texts")
        }
        return texts
    }

    /// The digest of a candidate, where there is one.
    mutating func optionalDigest(_ name: String) throws(LoopError) -> CandidateDigest? {
        try optionalString(name).map { hex throws(LoopError) in
            try exam { () throws(ExamError) in try CandidateDigest(hex: hex) }
        }
    }

    /// A mean over so many rollouts, where there is one.
    mutating func mean(_ name: String, of rollouts: Int) throws(LoopError) -> Score? {
        try optionalNumber(name).map { mean throws(LoopError) in
            try exam { () throws(ExamError) in
                try Score(replayingMean: mean, count: rollouts)
            }
        }
    }
}

extension BodyWriter {
    /// Adds the digest of a candidate, where there is one.
    mutating func add(_ name: String, _ digest: CandidateDigest?) {
        add(optional: name, digest?.hex)
    }

    /// Adds the rule, and what its tests may spend.
    mutating func add(_ rule: SealedRule) {
        guard let budget = rule.budget else { return }
        add("rule", rule.name)
        add("error", budget.error)
        add("tests", budget.tests)
        if case .nonInferior(_, let margin) = rule { add("margin", margin) }
    }
}
