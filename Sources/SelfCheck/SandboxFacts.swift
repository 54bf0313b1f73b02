/// What the self-check's program said of the sandbox that it is in: a word for the kind, then values.
package struct SandboxFacts: Sendable, Equatable {
    private var lines: [String: [String]] = [:]
    /// Whether it said everything.
    package private(set) var isComplete = false

    // More than it ever says: a mount has a line, and a thousand of them are within this.
    private static let limit = 1 << 20

    /// Reads output; what follows the last line feed is not read.
    package init(_ output: [UInt8]) {
        for line in output.prefix(Self.limit).split(separator: 10, omittingEmptySubsequences: false)
            .dropLast()
        {
            let words = String(decoding: line, as: UTF8.self).filter { $0 != "\r" }
                .split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let kind = words.first.map(String.init) else { continue }
            if kind == "ready" { isComplete = true }
            lines[kind, default: []].append(words.count > 1 ? String(words[1]) : "")
        }
    }

    /// The values of every line of a kind, in order.
    package func values(_ kind: String) -> [String] { lines[kind] ?? [] }

    /// The words of every line of a kind, by the first of them.
    package func table(_ kind: String) -> [String: [String]] {
        var table: [String: [String]] = [:]
        for value in values(kind) {
            let words = value.split(whereSeparator: \.isWhitespace).map(String.init)
            if let name = words.first { table[name] = Array(words.dropFirst()) }
        }
        return table
    }

    /// The last number that it answered our input with.
    package var pongs: Int { values("pong").last.flatMap { Int($0) } ?? 0 }
}
