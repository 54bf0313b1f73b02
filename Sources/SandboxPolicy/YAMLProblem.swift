internal import Yams

/// Why a text is no YAML, in words.
enum YAMLProblem {
    /// The line and the reason.
    static func explanation(of error: any Error) -> (line: Int, reason: String) {
        guard let error = error as? YamlError else { return (1, "the YAML cannot be read") }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return (mark.line, problem)
        case .duplicatedKeysInMapping(let keys, let context):
            return (context.mark.line, "duplicate key \(keys.joined(separator: ", "))")
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem),
            .representer(let problem):
            return (1, problem)
        case .no, .memory, .dataCouldNotBeDecoded:
            return (1, "the YAML cannot be read")
        }
    }
}

extension PolicyNode {
    /// What the node is, for "expected …, found …".
    var kind: String {
        switch content {
        case .text(let text): text.isEmpty ? "nothing" : "the text \(text.debugDescription)"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }
}
