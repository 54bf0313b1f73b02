internal import ExamResults
internal import StrictJSON
internal import StrictYAML

extension TaskCatalog {
    /// Takes over the tasks of a package: a list of objects with an `id`, and a file that says which ids
    /// are on which side.
    ///
    /// Where there is a side `base`, other tasks are left out; where there are `train` and `test`, they
    /// become the split. An id that a task may not have is respelled, and ends with a part of its
    /// SHA-256; a word in brackets at the beginning of an id is the task's family.
    ///
    /// - Parameters:
    ///   - list: the bytes of the list.
    ///   - splits: the bytes of the object of sides, if there is one.
    ///   - shared: what the examiner is told besides, the variants.
    ///   - file: the list's name, for error texts.
    /// - Throws: ``WorkspaceError/tasks(location:reason:remedy:)``.
    public init(
        importing list: [UInt8],
        splits: [UInt8]?,
        shared: [String: String],
        file: String
    ) throws(WorkspaceError) {
        let tasks = try Self.parsed(list, file)
        let sides = try splits.map { bytes throws(WorkspaceError) in
            try Self.sides(Self.parsed(bytes, "the splits of \(file)"), file)
        }
        guard let values = tasks.arrayValue else {
            throw Self.strange(file, "it is no list of tasks")
        }
        var entries: [Entry] = []
        for (index, value) in values.enumerated() {
            guard let name = value["id"]?.stringValue ?? value["id"]?.integerValue.map(String.init)
            else { throw Self.strange("\(file)[\(index)]", "the task has no «id»") }
            if let sides, !sides.isWanted(name) { continue }
            entries.append(
                try Self.entry(name, value, family: shared["domain"], sides?.side(of: name), file)
            )
        }
        guard Set(entries.map(\.id)).count == entries.count, !entries.isEmpty else {
            throw Self.strange(file, "there is no task, or an id occurs twice")
        }
        if let sides, let wanted = sides.wantedCount, wanted != entries.count {
            throw Self.strange(file, "of \(wanted) tasks of the splits it has \(entries.count)")
        }
        self.init(
            entries: entries.sorted { $0.id < $1.id },
            shared: shared.mapValues { .string($0) }
        )
    }

    private struct Sides {
        var base: Set<String>?
        var train: Set<String> = []
        var test: Set<String> = []

        var wantedCount: Int? { base?.count ?? (train.isEmpty ? nil : train.count + test.count) }

        func isWanted(_ name: String) -> Bool {
            base?.contains(name) ?? (train.isEmpty || side(of: name) != nil)
        }

        func side(of name: String) -> Split? {
            test.contains(name) ? .test : train.contains(name) ? .train : nil
        }
    }

    private static func sides(_ value: JSONValue, _ file: String) throws(WorkspaceError) -> Sides {
        guard value.objectValue != nil else {
            throw strange(file, "the splits are no object of lists")
        }
        func names(_ key: String) throws(WorkspaceError) -> Set<String>? {
            guard let member = value[key] else { return nil }
            guard let list = member.arrayValue else {
                throw strange(file, "the split «\(key)» is no list")
            }
            let names = list.compactMap { $0.stringValue ?? $0.integerValue.map(String.init) }
            guard names.count == list.count, Set(names).count == names.count else {
                throw strange(file, "the split «\(key)» names a task twice, or none")
            }
            return Set(names)
        }
        let sides = Sides(
            base: try names("base"),
            train: try names("train") ?? [],
            test: try names("test") ?? []
        )
        guard sides.train.isEmpty == sides.test.isEmpty, sides.train.isDisjoint(with: sides.test)
        else { throw strange(file, "a task is on both sides, or one side has none") }
        let both = sides.train.union(sides.test)
        guard both.isEmpty || sides.base == nil || sides.base == both else {
            throw strange(file, "«train» and «test» are not «base»")
        }
        return sides
    }

    private static func entry(
        _ name: String,
        _ task: JSONValue,
        family: String?,
        _ split: Split?,
        _ file: String
    ) throws(WorkspaceError) -> Entry {
        let kind = bracketed(name) ?? family ?? "tasks"
        let id = respelled(name)
        do {
            var content: [String: JSONValue] = [
                "id": .string(id), "family": .string(kind), "task": task,
            ]
            if let split { content["split"] = .string(split.rawValue) }
            return Entry(id: try TaskID(id), family: kind, content: .object(content))
        } catch { throw strange("\(file), \(name.printablePrefix(60))", "\(error)") }
    }

    private static let idBytes = 120
    private static let digestDigits = 12

    /// The same name for the same text, and never one name for two.
    static func respelled(_ name: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let isFine =
            (1...idBytes).contains(name.utf8.count) && name.utf8.allSatisfy(isPlain)
            && !name.hasPrefix("-")
        if isFine { return name }
        let parts = name.utf8.split { !isPlain($0) }.map { String(decoding: $0, as: UTF8.self) }
        let words = String(parts.joined(separator: ".").drop { $0 == "-" })
        let kept = words.isEmpty ? "task" : words.prefix(idBytes - digestDigits - 1)
        return "\(kept)-\(SHA256Digest.hex(of: Array(name.utf8)).prefix(digestDigits))"
    }

    private static func bracketed(_ name: String) -> String? {
        guard name.hasPrefix("["), let end = name.firstIndex(of: "]") else { return nil }
        let word = String(name[name.index(after: name.startIndex)..<end])
        return word.isTaskFamily ? word : nil
    }

    private static func parsed(_ bytes: [UInt8], _ file: String) throws(WorkspaceError) -> JSONValue
    {
        do { return try JSONValue(parsing: bytes, limits: .document) } catch {
            throw strange(file, "\(error)")
        }
    }

    private static func strange(_ location: String, _ reason: String) -> WorkspaceError {
        .tasks(
            location: location,
            reason: reason,
            remedy: "correct the pinned packages of the benchmark; this is not a form that is known"
        )
    }
}
