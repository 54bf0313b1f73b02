internal import ExamResults

/// What gives tasks away in a text: their ids, tokens and numbers that only they hold, and phrases.
///
/// Phrases are kept as hashes of six words, lower case, so that the set can be held beside the
/// audit without holding the tasks.
struct TaskMarkers: Sendable, Equatable {
    private var names: Set<String>
    private var phrases: Set<UInt64> = []
    private var numbers: Set<String> = []

    /// How many words make a phrase.
    ///
    /// Fewer match ordinary prose, more miss edited copies.
    static let wordsInPhrase = 6

    /// Collects the markers of tasks.
    ///
    /// - Parameters:
    ///   - ids: the ids of the tasks.
    ///   - texts: the texts of the tasks, their numbers among them.
    init(ids: Set<TaskID>, texts: [String]) {
        names = Set(ids.map(\.text))
        for text in texts {
            names.formUnion(Self.distinctTokens(of: text))
            phrases.formUnion(Self.phrases(of: TextWords.words(of: text)))
            numbers.formUnion(Self.tellingNumbers(of: text))
        }
    }

    /// No markers: an audit with these looks at form only.
    static let none = TaskMarkers(ids: [], texts: [])

    /// Takes out what others hold, too.
    ///
    /// - Parameter others: the markers that tell nothing new.
    mutating func subtract(_ others: TaskMarkers) {
        names.subtract(others.names)
        phrases.subtract(others.phrases)
        numbers.subtract(others.numbers)
    }

    /// Adds the phrases of a text, and nothing else of it, as long as there are not too many.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - known: markers whose phrases tell nothing new.
    ///   - most: how many phrases these may become.
    mutating func addPhrases(of text: String, except known: [TaskMarkers], atMost most: Int) {
        for phrase in Self.phrases(of: TextWords.words(of: text))
        where !known.contains(where: { $0.phrases.contains(phrase) }) {
            guard phrases.count < most else { return }
            phrases.insert(phrase)
        }
    }

    /// How many different ids and tokens of tasks a line holds.
    func knownNames(in line: Substring) -> Int {
        guard !names.isEmpty else { return 0 }
        return Set(Self.tokens(of: line).map(String.init).filter(names.contains)).count
    }

    /// Where a text holds phrases of tasks.
    ///
    /// - Parameter words: the words of the text.
    /// - Returns: stretches that belong together, in order.
    func sharedPhrases(with words: [TextWord]) -> [SharedPhrases] {
        guard !phrases.isEmpty else { return [] }
        var stretches: [SharedPhrases] = []
        var last = -Self.wordsInPhrase - 1
        for (index, phrase) in Self.phrases(of: words).enumerated() where phrases.contains(phrase) {
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
    func sharedNumbers(with text: Substring) -> Set<String> {
        numbers.isEmpty ? [] : Self.tellingNumbers(of: text).intersection(numbers)
    }

    // MARK: - names

    /// Runs of letters, digits, `_`, `-`, `.` and `#`, as ids are spelled.
    private static func tokens(of text: Substring) -> [Substring] {
        text.unicodeScalars
            .split { !(TextWords.isOfWord($0) || isTokenMark($0)) }
            .map(Substring.init)
    }

    private static func isTokenMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "-" || scalar == "." || scalar == "#"
    }

    /// Tokens of six characters or more with a digit among them: order numbers, user ids.
    private static func distinctTokens(of text: String) -> Set<String> {
        Set(
            tokens(of: text[...]).filter { token in
                token.utf8.count >= 6 && token.utf8.contains { (0x30...0x39).contains($0) }
            }
            .map(String.init)
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

    private static func phrases(of words: [TextWord]) -> some Sequence<UInt64> {
        (0..<max(0, words.count - wordsInPhrase + 1)).lazy.map { start in
            words[start..<(start + wordsInPhrase)].reduce(TextWords.hashOfNothing) {
                TextWords.hash($0, $1.hash)
            }
        }
    }
}

/// A word of a text, without the text.
struct TextWord: Equatable {
    /// The hash of its letters and digits in lower case.
    let hash: UInt64
    /// The line that it stands in.
    let line: Int
}

/// How a text falls into words.
enum TextWords {
    /// The words of a text: runs of letters and digits.
    static func words(of text: String) -> [TextWord] {
        var words: [TextWord] = []
        var line = 1
        var word = hashOfNothing
        var isOpen = false
        func end() {
            guard isOpen else { return }
            words.append(TextWord(hash: word, line: line))
            (word, isOpen) = (hashOfNothing, false)
        }
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                if isOfWord(scalar) {
                    // The letters' lower case differs in this bit, and digits have it.
                    word = hash(word, UInt64(byte | 0x20))
                    isOpen = true
                    continue
                }
                end()
                if byte == UInt8(ascii: "\n") { line += 1 }
                continue
            }
            // One letter can become several, of which not each is one: \u{130} has a dot of its own.
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                guard isOfWord(lower) else {
                    end()
                    continue
                }
                for byte in UTF8.encode(lower) ?? .init() { word = hash(word, UInt64(byte)) }
                isOpen = true
            }
        }
        end()
        return words
    }

    /// Whether a scalar is a letter or a digit; most of them are ASCII, which needs no table.
    static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case ..<0x80: false
        default: scalar.properties.isAlphabetic
        }
    }

    /// FNV-1a: a table key, not a protection; nothing hostile gains from a collision.
    static func hash(_ hash: UInt64, _ next: UInt64) -> UInt64 {
        (hash ^ next) &* 1_099_511_628_211
    }

    static let hashOfNothing: UInt64 = 14_695_981_039_346_656_037
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
