/// One node of a document, with its place; all that a domain sees of YAML.
///
/// A reading of a node (`integer(in:)`, `items()`) answers nil after it has told the document's list
/// what is wrong.
package struct YAMLNode {
    package enum Content {
        /// A text as it was spelled, and whether it stands there without quotes.
        case scalar(String, isPlain: Bool)
        case list([YAMLNode])
        case mapping([Entry])
    }

    /// A key, which is always a scalar, and its value.
    package struct Entry {
        package let name: String
        package let key: YAMLNode
        package let value: YAMLNode
    }

    package let content: Content
    package let place: DocumentPlace
    let problems: ProblemList

    /// Tells the document's list what is wrong here.
    package func refuse(_ reason: String, remedy: String) {
        problems.add(place, reason, remedy: remedy)
    }

    /// A value that was read here, with the place.
    package func placed<Value>(_ read: (YAMLNode) -> Value?) -> Placed<Value>? {
        read(self).map { Placed($0, at: place) }
    }

    /// What the node is, for "expected …, found …"; never what it says, which may be a secret.
    var kind: String {
        switch content {
        case .scalar(let text, let isPlain):
            if isPlain, text.isYAMLNull { return "nothing" }
            guard isPlain, text.isYAMLNumberOrTruth else { return "a text" }
            return Double(text) == nil ? "what YAML reads as true or false" : "a number"
        case .list: return "a list"
        case .mapping: return "a mapping"
        }
    }

    func refuse(expected: String, remedy: String) {
        refuse("expected \(expected), found \(kind)", remedy: remedy)
    }
}

extension YAMLNode {
    /// The items of a list.
    package func items(
        atMost most: Int = .max,
        remedy: String = "write a list, such as [a, b]"
    ) -> [YAMLNode]? {
        guard case .list(let items) = content else {
            refuse(expected: "a list", remedy: remedy)
            return nil
        }
        guard items.count <= most else {
            refuse("the list has \(items.count) items", remedy: "write at most \(most)")
            return nil
        }
        return items
    }

    /// A list in which every item is read and none is said twice; a refused item is left out.
    package func distinct<Value>(_ read: (YAMLNode) -> Value?) -> [Placed<Value>] {
        var values: [Placed<Value>] = []
        for item in items() ?? [] {
            guard let value = item.placed(read) else { continue }
            if values.contains(where: { $0.value == value.value }) {
                item.refuse("it is listed twice", remedy: "list it once")
            } else {
                values.append(value)
            }
        }
        return values
    }

    /// The entries of a mapping with free names, in the order of the document.
    package func entries(remedy: String = "write «key: value» pairs") -> [Entry]? {
        guard case .mapping(let entries) = content else {
            refuse(expected: "a mapping", remedy: remedy)
            return nil
        }
        return entries
    }

    /// The reader of a mapping whose keys are known.
    package func mapping(remedy: String = "write «key: value» pairs") -> MappingReader? {
        entries(remedy: remedy).map { MappingReader($0, of: self) }
    }
}
