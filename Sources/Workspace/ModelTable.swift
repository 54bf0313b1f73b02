public import ModelDialects
internal import StrictJSON
internal import StrictYAML

/// What is known of models: which of them take an effort, thinking and a temperature, how long their
/// answers may be and what they cost.
///
/// The facts are LiteLLM's (`templates/models/capabilities.json`, which `scripts/model-table` renews).
public struct ModelTable: Sendable, Equatable {
    /// What is known of one model.
    public struct Facts: Sendable, Equatable {
        /// What its requests may hold.
        public let form: ModelForm
        /// The most tokens of a question and its answer.
        public let context: Int
        /// What its tokens cost.
        public let price: ModelPrice?
    }

    /// Where the facts are from: a package and its version.
    public let source: String
    /// The facts by the model's name at its provider.
    public let models: [String: Facts]

    /// A table that knows no model.
    public static let empty = ModelTable(source: "no table", models: [:])

    /// The file, seen from the installation.
    public static let file = "templates/models/capabilities.json"

    private static let schema = "invigilator.model-capabilities/1"

    private init(source: String, models: [String: Facts]) {
        self.source = source
        self.models = models
    }

    /// Reads a table; a member that nobody knows refuses it.
    ///
    /// - Parameter bytes: the file's bytes.
    /// - Throws: ``WorkspaceError``.
    public init(parsing bytes: [UInt8]) throws(WorkspaceError) {
        do throws(JSONError) {
            var reader = try ObjectReader(
                JSONValue(parsing: bytes, limits: .document),
                location: "table"
            )
            guard try reader.requiredString("schema") == Self.schema else {
                throw .member(
                    location: "table.schema",
                    fault: .kind(expected: Self.schema, found: "another word")
                )
            }
            let package = try reader.requiredString("package")
            source = "\(package) \(try reader.requiredString("version"))"
            _ = try reader.requiredString("license")
            let list = try reader.requiredValue("models")
            var models: [String: Facts] = [:]
            var names = try ObjectReader(list, location: "table.models")
            for name in names.remainingNames {
                var entry = try names.requiredObject(name)
                models[name] = try Facts(from: &entry)
                try entry.finish()
            }
            try reader.finish()
            self.models = models
        } catch {
            throw .setting(
                operation: "read what is known of models",
                location: Self.file,
                reason: "\(error)",
                remedy: "install the program's own file again, or renew it with scripts/model-table"
            )
        }
    }

    /// What is known of a model.
    ///
    /// - Parameter name: its name at its provider; a date at its end, and what a fine-tuned model has
    ///   around its name, is looked past.
    /// - Returns: the facts; nil for a model that is not known.
    public func facts(of name: String) -> Facts? {
        if let found = models[name] { return found }
        if name.hasPrefix("ft:") {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            return parts.count > 1 ? facts(of: String(parts[1])) : nil
        }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // `20250929`, or `2025-09-29`.
        for form in [[8], [4, 2, 2]] where Self.ends(parts, in: form) {
            return models[parts.dropLast(form.count).joined(separator: "-")]
        }
        return nil
    }

    /// Whether the last parts are digits, as many as the form says.
    private static func ends(_ parts: [Substring], in form: [Int]) -> Bool {
        parts.suffix(form.count).map(\.utf8.count) == form
            && parts.suffix(form.count).joined().utf8.allSatisfy { (0x30..<0x3A).contains($0) }
    }
}

extension ModelTable.Facts {
    fileprivate init(from reader: inout ObjectReader) throws(JSONError) {
        let provider: ModelForm.Provider = try reader.knownWord("provider")
        let efforts = try reader.texts("efforts")
        let thinking: [ModelTrait.Thinking] = try reader.knownWords("thinking")
        let output = try reader.requiredInteger("output")
        context = try reader.requiredInteger("context")
        form = ModelForm(
            provider: provider,
            efforts: efforts,
            thinksAdaptively: thinking.contains(.adaptive),
            thinksByBudget: thinking.contains(.budget),
            sampling: try reader.knownWord("temperature"),
            mostOutput: output,
            length: .new
        )
        price = try reader.optionalArray("price").map { (values) throws(JSONError) in
            let numbers = values.compactMap(\.intValue)
            guard numbers.count == values.count, (2...3).contains(numbers.count) else {
                throw .member(
                    location: "\(reader.location).price",
                    fault: .kind(expected: "two or three whole numbers", found: "another list")
                )
            }
            return ModelPrice(
                input: numbers[0],
                output: numbers[1],
                cachedInput: numbers.count == 3 ? numbers[2] : nil
            )
        }
    }
}

extension ObjectReader {
    fileprivate mutating func texts(_ name: String) throws(JSONError) -> [String] {
        let values = try requiredArray(name)
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count else { throw refusal(name, "a list of words") }
        return texts
    }

    fileprivate mutating func knownWord<Word: RawRepresentable<String>>(
        _ name: String
    ) throws(JSONError) -> Word {
        guard let word = Word(rawValue: try requiredString(name)) else {
            throw refusal(name, "a known word")
        }
        return word
    }

    fileprivate mutating func knownWords<Word: RawRepresentable<String>>(
        _ name: String
    ) throws(JSONError) -> [Word] {
        let texts = try texts(name)
        let words = texts.compactMap(Word.init)
        guard words.count == texts.count else { throw refusal(name, "known words") }
        return words
    }

    private func refusal(_ name: String, _ expected: String) -> JSONError {
        .member(
            location: "\(location).\(name)",
            fault: .kind(expected: expected, found: "something else")
        )
    }
}

/// One thing that the configuration says a model takes, in place of the table.
public enum ModelTrait: String, Sendable, CaseIterable {
    /// Any word of effort.
    case effort
    /// Thinking of which the model chooses the amount.
    case adaptive = "adaptive-thinking"
    /// A number of tokens for thinking.
    case budget = "thinking-budget"
    /// A temperature.
    case temperature

    fileprivate enum Thinking: String {
        case adaptive, budget
    }
}

extension ModelForm {
    fileprivate init(takes traits: [ModelTrait], length: Length) {
        self.init(
            efforts: traits.contains(.effort) ? nil : [],
            thinksAdaptively: traits.contains(.adaptive),
            thinksByBudget: traits.contains(.budget),
            sampling: traits.contains(.temperature) ? .always : .never,
            length: length
        )
    }
}

extension ModelSettings {
    /// What requests of a role are pinned to, with what is known of its model.
    ///
    /// - Parameters:
    ///   - role: the role.
    ///   - table: what is known of models.
    /// - Returns: the pin; nil for a role without a model.
    public func pin(of role: ModelRole, knowing table: ModelTable) -> ModelPin? {
        guard let pin = pin(of: role), let settings = roles[role] else { return nil }
        // OpenAI's newer models refuse the older name of the limit.
        let isOpenAI = upstreams[settings.upstream]?.url.host == "api.openai.com"
        if let traits = settings.takes {
            return pin.taking(ModelForm(takes: traits, length: isOpenAI ? .new : .asked))
        }
        if let facts = table.facts(of: pin.model) { return pin.taking(facts.form) }
        return pin.taking(isOpenAI ? .bareOfOpenAI : .bare)
    }

    /// What is left out of requests, and which models nobody knows, a line each.
    ///
    /// - Parameter table: what is known of models.
    /// - Returns: the lines, by role.
    public func notices(knowing table: ModelTable) -> [String] {
        ModelRole.allCases.compactMap { role in
            guard let pin = pin(of: role, knowing: table) else { return nil }
            let model = "models.roles.\(role.rawValue): \(pin.model.printablePrefix(80))"
            let dialects = pin.dialects.map { ($0, pin.leftOut(in: $0)) }.filter { !$0.1.isEmpty }
            let said = dialects.map { dialect, words in
                let place = pin.dialects.count > 1 ? "in \(dialect.rawValue) " : ""
                return place + words.joined(separator: ", ")
            }
            let isKnown = roles[role]?.takes != nil || table.facts(of: pin.model) != nil
            guard !isKnown || !said.isEmpty else { return nil }
            let left = said.isEmpty ? "" : ": " + said.joined(separator: "; ")
            let known = "\(model) goes by what \(table.source) knows" + left
            let unknown =
                "\(model) is not known (\(table.source)), and gets the smallest requests" + left
                + "; write takes: [effort, temperature] for a model that takes them"
            return isKnown ? known : unknown
        }
    }
}
