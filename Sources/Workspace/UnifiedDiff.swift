/// The difference of two texts in the unified form that `patch` and `git apply` read.
///
/// Lines end in a line feed and in nothing else, and are compared byte by byte.
public struct UnifiedDiff: Sendable, Equatable {
    /// What became of one line.
    public enum Change: Sendable, Equatable {
        /// The line is in both texts.
        case kept
        /// The line is in the old text alone.
        case removed
        /// The line is in the new text alone.
        case added
    }

    /// One line of a hunk.
    public struct Line: Sendable, Equatable {
        /// What became of it.
        public let change: Change
        /// Its text without the line feed.
        public let text: String
        /// Whether a line feed ends it; only a text's last line can be without.
        public let isEnded: Bool
    }

    /// Changed lines that stand close together, with unchanged ones around them.
    public struct Hunk: Sendable, Equatable {
        /// The first old line, counted from 1; the line before it when there is no old line.
        public let oldStart: Int
        /// How many old lines.
        public let oldCount: Int
        /// The first new line, counted from 1; the line before it when there is no new line.
        public let newStart: Int
        /// How many new lines.
        public let newCount: Int
        /// The lines in order.
        public let lines: [Line]

        /// The line that stands above the hunk.
        public var heading: String {
            "@@ -\(Self.range(oldStart, oldCount)) +\(Self.range(newStart, newCount)) @@"
        }

        private static func range(_ start: Int, _ count: Int) -> String {
            count == 1 ? "\(start)" : "\(start),\(count)"
        }
    }

    /// The hunks in order; empty when the texts are equal.
    public let hunks: [Hunk]

    /// How many lines are in the new text alone.
    public var addedCount: Int { count(.added) }

    /// How many lines are in the old text alone.
    public var removedCount: Int { count(.removed) }

    /// Compares two texts, with up to `context` unchanged lines around each change.
    public init(from old: String, to new: String, context: Int = 3) {
        let oldLines = Self.lines(of: old)
        let newLines = Self.lines(of: new)
        var numbers: [[UInt8]: Int] = [:]
        func number(_ line: [UInt8]) -> Int {
            if let known = numbers[line] { return known }
            numbers[line] = numbers.count
            return numbers.count - 1
        }
        let script = EditScript(from: oldLines.map(number), to: newLines.map(number))
        hunks = Self.groups(of: script.steps, context: max(context, 0)).map {
            Self.hunk($0, of: script.steps, oldLines, newLines)
        }
    }

    /// The whole difference as text; empty when the texts are equal.
    ///
    /// A side without a name is a file that is not there.
    public func text(oldName: String?, newName: String?) -> String {
        guard !hunks.isEmpty else { return "" }
        var text = "--- \(oldName ?? "/dev/null")\n+++ \(newName ?? "/dev/null")\n"
        for hunk in hunks {
            text += hunk.heading + "\n"
            for line in hunk.lines {
                text += line.change.mark + line.text + "\n"
                if !line.isEnded { text += "\\ No newline at end of file\n" }
            }
        }
        return text
    }

    private func count(_ change: Change) -> Int {
        hunks.reduce(0) { $0 + $1.lines.count { $0.change == change } }
    }

    /// The lines as bytes, each with its line feed.
    private static func lines(of text: String) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        for byte in text.utf8 {
            line.append(byte)
            if byte == UInt8(ascii: "\n") {
                lines.append(line)
                line = []
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// Cuts the steps where more than twice `context` lines are unchanged.
    private static func groups(of steps: [EditScript.Step], context: Int) -> [Range<Int>] {
        let changes = steps.indices.filter { if case .keep = steps[$0] { false } else { true } }
        var ranges: [Range<Int>] = []
        for index in changes {
            let start = max(steps.startIndex, index - context)
            let end = min(steps.endIndex, index + context + 1)
            if let last = ranges.last, start <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<end
            } else {
                ranges.append(start..<end)
            }
        }
        return ranges
    }

    private static func hunk(
        _ range: Range<Int>,
        of steps: [EditScript.Step],
        _ old: [[UInt8]],
        _ new: [[UInt8]]
    ) -> Hunk {
        let lines = steps[range].map { step in
            switch step {
            case .keep(let index, _): Line(.kept, old[index])
            case .remove(let index): Line(.removed, old[index])
            case .add(let index): Line(.added, new[index])
            }
        }
        let before = steps[..<range.lowerBound]
        let oldBefore = before.count { if case .add = $0 { false } else { true } }
        let newBefore = before.count { if case .remove = $0 { false } else { true } }
        let oldCount = lines.count { $0.change != .added }
        let newCount = lines.count { $0.change != .removed }
        // A side without lines is numbered by the line before it.
        return Hunk(
            oldStart: oldBefore + min(oldCount, 1),
            oldCount: oldCount,
            newStart: newBefore + min(newCount, 1),
            newCount: newCount,
            lines: lines
        )
    }
}

extension UnifiedDiff.Change {
    /// The character in front of such a line.
    package var mark: String {
        switch self {
        case .kept: " "
        case .removed: "-"
        case .added: "+"
        }
    }
}

extension UnifiedDiff.Line {
    init(_ change: UnifiedDiff.Change, _ bytes: [UInt8]) {
        self.change = change
        isEnded = bytes.last == UInt8(ascii: "\n")
        text = String(decoding: isEnded ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
}
