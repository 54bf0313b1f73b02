import StrictYAML

/// Reads a text as one document and hands over its top.
///
/// - Parameters:
///   - text: the document.
///   - limit: the most bytes that it may have.
///   - guide: the document that describes its keys.
///   - take: reads the top node, where there is one.
/// - Returns: what was read, and what is wrong with the document.
func read<Value>(
    _ text: String,
    limit: Int = 10_000,
    guide: String? = nil,
    _ take: (YAMLNode) -> Value?
) -> (value: Value?, problems: [DocumentProblem]) {
    read(Array(text.utf8), limit: limit, guide: guide, take)
}

/// As for texts.
func read<Value>(
    _ bytes: [UInt8],
    limit: Int = 10_000,
    guide: String? = nil,
    _ take: (YAMLNode) -> Value?
) -> (value: Value?, problems: [DocumentProblem]) {
    let list = ProblemList(file: "f.yaml", operation: "read it", guide: guide)
    let value = YAMLDocument.top(of: bytes, limit: limit, list).flatMap(take)
    return (value, list.sorted)
}

/// A node without its place, for comparisons.
indirect enum Shape: Equatable {
    case scalar(String, isPlain: Bool)
    case list([Shape])
    case mapping([Pair])

    struct Pair: Equatable {
        let key: String
        let value: Shape
    }

    init(_ node: YAMLNode) {
        switch node.content {
        case .scalar(let text, let isPlain): self = .scalar(text, isPlain: isPlain)
        case .list(let items): self = .list(items.map(Shape.init))
        case .mapping(let entries):
            self = .mapping(entries.map { Pair(key: $0.name, value: Shape($0.value)) })
        }
    }
}
