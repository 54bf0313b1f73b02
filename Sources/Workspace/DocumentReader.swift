internal import Yams

/// A value with the line that it stands on.
struct Located<Value> {
    let value: Value
    let line: Int
}

/// Collects what is wrong with one document, so that a reader is told everything at once.
final class ProblemList {
    private(set) var problems: [DocumentProblem] = []

    func add(_ line: Int, _ key: String, _ reason: String, remedy: String) {
        problems.append(DocumentProblem(line: line, key: key, reason: reason, remedy: remedy))
    }

    /// Throws what was collected, if anything was.
    func check(operation: String, file: String) throws(WorkspaceError) {
        guard !problems.isEmpty else { return }
        let ordered = problems.enumerated()
            .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
        throw .document(DocumentProblems(operation: operation, file: file, problems: ordered))
    }
}

/// Reads one YAML document whose top is a mapping.
///
/// Anchors and aliases are refused, as in policies: what a line says stands on that line.
enum DocumentReader {
    /// The largest document; a configuration that is larger is not a configuration.
    static let maximumBytes = 64 * 1024

    static func top(
        of bytes: [UInt8],
        operation: String,
        file: String,
        list: ProblemList
    ) throws(WorkspaceError) -> MappingReader {
        func refused(_ line: Int, _ reason: String, _ remedy: String) -> WorkspaceError {
            let problem = DocumentProblem(line: line, key: "", reason: reason, remedy: remedy)
            return .document(
                DocumentProblems(operation: operation, file: file, problems: [problem])
            )
        }
        guard bytes.count <= maximumBytes else {
            throw refused(1, "the file has \(bytes.count) bytes", "keep it under 64 KiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refused(1, "the file is not UTF-8", "save it as UTF-8")
        }
        let node: Node?
        do {
            let parser = try Yams.Parser(yaml: text)
            // The parser owns the anchors and its nodes refer to them weakly (Yams 6.2): without it
            // every anchor would look absent.
            let (root, anchored) = try withExtendedLifetime(parser) {
                let root = try parser.singleRoot()
                return (root, root.flatMap(anchoredLine))
            }
            if let anchored {
                throw refused(anchored, "anchors and aliases are refused", "write the value out")
            }
            node = root
        } catch let error as WorkspaceError {
            throw error
        } catch let error as YamlError {
            let (line, reason) = explain(error)
            throw refused(line, reason, "correct the YAML there")
        } catch {
            throw refused(1, "the YAML cannot be read", "correct the YAML")
        }
        guard case .mapping(let mapping)? = node else {
            throw refused(1, "the document is no mapping of keys to values", "write «key: value»")
        }
        return MappingReader(mapping, path: "", list: list)
    }

    /// The first line with an anchor or an alias, which is answered with the node that it stands for
    /// and carries that node's anchor.
    private static func anchoredLine(_ node: Node) -> Int? {
        if node.anchor != nil { return node.mark?.line ?? 1 }
        switch node {
        case .scalar: return nil
        case .alias: return node.mark?.line ?? 1
        case .sequence(let items): return items.lazy.compactMap(anchoredLine).first
        case .mapping(let mapping):
            return mapping.lazy.compactMap { anchoredLine($0.key) ?? anchoredLine($0.value) }.first
        }
    }

    private static func explain(_ error: YamlError) -> (line: Int, reason: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark.line, problem.printablePrefix(120))
        case .duplicatedKeysInMapping(let duplicates, let context):
            (
                context.mark.line,
                "the key «\(duplicates.sorted().joined(separator: ", ").printablePrefix(80))»"
                    + " occurs twice"
            )
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem),
            .representer(let problem):
            (1, problem.printablePrefix(120))
        case .no, .memory, .dataCouldNotBeDecoded:
            (1, "the YAML cannot be read")
        }
    }
}
