public import ExamResults

/// What gives tasks away in a text: their ids, tokens and numbers that only they hold, and phrases.
///
/// Phrases are kept as hashes of six words, lower case, so that the set can be held beside the
/// audit without holding the tasks.
public struct TaskMarkers: Sendable, Equatable {
    private var names: Set<String>
    private var phrases: Set<UInt64>
    private var numbers: Set<String>

    /// How many words make a phrase.
    ///
    /// Fewer match ordinary prose, more miss edited copies.
    static let wordsInPhrase = 6

    /// Collects the markers of tasks.
    ///
    /// - Parameters:
    ///   - ids: the ids of the tasks.
    ///   - texts: the texts of the tasks, their numbers among them.
    ///   - publicTexts: what the coding agent may know anyway (policy, template): a phrase, a
    ///     number or a token of those is no marker.
    public init(ids: Set<TaskID>, texts: [String], publicTexts: [String]) {
        names = Set(ids.map(\.text))
        phrases = []
        numbers = []
        for text in texts {
            names.formUnion(Self.distinctTokens(of: text))
            phrases.formUnion(Self.phrases(of: text))
            numbers.formUnion(Self.tellingNumbers(of: text))
        }
        for text in publicTexts {
            names.subtract(Self.distinctTokens(of: text))
            phrases.subtract(Self.phrases(of: text))
            numbers.subtract(Self.tellingNumbers(of: text))
        }
    }

    /// No markers: an audit with these looks at form only.
    public static let none = TaskMarkers(ids: [], texts: [], publicTexts: [])

    /// Takes out what others hold, too.
    ///
    /// - Parameter others: the markers that tell nothing new.
    public mutating func subtract(_ others: TaskMarkers) {
        names.subtract(others.names)
        phrases.subtract(others.phrases)
        numbers.subtract(others.numbers)
    }

    /// Adds what others hold.
    ///
    /// - Parameter others: more markers.
    public mutating func formUnion(_ others: TaskMarkers) {
        names.formUnion(others.names)
        phrases.formUnion(others.phrases)
        numbers.formUnion(others.numbers)
    }

    /// How many phrases these are.
    var phraseCount: Int { phrases.count }

    /// Forgets everything but phrases, and of these all beyond a number.
    mutating func keepPhrases(atMost most: Int) {
        (names, numbers) = ([], [])
        if phrases.count > most { phrases = Set(phrases.prefix(max(0, most))) }
    }

    /// How many different ids and tokens of tasks a line holds.
    func knownNames(in line: some StringProtocol) -> Int {
        guard !names.isEmpty else { return 0 }
        return Set(Self.tokens(of: line)).intersection(names).count
    }

    /// Where a text holds phrases of tasks.
    ///
    /// - Parameter text: the text.
    /// - Returns: stretches that belong together, in order.
    func sharedPhrases(with text: String) -> [SharedPhrases] {
        guard !phrases.isEmpty else { return [] }
        let words = Self.words(of: text)
        var stretches: [SharedPhrases] = []
        var last = -Self.wordsInPhrase - 1
        for (index, phrase) in Self.phrases(of: words.map(\.hash)).enumerated()
        where phrases.contains(phrase) {
            let end = words[index + Self.wordsInPhrase - 1].line
            if index - last <= Self.wordsInPhrase, let open = stretches.indices.last {
                stretches[open].count += 1
                stretches[open].lastLine = end
            } else {
                stretches.append(SharedPhrases(line: words[index].line, lastLine: end))
            }
            last = index
        }
        return stretches
    }

    /// Which telling numbers of tasks a text holds, in one spelling.
    func sharedNumbers(with text: String) -> Set<String> {
        numbers.isEmpty ? [] : Self.tellingNumbers(of: text).intersection(numbers)
    }

    // MARK: - names

    /// Runs of letters, digits, `_`, `-`, `.` and `#`, as ids are spelled.
    private static func tokens(of text: some StringProtocol) -> [String] {
        text.unicodeScalars
            .split { !($0.properties.isAlphabetic || isTokenMark($0)) }
            .map { String(String.UnicodeScalarView($0)) }
    }

    private static func isTokenMark(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-" || scalar == "."
            || scalar == "#"
    }

    /// Tokens of six characters or more with a digit among them: order numbers, user ids.
    private static func distinctTokens(of text: String) -> Set<String> {
        Set(
            tokens(of: text).filter { token in
                token.utf8.count >= 6 && token.utf8.contains { (0x30...0x39).contains($0) }
            }
        )
    }

    // MARK: - numbers

    /// Numbers that are rarely written by chance: four digits or more, not round, no year and no
    /// power of two; 41.80, 4_180 and 4180 are one.
    static func tellingNumbers(of text: some StringProtocol) -> Set<String> {
        var numbers: Set<String> = []
        for run in text.utf8.split(whereSeparator: { !isNumberByte($0) }) {
            let digits = run.filter { (0x30...0x39).contains($0) }.drop { $0 == 0x30 }
            let number = String(decoding: digits, as: UTF8.self)
            if isTelling(number) { numbers.insert(number) }
        }
        return numbers
    }

    private static func isTelling(_ digits: String) -> Bool {
        guard digits.utf8.count >= 4, !digits.hasSuffix("00") else { return false }
        guard let value = UInt64(digits) else { return true }
        return value.nonzeroBitCount > 1 && !(1900...2100).contains(value)
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    // MARK: - phrases

    private static func words(of text: String) -> [(hash: UInt64, line: Int)] {
        var words: [(hash: UInt64, line: Int)] = []
        for (index, line) in text.lowercased().utf8
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            words += String(decoding: line, as: UTF8.self).unicodeScalars
                .split { !($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
                .map { (hash(of: String(String.UnicodeScalarView($0))), index + 1) }
        }
        return words
    }

    private static func phrases(of text: String) -> Set<UInt64> {
        Set(phrases(of: words(of: text).map(\.hash)))
    }

    private static func phrases(of words: [UInt64]) -> [UInt64] {
        guard words.count >= wordsInPhrase else { return [] }
        return (0...(words.count - wordsInPhrase)).map { start in
            words[start..<(start + wordsInPhrase)].reduce(14_695_981_039_346_656_037) {
                ($0 ^ $1) &* 1_099_511_628_211
            }
        }
    }

    /// FNV-1a: a table key, not a protection; nothing hostile gains from a collision.
    private static func hash(of word: String) -> UInt64 {
        word.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

/// A stretch of a text that holds phrases of tasks.
struct SharedPhrases: Equatable {
    /// The line that it begins in.
    let line: Int
    /// The line that it ends in.
    var lastLine: Int
    /// How many phrases overlap in it.
    var count = 1
}

/// The logarithm to base 2 without a library of mathematics.
enum BinaryLogarithm {
    /// The logarithm of a number above 0, to about 12 digits.
    ///
    /// The exponent is exact; the significand's logarithm comes from the series of the inverse
    /// hyperbolic tangent, whose terms shrink at least ninefold.
    static func of(_ value: Double) -> Double {
        let significand = value.significand
        let ratio = (significand - 1) / (significand + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        for divisor in stride(from: 1.0, through: 27.0, by: 2.0) {
            sum += term / divisor
            term *= square
        }
        return Double(value.exponent) + 2 * sum * 1.442_695_040_888_963_4
    }
}
