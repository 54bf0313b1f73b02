import ExamResults
import StrictJSON
import TestSupport
import Testing
import Workspace

@Suite("What gives tasks away")
struct AuditMatterTests {
    /// Letters that change their number, their bytes or their alphabet in lower case, what parts
    /// words, and what is part of a letter for a reader only.
    private static let pieces = [
        "refund", "REFUND", "lamp", "Kettle", "a", "I", "is", "the", "x9", "W9911223", "w9911223",
        "refund-017", "u_44#1.b", "41.80", "4_183", "4183", "0004183", "2026", "65536", "77700",
        "9999", "\u{130}stanbul", "\u{212A}elvin", "\u{1C5}", "STRA\u{DF}E", "\u{1E9E}", "ΣΟΦΟΣ",
        "σοφος", "漢字", "ｆｕｌｌ９", "e\u{301}t\u{E9}", "\u{FB01}n", "\u{1D400}bc123", "١٢٣٤٥", "🙂",
        "\u{301}", "\u{AD}", "\u{2028}", "\0",
    ]
    private static let gaps = [
        " ", " ", " ", ", ", "\n", "\r\n", "\r\r\n", "\n\n", "-", ".", "", "\t",
    ]

    private static func text(_ pieces: Int, from generator: inout SeededGenerator) -> String {
        (0..<generator.below(pieces + 1))
            .map { _ in generator.pick(Self.pieces) + generator.pick(gaps) }.joined()
    }

    private static func entries(
        _ prefix: String,
        from generator: inout SeededGenerator
    ) throws -> [TaskCatalog.Entry] {
        let tasks = (0..<generator.below(4)).map { number -> JSONValue in
            [
                "id": .string("\(prefix)-\(number)"), "family": "f",
                "text": .string(text(60, from: &generator)),
                "sum": JSONValue(generator.below(20_000)), "gold": [["fee": 12.5, "cents": 83_37]],
            ]
        }
        guard !tasks.isEmpty else { return [] }
        let file: JSONValue = ["tasks": .array(tasks)]
        return try TaskCatalog(parsing: file.canonicalBytes, file: "tasks.json").entries
    }

    @Test("the findings are those of the definition, whatever letters a text holds")
    func definition() throws {
        var kinds: [String: Int] = [:]
        for seed in UInt64(0)..<90 {
            var generator = SeededGenerator(seed: seed)
            let train = try Self.entries("refund", from: &generator)
            let sealed = try Self.entries("W99112", from: &generator)
            let shared = (0..<2).map { _ in Self.text(80, from: &generator) }
            let publicTexts = (0..<generator.below(3)).map { _ in Self.text(12, from: &generator) }
            var matter = AuditMatter(train: train, sealed: sealed, publicTexts: publicTexts)
            var definition = Definition(train: train, sealed: sealed, publicTexts: publicTexts)
            for texts in [shared, [], [Self.text(80, from: &generator)]] {
                matter.note(traces: texts)
                definition.note(traces: texts)
            }
            let tasks = (train + sealed).compactMap { $0.content["text"]?.stringValue }
            let copies = shared + tasks
            for _ in 0..<6 {
                var copied = copies.isEmpty ? "" : generator.pick(copies)
                if generator.flag() { copied = copied.uppercased() }
                let (before, after) = (
                    Self.text(20, from: &generator), Self.text(20, from: &generator)
                )
                let text = before + copied + after
                let found = matter.findings(in: text).map {
                    "\($0.kind.rawValue) \($0.line ?? 0) \($0.detail)"
                }
                #expect(found == definition.findings(in: text), "seed \(seed)")
                for finding in found {
                    kinds[String(finding.prefix { $0 != " " }), default: 0] += 1
                }
            }
        }
        // The test has seen each sort often enough to mean something.
        for kind in AuditFinding.Kind.allCases.prefix(6) {
            #expect(kinds[kind.rawValue, default: 0] > 5, "\(kind)")
        }
    }

    @Test("a phrase of a public text is no marker in traces that are noted one by one")
    func publicPhrases() {
        let known = "please follow the policy of the shop at all times and be kind to them"
        let own = "seven brown foxes carried letters over quiet frozen northern rivers yesterday"
        var matter = AuditMatter(train: [], sealed: [], publicTexts: [known])
        for text in [known, own, known] { matter.note(traces: [text]) }
        #expect(matter.findings(in: known).isEmpty)
        #expect(matter.findings(in: own).map(\.kind) == [.traceText])
    }
}

/// What findings are, written for a reader and not for speed: all of a text in lower case, its words
/// cut out as texts, and everything made anew for each call.
private struct Definition {
    struct Markers {
        var names: Set<String> = []
        var phrases: Set<[String]> = []
        var numbers: Set<String> = []

        init(ids: Set<TaskID>, texts: [String], publicTexts: [String]) {
            names = Set(ids.map(\.text))
            for text in texts {
                names.formUnion(Self.distinctTokens(of: text))
                phrases.formUnion(Self.phrases(of: Self.words(of: text).map(\.word)))
                numbers.formUnion(Self.tellingNumbers(of: text))
            }
            for text in publicTexts {
                names.subtract(Self.distinctTokens(of: text))
                phrases.subtract(Self.phrases(of: Self.words(of: text).map(\.word)))
                numbers.subtract(Self.tellingNumbers(of: text))
            }
        }

        mutating func subtract(_ others: Markers) {
            names.subtract(others.names)
            phrases.subtract(others.phrases)
            numbers.subtract(others.numbers)
        }

        static func tokens(of text: String) -> [String] {
            text.unicodeScalars.split { scalar in
                !(scalar.properties.isAlphabetic
                    || "0123456789_-.#".unicodeScalars.contains(scalar))
            }
            .map { String(String.UnicodeScalarView($0)) }
        }

        static func distinctTokens(of text: String) -> [String] {
            tokens(of: text).filter { token in
                token.utf8.count >= 6 && token.unicodeScalars.contains { ("0"..."9").contains($0) }
            }
        }

        static func words(of text: String) -> [(word: String, line: Int)] {
            text.lowercased().unicodeScalars
                .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                .flatMap { index, line in
                    line.split { !($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
                        .map { (String(String.UnicodeScalarView($0)), index + 1) }
                }
        }

        static func phrases(of words: [String]) -> [[String]] {
            guard words.count >= 6 else { return [] }
            return (0...words.count - 6).map { start in
                // By bytes, as hashes are made: two spellings of one letter are two.
                words[start..<start + 6].map { "\(Array($0.utf8))" }
            }
        }

        static func tellingNumbers(of text: String) -> Set<String> {
            let runs = text.unicodeScalars.split { !"0123456789._".unicodeScalars.contains($0) }
            let digits = runs.map { run in
                let digits = run.filter { ("0"..."9").contains($0) }.drop { $0 == "0" }
                return String(String.UnicodeScalarView(digits))
            }
            return Set(
                digits.filter { number in
                    guard number.count >= 4, !number.hasSuffix("00") else { return false }
                    guard let value = UInt64(number) else { return true }
                    return value.nonzeroBitCount > 1 && !(1900...2100).contains(value)
                }
            )
        }
    }

    private let train: Markers
    private let sealed: Markers
    private var traces: Set<[String]> = []
    private let publicTexts: [String]

    init(train: [TaskCatalog.Entry], sealed: [TaskCatalog.Entry], publicTexts: [String]) {
        func markers(_ entries: [TaskCatalog.Entry]) -> Markers {
            Markers(
                ids: Set(entries.map(\.id)),
                texts: entries.flatMap { Self.texts(in: $0.content) },
                publicTexts: publicTexts
            )
        }
        self.train = markers(train)
        var rest = markers(sealed)
        rest.subtract(self.train)
        self.sealed = rest
        self.publicTexts = publicTexts
    }

    private static func texts(in value: JSONValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .integer(let number): ["\(number)"]
        case .number(let number): ["\(number)"]
        case .array(let values): values.flatMap(texts)
        case .object(let members): members.values.flatMap(texts)
        case .null, .bool: []
        }
    }

    mutating func note(traces texts: [String]) {
        var heard = Markers(ids: [], texts: texts, publicTexts: publicTexts)
        heard.subtract(train)
        traces.formUnion(heard.phrases)
    }

    func findings(in text: String) -> [String] {
        var found: [String] = []
        var numbers: [String: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd)
        for (index, line) in lines.enumerated() {
            for (markers, kind) in [(train, "task-name"), (sealed, "sealed-name")] {
                let known = Set(Markers.tokens(of: String(line))).intersection(markers.names).count
                if known > 0 { found.append("\(kind) \(index + 1) \(known) names of tasks") }
            }
            for number in Markers.tellingNumbers(of: String(line)).intersection(train.numbers)
            where numbers[number] == nil {
                numbers[number] = index + 1
            }
        }
        found += phrases(train.phrases, "task-text", in: text)
        found += phrases(traces, "trace-text", in: text)
        found += phrases(sealed.phrases, "sealed-text", in: text)
        if numbers.count > 4, let first = numbers.values.min(), let last = numbers.values.max() {
            let detail = "\(numbers.count) different numbers of tasks, up to line \(last)"
            found.append("task-number \(first) \(detail)")
        }
        return found
    }

    private func phrases(_ known: Set<[String]>, _ kind: String, in text: String) -> [String] {
        let words = Markers.words(of: text)
        let shared = Markers.phrases(of: words.map(\.word)).enumerated()
            .filter { known.contains($0.element) }.map(\.offset)
        guard shared.count > 3 else { return [] }
        var stretches: [[Int]] = []
        for index in shared {
            if let last = stretches.last?.last, index - last <= 6 {
                stretches[stretches.count - 1].append(index)
            } else {
                stretches.append([index])
            }
        }
        return stretches.map { stretch in
            let (first, last) = (words[stretch[0]].line, words[stretch[stretch.count - 1] + 5].line)
            let end = last > first ? ", up to line \(last)" : ""
            return "\(kind) \(first) \(stretch.count) phrases of tasks\(end)"
        }
    }
}

extension Character {
    fileprivate var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
