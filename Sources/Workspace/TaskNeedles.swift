internal import ExamResults
internal import StrictJSON

/// Finds the words of tasks in files of any form, such as the data of a package.
///
/// Of each task a few long runs of plain text are looked for byte by byte. It is a lint against what is
/// published by mistake or on purpose as it stands: who compresses or rewrites it is not found.
public struct TaskNeedles: Sendable {
    private let needles: [UInt64: [[UInt8]]]

    /// How many bytes a run has: a sentence, which no other text has by chance.
    static let length = 48
    private static let runsOfTask = 4
    private static let base: UInt64 = 1_099_511_628_211

    /// Chooses the runs.
    ///
    /// - Parameters:
    ///   - tasks: the tasks, gold included.
    ///   - publicTexts: what a candidate may hold anyway: a run of those is none.
    public init(_ tasks: TaskCatalog, publicTexts: [[UInt8]]) {
        var runs: Set<[UInt8]> = []
        for entry in tasks.entries {
            let own = Self.texts(in: entry.content).flatMap(Self.runs(of:))
            runs.formUnion(
                own.sorted { $0.count > $1.count }.prefix(Self.runsOfTask).map(Self.middle)
            )
        }
        let all = Self.table(runs)
        for text in publicTexts { runs.subtract(Self.found(all, in: text, stopping: false)) }
        needles = Self.table(runs)
    }

    /// Whether a text holds the words of a task.
    ///
    /// - Parameter bytes: the text.
    /// - Returns: whether one of the runs is in it.
    public func areFound(in bytes: [UInt8]) -> Bool {
        !Self.found(needles, in: bytes, stopping: true).isEmpty
    }

    // MARK: - runs

    private static func texts(in value: JSONValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let values): values.flatMap(texts(in:))
        case .object(let members): members.values.flatMap(texts(in:))
        case .null, .bool, .integer, .number: []
        }
    }

    // Pieces that every way of writing a text leaves as they are: JSON, Python, YAML on one line.
    private static func runs(of text: String) -> [[UInt8]] {
        text.utf8.split { !isPlain($0) }.filter { $0.count >= length }.map(Array.init)
    }

    private static func middle(of run: [UInt8]) -> [UInt8] {
        let start = (run.count - length) / 2
        return Array(run[start..<(start + length)])
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: ","),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    // MARK: - search

    private static func table(_ runs: Set<[UInt8]>) -> [UInt64: [[UInt8]]] {
        Dictionary(grouping: runs) { $0.reduce(0) { $0 &* base &+ UInt64($1) } }
    }

    // Rabin and Karp: the hash of a window is rolled on byte by byte, and a hit is compared.
    private static func found(
        _ needles: [UInt64: [[UInt8]]],
        in bytes: [UInt8],
        stopping: Bool
    ) -> Set<[UInt8]> {
        guard !needles.isEmpty, bytes.count >= length else { return [] }
        // One bit for each beginning of a hash keeps nearly every window away from the table.
        var marks = [Bool](repeating: false, count: 1 << 16)
        for hash in needles.keys { marks[Int(hash >> 48)] = true }
        let leading = (1..<length).reduce(UInt64(1)) { power, _ in power &* base }
        var found: Set<[UInt8]> = []
        var hash: UInt64 = 0
        for index in bytes.indices {
            if index >= length { hash = hash &- UInt64(bytes[index - length]) &* leading }
            hash = hash &* base &+ UInt64(bytes[index])
            guard index >= length - 1, marks[Int(hash >> 48)], let hits = needles[hash] else {
                continue
            }
            let window = Array(bytes[(index + 1 - length)...index])
            guard hits.contains(window) else { continue }
            found.insert(window)
            if stopping { return found }
        }
        return found
    }
}
