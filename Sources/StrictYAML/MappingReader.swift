/// Reads one mapping of a document key by key; what nobody asked for is a problem.
package struct MappingReader {
    /// Where the mapping begins.
    package let place: DocumentPlace
    /// The list of the whole document.
    package let problems: ProblemList
    private let entries: [YAMLNode.Entry]
    /// Entries that nobody asked for yet, by key.
    private var open: [String: Int]
    private var asked: Set<String> = []

    init(_ entries: [YAMLNode.Entry], of node: YAMLNode) {
        place = node.place
        problems = node.problems
        self.entries = entries
        // The document has refused a key that stands twice.
        open = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.name, $0) })
    }

    /// The value of a key; absent when it is not there, or was asked for before.
    package mutating func optional(_ key: String) -> YAMLNode? {
        asked.insert(key)
        return open.removeValue(forKey: key).map { entries[$0].value }
    }

    /// The value of a key that must be there.
    package mutating func required(_ key: String) -> YAMLNode? {
        let found = optional(key)
        if found == nil { refuseAbsence(of: key) }
        return found
    }

    /// Whether the document has this key and nobody asked for it yet.
    package func has(_ key: String) -> Bool { open[key] != nil }

    /// The value of a key that nobody asked for yet, without asking for it.
    package func peek(_ key: String) -> YAMLNode? { open[key].map { entries[$0].value } }

    /// The names of the keys that nobody asked for yet, sorted: for mappings with free names.
    package var remainingKeys: [String] { open.keys.sorted() }

    /// Refuses what nobody asked for, and names the key that was probably meant.
    package func finish() {
        for entry in open.values.sorted().map({ entries[$0] }) {
            let near = asked.filter { $0.isNear(entry.name) }.min()
            let known = asked.sorted().joined(separator: ", ")
            let others = asked.isEmpty ? "no key is known here" : "known here: \(known)"
            problems.add(
                entry.key.place,
                "the key is unknown",
                remedy: near.map { "write «\($0)»" } ?? guided("remove it; \(others)")
            )
        }
    }

    /// Adds a problem with a key of this mapping; an empty one stands for the mapping itself.
    package func refuse(_ key: String, line: Int, _ reason: String, remedy: String) {
        let place = DocumentPlace(line: line, key: place.key).child(key)
        problems.add(place, reason, remedy: remedy)
    }

    /// Says that a key is absent.
    package func refuseAbsence(of key: String) {
        problems.add(place.child(key), "the key is missing", remedy: guided("add «\(key): …»"))
    }

    private func guided(_ remedy: String) -> String {
        problems.guide.map { "\(remedy); every key is described in \($0)" } ?? remedy
    }
}

extension String {
    /// Whether two keys differ by spelling only: one edit, two letters swapped, or `-` against `_`.
    fileprivate func isNear(_ other: String) -> Bool {
        let left = Array(lowercased().utf8.map { $0 == 0x2D ? 0x5F : $0 })
        let right = Array(other.lowercased().utf8.map { $0 == 0x2D ? 0x5F : $0 })
        guard left != right else { return true }
        let common = zip(left, right).prefix { $0 == $1 }.count
        let leftRest = left[common...]
        let rightRest = right[common...]
        return leftRest.dropFirst() == rightRest.dropFirst()
            || leftRest.dropFirst() == rightRest || leftRest == rightRest.dropFirst()
            || isSwapped(leftRest, rightRest)
    }

    private func isSwapped(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count, left.count >= 2 else { return false }
        return left.first == right.dropFirst().first && left.dropFirst().first == right.first
            && left.dropFirst(2) == right.dropFirst(2)
    }
}
