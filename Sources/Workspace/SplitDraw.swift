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
    /// The sealed tasks that exams of the gate run, sorted.
    public let test: [TaskID]
    /// The sealed tasks that nothing runs before the operator opens them once, sorted.
    public let final: [TaskID]

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
    ///   - twins: pairs of which one is a train task and the other one sealed, whatever the key.
    /// - Throws: ``WorkspaceError/split(reason:remedy:)`` where a family has fewer than two tasks,
    ///   an id occurs twice, the key is short or a family has no room for its pairs.
    public init(
        of tasks: [(id: TaskID, family: String)],
        key: [UInt8],
        twins: [WatchfulTasks.Twins] = []
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
            let ordered = Self.ordered(
                members.map(\.id),
                key: key,
                first: Set(twins.map(\.twin)),
                last: Set(twins.map(\.task))
            )
            let sealed = counts[family, default: 1]
            test += ordered.prefix(sealed)
            train += ordered.dropFirst(sealed)
        }
        self.train = train.sorted()
        self.test = test.sorted()
        final = []
        try requireApart(twins)
    }

    private init(train: [TaskID], test: [TaskID], final: [TaskID] = []) {
        self.train = train
        self.test = test
        self.final = final
    }

    /// The same split with some of the sealed tasks held back for the end.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - key: the key that the split was drawn with.
    ///   - twins: pairs whose sealed tasks are the last ones to be held back: the gate's exams want them.
    /// - Returns: the split with ``final``; as it was for none.
    /// - Throws: ``WorkspaceError/split(reason:remedy:)`` where no sealed task is left for the gate.
    public func holdingBack(
        _ count: Int,
        key: [UInt8],
        keeping twins: [WatchfulTasks.Twins] = []
    ) throws(WorkspaceError) -> SplitDraw {
        guard count > 0 else { return self }
        guard count < test.count else {
            throw .split(
                reason: "\(count) of \(test.count) sealed tasks are held back for the final tier, "
                    + "which leaves none for the gate",
                remedy: "write a smaller gate.final, or leave it out"
            )
        }
        let ordered = Self.ordered(test, key: key, "final", last: Set(twins.map(\.twin)))
        return SplitDraw(
            train: train,
            test: ordered.dropFirst(count).sorted(),
            final: ordered.prefix(count).sorted()
        )
    }

    /// Takes over a benchmark's own split, or draws one where it has none.
    ///
    /// - Parameters:
    ///   - entries: the tasks; either each one has a side, or none has.
    ///   - key: as for a draw.
    ///   - twins: as for a draw.
    /// - Throws: ``WorkspaceError/split(reason:remedy:)``.
    public init(
        of entries: [TaskCatalog.Entry],
        key: [UInt8],
        twins: [WatchfulTasks.Twins] = []
    ) throws(WorkspaceError) {
        guard entries.contains(where: { $0.split != nil }) else {
            let tasks = entries.map { (id: $0.id, family: $0.family) }
            try self.init(of: tasks, key: key, twins: twins)
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
        try requireApart(twins)
    }

    private func requireApart(_ twins: [WatchfulTasks.Twins]) throws(WorkspaceError) {
        for pair in twins where !train.contains(pair.task) || !test.contains(pair.twin) {
            throw .split(
                reason: "the twins \(pair.task) and \(pair.twin) are not a train and a sealed task",
                remedy: "give their family more tasks, or correct the benchmark's splits"
            )
        }
    }

    /// The digest that binds the split without telling it.
    ///
    /// - Parameter salt: 32 random bytes that stay in the vault until the split is opened.
    /// - Returns: 64 lower-case hexadecimal digits.
    public func commitment(salt: [UInt8]) -> String {
        Self.commitment(train: train, test: test, final: final, salt: salt)
    }

    /// The digest that binds a split, for whoever was shown it later.
    ///
    /// - Parameters:
    ///   - train: the train tasks, sorted.
    ///   - test: the sealed tasks of the gate's exams, sorted.
    ///   - final: those that were held back, sorted.
    ///   - salt: the salt.
    /// - Returns: 64 lower-case hexadecimal digits.
    public static func commitment(
        train: [TaskID],
        test: [TaskID],
        final: [TaskID],
        salt: [UInt8]
    ) -> String {
        var members: [String: JSONValue] = [
            "train": JSONValue(train.map(\.text)), "test": JSONValue(test.map(\.text)),
        ]
        if !final.isEmpty { members["final"] = JSONValue(final.map(\.text)) }
        let split = JSONValue.object(members)
        let domain = Array("invigilator split commitment v1\n".utf8)
        return SHA256Digest.hex(of: domain + salt + split.canonicalBytes)
    }

    /// By the key, but for tasks that have to come first or last.
    private static func ordered(
        _ ids: [TaskID],
        key: [UInt8],
        _ domain: String = "task",
        first: Set<TaskID> = [],
        last: Set<TaskID> = []
    ) -> [TaskID] {
        ids.map { id in
            let side: UInt8 = first.contains(id) ? 0 : last.contains(id) ? 2 : 1
            return (id: id, rank: [side] + rank(domain, id.text, key: key))
        }
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
