internal import Yams

/// Turns the bytes of a YAML document into nodes with places, and refuses what YAML allows and no
/// document needs: anchors, aliases, tags, several documents, keys that are no text or stand twice.
package enum YAMLDocument {
    /// The deepest nesting; the deepest document of the house has seven levels.
    package static let maximumDepth = 16

    /// Reads the top node of a document.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - limit: the most bytes that it may have.
    ///   - problems: where problems are told.
    /// - Returns: the top node; nil after anything that is wrong with the text itself.
    package static func top(
        of bytes: [UInt8],
        limit: Int,
        _ problems: ProblemList
    ) -> YAMLNode? {
        let start = DocumentPlace(line: 1, key: "")
        guard bytes.count <= limit else {
            problems.add(
                start,
                "the document has \(bytes.count) bytes",
                remedy: "keep it within \(limit)"
            )
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            problems.add(start, "the document is not UTF-8 text", remedy: "save it as UTF-8")
            return nil
        }
        let top = read(text, start, problems)
        return problems.isEmpty ? top : nil
    }

    private static func read(
        _ text: String,
        _ start: DocumentPlace,
        _ problems: ProblemList
    ) -> YAMLNode? {
        do {
            // Without an encoding of ours the parser asks a variable of the environment for one.
            let parser = try Yams.Parser(yaml: text, encoding: .utf8)
            // The parser owns the anchors and its nodes refer to them weakly (Yams 6.2): without it
            // every anchor would look absent.
            let top = try withExtendedLifetime(parser) {
                try parser.singleRoot().map {
                    Conversion(problems: problems).node($0, at: start, depth: 0)
                }
            }
            if top == nil {
                problems.add(start, "the document is empty", remedy: "write «key: value» pairs")
            }
            return top
        } catch {
            let (line, reason) = explanation(of: error)
            problems.add(
                DocumentPlace(line: line, key: ""),
                reason.printablePrefix(120),
                remedy: "correct the YAML there"
            )
            return nil
        }
    }

    /// Why a text is no YAML, in words, and on which line.
    private static func explanation(of error: any Error) -> (line: Int, reason: String) {
        guard let error = error as? YamlError else { return (1, "the YAML cannot be read") }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return (mark.line, problem)
        case .duplicatedKeysInMapping(let keys, let context):
            return (context.mark.line, "duplicate key \(keys.sorted().joined(separator: ", "))")
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem),
            .representer(let problem):
            return (1, problem)
        case .no, .memory, .dataCouldNotBeDecoded:
            return (1, "the YAML cannot be read")
        }
    }
}

/// Turns the parser's nodes into ours.
private struct Conversion {
    let problems: ProblemList

    func node(_ node: Node, at outer: DocumentPlace, depth: Int) -> YAMLNode {
        // An alias is answered with the node it stands for, whose line is an earlier one.
        let line = max(node.mark?.line ?? outer.line, outer.line)
        let place = DocumentPlace(line: line, key: outer.key)
        guard depth < YAMLDocument.maximumDepth else {
            let most = YAMLDocument.maximumDepth
            problems.add(place, "nested too deeply", remedy: "keep to \(most) levels")
            return made(.list([]), place)
        }
        guard isPlainlySaid(node, place) else { return made(.list([]), place) }
        switch node {
        case .scalar(let scalar):
            return made(.scalar(scalar.string, isPlain: scalar.style == .plain), place)
        case .sequence(let sequence):
            let items = sequence.enumerated().map { index, item in
                let key = DocumentPlace(line: place.line, key: "\(place.key)[\(index)]")
                return self.node(item, at: key, depth: depth + 1)
            }
            return made(.list(items), place)
        case .mapping(let mapping):
            return made(.mapping(entries(mapping, at: place, depth: depth)), place)
        case .alias:
            refuseAnchor(place)
            return made(.list([]), place)
        }
    }

    private func entries(
        _ mapping: Node.Mapping,
        at place: DocumentPlace,
        depth: Int
    ) -> [YAMLNode.Entry] {
        var seen: Set<String> = []
        var entries: [YAMLNode.Entry] = []
        for (key, value) in mapping {
            let line = max(key.mark?.line ?? place.line, place.line)
            let outer = DocumentPlace(line: line, key: place.key)
            guard isPlainlySaid(key, outer) else { continue }
            guard case .scalar(let scalar) = key else {
                problems.add(outer, "a key is not plain text", remedy: "write «key: value»")
                continue
            }
            let here = outer.child(scalar.string)
            // The parser compares keys with their types, so that 1 and "1" are two to it.
            guard seen.insert(scalar.string).inserted else {
                problems.add(here, "duplicate key", remedy: "keep one of them")
                continue
            }
            entries.append(
                YAMLNode.Entry(
                    name: scalar.string,
                    key: made(.scalar(scalar.string, isPlain: scalar.style == .plain), here),
                    value: node(value, at: here, depth: depth + 1)
                )
            )
        }
        return entries
    }

    private func made(_ content: YAMLNode.Content, _ place: DocumentPlace) -> YAMLNode {
        YAMLNode(content: content, place: place, problems: problems)
    }

    /// Whether what stands there is all that it means: no anchor, no alias, no tag.
    private func isPlainlySaid(_ node: Node, _ place: DocumentPlace) -> Bool {
        guard node.anchor == nil else {
            refuseAnchor(place)
            return false
        }
        guard node.isUntagged else {
            problems.add(place, "tags are refused", remedy: "remove the tag")
            return false
        }
        return true
    }

    private func refuseAnchor(_ place: DocumentPlace) {
        problems.add(place, "anchors and aliases are refused", remedy: "write the value out")
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
