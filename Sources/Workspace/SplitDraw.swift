public import ExamResults
internal import StrictJSON

/// The division of a benchmark's tasks into what the coding agent may learn from and what decides.
///
/// The order of tasks is that of HMAC-SHA256 under a secret key, so that nobody who lacks the key
/// can say on which side a task fell, and nobody who has it can choose. Each family is divided on
/// its own: about 70 of 100 tasks go to train, and every family is on both sides.
public struct SplitDraw: Sendable, Equatable {
    /// The train tasks, sorted.
    public let train: [TaskID]
    /// The sealed tasks, sorted.
    public let test: [TaskID]

    /// The share of tasks that is sealed.
    ///
    /// Raising it makes the score surer and the learning poorer.
    public static let sealedShare = 0.3

    /// The bytes that a key or a salt must have.
    public static let secretByteCount = 32

    /// Draws the split.
    ///
    /// - Parameters:
    ///   - tasks: each task with its family, in any order, each id once.
    ///   - key: 32 random bytes that stay in the vault.
    /// - Throws: ``WorkspaceError/split(reason:remedy:)`` where a family has fewer than two tasks,
    ///   an id occurs twice or the key is short.
    public init(
        of tasks: [(id: TaskID, family: String)],
        key: [UInt8]
    ) throws(WorkspaceError) {
        guard key.count == Self.secretByteCount else {
            throw .split(
                reason: "the key has \(key.count) bytes in place of \(Self.secretByteCount)",
                remedy: "report this"
            )
        }
        guard Set(tasks.map(\.id)).count == tasks.count, !tasks.isEmpty else {
            throw .split(
                reason: "there is no task, or an id occurs twice",
                remedy: "correct the benchmark's file of tasks"
            )
        }
        let families = Dictionary(grouping: tasks, by: \.family)
        if let lonely = families.filter({ $0.value.count < 2 }).keys.min() {
            throw .split(
                reason: "the family «\(lonely)» has a single task",
                remedy: "give each family two tasks or more, so that it is in both splits"
            )
        }
        let counts = Self.sealedCounts(families.mapValues(\.count), key: key)
        var train: [TaskID] = []
        var test: [TaskID] = []
        for (family, members) in families {
            let ordered = Self.ordered(members.map(\.id), key: key)
            let sealed = counts[family, default: 1]
            test += ordered.prefix(sealed)
            train += ordered.dropFirst(sealed)
        }
        self.train = train.sorted()
        self.test = test.sorted()
    }

    private init(train: [TaskID], test: [TaskID]) {
        self.train = train
        self.test = test
    }

    /// Takes over a benchmark's own split, or draws one where it has none.
    ///
    /// - Parameters:
    ///   - entries: the tasks; either each one has a side, or none has.
    ///   - key: as for a draw.
    /// - Throws: ``WorkspaceError/split(reason:remedy:)``.
    public init(of entries: [TaskCatalog.Entry], key: [UInt8]) throws(WorkspaceError) {
        guard entries.contains(where: { $0.split != nil }) else {
            try self.init(of: entries.map { (id: $0.id, family: $0.family) }, key: key)
            return
        }
        self.init(
            train: entries.filter { $0.split == .train }.map(\.id).sorted(),
            test: entries.filter { $0.split == .test }.map(\.id).sorted()
        )
        guard train.count + test.count == entries.count, !train.isEmpty, !test.isEmpty else {
            throw .split(
                reason: "some tasks have a side and some have none, or one side is empty",
                remedy: "correct the benchmark's splits"
            )
        }
    }

    /// The digest that binds the split without telling it.
    ///
    /// - Parameter salt: 32 random bytes that stay in the vault until the split is opened.
    /// - Returns: 64 lower-case hexadecimal digits.
    public func commitment(salt: [UInt8]) -> String {
        let split: JSONValue = [
            "train": JSONValue(train.map(\.text)), "test": JSONValue(test.map(\.text)),
        ]
        let domain = Array("invigilator split commitment v1\n".utf8)
        return SHA256Digest.hex(of: domain + salt + split.canonicalBytes)
    }

    private static func ordered(_ ids: [TaskID], key: [UInt8]) -> [TaskID] {
        ids.map { (id: $0, rank: rank("task", $0.text, key: key)) }
            .sorted { $0.rank.lexicographicallyPrecedes($1.rank) }
            .map(\.id)
    }

    private static func rank(_ domain: String, _ text: String, key: [UInt8]) -> [UInt8] {
        SHA256Digest.keyed(Array("invigilator split v1 \(domain)\n\(text)".utf8), key: key)
    }

    /// How many tasks of each family are sealed: rounded down, and the places that rounding left
    /// over go to the largest remainders, ties by the key.
    private static func sealedCounts(_ sizes: [String: Int], key: [UInt8]) -> [String: Int] {
        var counts = sizes.mapValues { size in
            min(size - 1, max(1, Int(Double(size) * sealedShare)))
        }
        let total = sizes.values.reduce(0, +)
        let wanted = Int((Double(total) * sealedShare).rounded())
        var missing = wanted - counts.values.reduce(0, +)
        let byRemainder = sizes.keys
            .map {
                (
                    name: $0, rest: remainder(sizes[$0, default: 0]),
                    rank: rank("family", $0, key: key)
                )
            }
            .sorted { left, right in
                left.rest != right.rest
                    ? left.rest > right.rest : left.rank.lexicographicallyPrecedes(right.rank)
            }
        for family in byRemainder where missing > 0 {
            let count = counts[family.name, default: 1]
            guard count + 1 < sizes[family.name, default: 0] else { continue }
            counts[family.name] = count + 1
            missing -= 1
        }
        return counts
    }

    private static func remainder(_ size: Int) -> Double {
        let share = Double(size) * sealedShare
        return share - share.rounded(.down)
    }
}
