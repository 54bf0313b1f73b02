public import ExamResults
public import StrictJSON

/// The tasks of a benchmark as its file lists them, gold answers included.
///
/// Only `prepare` and the vault hold one; of each task it knows the id and the family, the rest
/// is the examiner's business and is passed on as it stands.
public struct TaskCatalog: Sendable, Equatable {
    /// One task.
    public struct Entry: Sendable, Equatable {
        /// The task's id.
        public let id: TaskID
        /// The failure family that the split is stratified by.
        public let family: String
        /// The whole object of the file.
        public let content: JSONValue
        /// The side that the benchmark itself puts it on, if it does: the member `split`.
        public var split: Split? {
            content["split"]?.stringValue.flatMap(Split.init(rawValue:))
        }
    }

    /// The tasks, sorted by id.
    public let entries: [Entry]
    /// What the file says besides the tasks (a shared database, say).
    public let shared: [String: JSONValue]

    init(entries: [Entry], shared: [String: JSONValue]) {
        self.entries = entries
        self.shared = shared
    }

    /// Reads a file of tasks: `{"tasks":[{"id":…,"family":…,…}],…}`.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: the file's name, for error texts.
    /// - Throws: ``WorkspaceError/tasks(location:reason:remedy:)``.
    public init(parsing bytes: [UInt8], file: String) throws(WorkspaceError) {
        let root: JSONValue
        do {
            root = try JSONValue(parsing: bytes, limits: .document)
        } catch {
            throw .tasks(location: file, reason: "\(error)", remedy: "write strict JSON")
        }
        guard var members = root.objectValue, let list = members["tasks"]?.arrayValue else {
            throw .tasks(
                location: file,
                reason: "there is no list «tasks»",
                remedy: "write {\"tasks\":[{\"id\":…,\"family\":…}]}"
            )
        }
        members["tasks"] = nil
        shared = members
        var seen: Set<TaskID> = []
        var entries: [Entry] = []
        for (index, value) in list.enumerated() {
            let entry = try Self.entry(value, location: "\(file), tasks[\(index)]")
            guard seen.insert(entry.id).inserted else {
                throw .tasks(
                    location: "\(file), tasks[\(index)]",
                    reason: "the id \(entry.id) occurs twice",
                    remedy: "give each task an id of its own"
                )
            }
            entries.append(entry)
        }
        self.entries = entries.sorted { $0.id < $1.id }
    }

    private static func entry(
        _ value: JSONValue,
        location: String
    ) throws(WorkspaceError) -> Entry {
        guard let id = value["id"]?.stringValue, let family = value["family"]?.stringValue else {
            throw .tasks(
                location: location,
                reason: "the task has no text «id» or no text «family»",
                remedy: "add both"
            )
        }
        guard family.isTaskFamily else {
            throw .tasks(
                location: location,
                reason: "the family's name is malformed",
                remedy: "write 1 to 64 letters, digits, «-» or «_»"
            )
        }
        guard value["split"] == nil || ["train", "test"].contains(value["split"]?.stringValue)
        else {
            throw .tasks(
                location: location,
                reason: "the member «split» is neither train nor test",
                remedy: "write one of them, or leave the member out of every task"
            )
        }
        do {
            return Entry(id: try TaskID(id), family: family, content: value)
        } catch {
            throw .tasks(location: location, reason: "\(error)", remedy: "shorten or respell it")
        }
    }

    /// The file of one split: the same shape, with these tasks only.
    ///
    /// - Parameter ids: the tasks to keep.
    /// - Returns: the file's bytes.
    public func file(of ids: Set<TaskID>) -> [UInt8] {
        var members = shared
        members["tasks"] = .array(entries.filter { ids.contains($0.id) }.map(\.content))
        return JSONValue.object(members).canonicalBytes
    }
}

extension String {
    var isTaskFamily: Bool {
        (1...64).contains(utf8.count)
            && unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
                        || $0 == "-" || $0 == "_")
            }
    }
}
