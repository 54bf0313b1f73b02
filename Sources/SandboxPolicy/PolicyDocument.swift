internal import Yams

/// Turns the bytes of a YAML document into nodes with places, and refuses what YAML allows and a
/// policy does not need: anchors, aliases, tags, several documents, keys that are no text.
enum PolicyDocument {
    /// The largest document; the shipped ones have a few kilobytes.
    static let maximumBytes = 1_000_000
    /// The deepest nesting; the shipped documents have five levels.
    static let maximumDepth = 16

    /// Reads the top mapping of a document.
    ///
    /// - Throws: ``PolicyRefusal`` with every problem of the text itself.
    static func top(of bytes: [UInt8], _ problems: ProblemList) throws(PolicyRefusal) -> PolicyNode
    {
        let start = PolicyPlace(line: 1, key: "")
        guard bytes.count <= maximumBytes else {
            problems.add(start, .tooLong(bytes.count, maximumBytes))
            throw PolicyRefusal(problems.problems)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            problems.add(start, "the document is not UTF-8 text", remedy: "save it as UTF-8")
            throw PolicyRefusal(problems.problems)
        }
        guard let top = read(text, problems) else {
            if problems.problems.isEmpty {
                problems.add(start, "the document is empty", remedy: "write a policy")
            }
            throw PolicyRefusal(problems.problems)
        }
        try problems.check()
        return top
    }

    private static func read(_ text: String, _ problems: ProblemList) -> PolicyNode? {
        do {
            let parser = try Yams.Parser(yaml: text)
            // The parser owns the anchors and its nodes refer to them weakly (Yams 6.2): without it
            // every anchor would look absent.
            return try withExtendedLifetime(parser) {
                try parser.singleRoot().map {
                    converted($0, at: PolicyPlace(line: 1, key: ""), depth: 0, problems)
                }
            }
        } catch {
            let (line, reason) = YAMLProblem.explanation(of: error)
            problems.add(
                PolicyPlace(line: line, key: ""),
                reason,
                remedy: "correct the YAML there"
            )
            return nil
        }
    }

    private static func converted(
        _ node: Node,
        at outer: PolicyPlace,
        depth: Int,
        _ problems: ProblemList
    ) -> PolicyNode {
        let place = PolicyPlace(line: node.mark?.line ?? outer.line, key: outer.key)
        let empty = PolicyNode(content: .text(""), place: place)
        guard depth < maximumDepth else {
            problems.add(place, "nested too deeply", remedy: "keep to \(maximumDepth) levels")
            return empty
        }
        // An alias is answered with the node it stands for, which carries the anchor.
        guard node.anchor == nil else {
            problems.add(place, "anchors and aliases are refused", remedy: "write the value out")
            return empty
        }
        guard node.isUntagged else {
            problems.add(place, "tags are refused", remedy: "remove the tag")
            return empty
        }
        switch node {
        case .scalar(let scalar):
            return PolicyNode(content: .text(scalar.string), place: place)
        case .sequence(let sequence):
            let items = sequence.enumerated().map { index, item in
                let key = PolicyPlace(line: place.line, key: "\(place.key)[\(index)]")
                return converted(item, at: key, depth: depth + 1, problems)
            }
            return PolicyNode(content: .list(items), place: place)
        case .mapping(let mapping):
            return PolicyNode(
                content: .mapping(entries(mapping, at: place, depth: depth, problems)),
                place: place
            )
        case .alias:
            problems.add(place, "anchors and aliases are refused", remedy: "write the value out")
            return empty
        }
    }

    private static func entries(
        _ mapping: Node.Mapping,
        at place: PolicyPlace,
        depth: Int,
        _ problems: ProblemList
    ) -> [PolicyNode.Entry] {
        var seen: Set<String> = []
        var entries: [PolicyNode.Entry] = []
        for (key, value) in mapping {
            let line = key.mark?.line ?? place.line
            guard case .scalar(let scalar) = key, key.anchor == nil else {
                problems.add(PolicyPlace(line: line, key: place.key), .keyIsNoText)
                continue
            }
            let here = PolicyPlace(line: line, key: place.child(scalar.string).key)
            guard seen.insert(scalar.string).inserted else {
                problems.add(here, "duplicate key", remedy: "keep one of them")
                continue
            }
            entries.append(
                PolicyNode.Entry(
                    key: scalar.string,
                    place: here,
                    value: converted(value, at: here, depth: depth + 1, problems)
                )
            )
        }
        return entries
    }
}

extension Node {
    /// Whether the document gives the node no tag of its own.
    fileprivate var isUntagged: Bool {
        let tag: Tag
        switch self {
        case .scalar(let scalar): tag = scalar.tag
        case .sequence(let sequence): tag = sequence.tag
        case .mapping(let mapping): tag = mapping.tag
        case .alias(let alias): tag = alias.tag
        }
        // An empty name means implicit; a standard one is what an implicit one resolves to.
        return tag.description.isEmpty || tag.description.hasPrefix("tag:yaml.org,2002:")
    }
}
