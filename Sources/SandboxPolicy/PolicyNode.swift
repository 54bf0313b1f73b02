/// One node of a policy document, with its place; all that this target sees of YAML.
struct PolicyNode {
    enum Content {
        case text(String)
        case list([PolicyNode])
        case mapping([Entry])
    }

    struct Entry {
        let key: String
        let place: PolicyPlace
        let value: PolicyNode
    }

    let content: Content
    let place: PolicyPlace
}

/// Reads the entries of a mapping one by one; what nobody asked for is an unknown key.
struct MappingReader {
    let place: PolicyPlace
    private let entries: [PolicyNode.Entry]
    private var asked: [String] = []
    private let problems: ProblemList

    /// Opens a mapping; anything else is a problem and reads as an empty one.
    init(_ node: PolicyNode, _ problems: ProblemList) {
        place = node.place
        self.problems = problems
        if case .mapping(let entries) = node.content {
            self.entries = entries
        } else {
            problems.add(node.place, .noMapping(node.kind, "write key: value pairs"))
            entries = []
        }
    }

    /// The keys in the order of the document.
    var keys: [String] { entries.map(\.key) }

    /// The value of a key; absent when it is not there.
    mutating func optional(_ key: String) -> PolicyNode? {
        asked.append(key)
        return entries.first { $0.key == key }?.value
    }

    /// The value of a key that must be there.
    mutating func required(_ key: String) -> PolicyNode? {
        guard let node = optional(key) else {
            problems.add(
                PolicyPlace(line: place.line, key: place.child(key).key),
                .keyIsMissing(key)
            )
            return nil
        }
        return node
    }

    /// Reports every key that was not asked for.
    func finish() {
        for entry in entries where !asked.contains(entry.key) {
            problems.add(entry.place, .unknownKey(asked.sorted().joined(separator: ", ")))
        }
    }
}

extension PolicyPlace {
    /// The place of a member, on the same line.
    func child(_ name: String) -> PolicyPlace {
        PolicyPlace(line: line, key: key.isEmpty ? name : "\(key).\(name)")
    }
}
