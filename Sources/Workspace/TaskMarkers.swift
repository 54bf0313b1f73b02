public import ExamResults

/// What gives tasks away in a text: their ids, tokens that only they hold, and phrases.
///
/// Phrases are kept as hashes of six words, lower case, so that the set can be held beside the
/// audit without holding the tasks.
public struct TaskMarkers: Sendable, Equatable {
    private let names: Set<String>
    private let phrases: Set<UInt64>

    /// How many words make a phrase.
    ///
    /// Fewer match ordinary prose, more miss edited copies.
    static let wordsInPhrase = 6

    /// Collects the markers of tasks.
    ///
    /// - Parameters:
    ///   - ids: the ids of the tasks.
    ///   - texts: the texts of the tasks.
    ///   - publicTexts: what the coding agent may know anyway (policy, template): a phrase or a
    ///     token of those is no marker.
    public init(ids: Set<TaskID>, texts: [String], publicTexts: [String]) {
        var names = Set(ids.map(\.text))
        var phrases: Set<UInt64> = []
        for text in texts {
            names.formUnion(Self.distinctTokens(of: text))
            phrases.formUnion(Self.phrases(of: text))
        }
        for text in publicTexts {
            names.subtract(Self.distinctTokens(of: text))
            phrases.subtract(Self.phrases(of: text))
        }
        self.names = names
        self.phrases = phrases
    }

    /// No markers: an audit with these looks at form only.
    public static let none = TaskMarkers(ids: [], texts: [], publicTexts: [])

    /// How many different ids and tokens of tasks a line holds.
    func knownNames(in line: Substring) -> Int {
        guard !names.isEmpty else { return 0 }
        return Set(Self.tokens(of: line)).intersection(names).count
    }

    /// How many different phrases of tasks a text holds.
    func sharedPhrases(with text: String) -> Int {
        guard !phrases.isEmpty else { return 0 }
        return Self.phrases(of: text).intersection(phrases).count
    }

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

    private static func phrases(of text: String) -> Set<UInt64> {
        let words = text.lowercased().unicodeScalars
            .split { !($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
            .map { hash(of: String(String.UnicodeScalarView($0))) }
        guard words.count >= wordsInPhrase else { return [] }
        var phrases: Set<UInt64> = []
        for start in 0...(words.count - wordsInPhrase) {
            var combined: UInt64 = 14_695_981_039_346_656_037
            for word in words[start..<(start + wordsInPhrase)] {
                combined = (combined ^ word) &* 1_099_511_628_211
            }
            phrases.insert(combined)
        }
        return phrases
    }

    /// FNV-1a: a table key, not a protection; nothing hostile gains from a collision.
    private static func hash(of word: String) -> UInt64 {
        word.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
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
