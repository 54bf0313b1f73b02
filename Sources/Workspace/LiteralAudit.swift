/// What strings and numbers of a program hide: blobs, dense text, tables.
enum LiteralAudit {
    /// The shortest run of blob characters that counts as one; a hash has 64.
    static let blobLength = 120
    /// The entropy, in bits a character, from which such a run is no word of any language.
    private static let blobEntropy = 4.6
    /// The shortest string of which the entropy says anything.
    static let denseLength = 200
    /// How many numbers of this many digits make a table.
    static let tableCount = 40
    private static let tableDigits = 6

    /// The findings over all literals.
    static func findings(in tokens: PythonTokens, entropy limit: Double) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for literal in tokens.literals {
            let count = literal.value.unicodeScalars.count
            guard count >= denseLength else { continue }
            let bits = entropy(of: literal.value.unicodeScalars.map(\.value))
            guard bits >= limit else { continue }
            findings.append(
                AuditFinding(
                    .denseLiteral,
                    line: literal.line,
                    "\(count) characters at \(rounded(bits)) bits each"
                )
            )
        }
        // Many short ones are as good as a long one: together they are looked at as if joined.
        let joined = tokens.literals.filter { isDense($0.value) }
        let bytes = joined.reduce(0) { $0 + $1.value.utf8.count }
        if joined.count >= 8, bytes >= 512, let first = joined.first {
            findings.append(
                AuditFinding(
                    .denseLiteral,
                    line: first.line,
                    "\(joined.count) strings like keys or codes, \(bytes) bytes together"
                )
            )
        }
        let numbers = tokens.tokens.filter { $0.kind == .number && isLong($0.text) }
        if Set(numbers.map(\.text)).count > tableCount, let first = numbers.first {
            findings.append(
                AuditFinding(
                    .numberTable,
                    line: first.line,
                    "\(numbers.count) numbers of \(tableDigits) digits or more"
                )
            )
        }
        return findings
    }

    /// The longest run of base-64 or hexadecimal characters of a line, where it is long and dense.
    static func longestBlob(in line: Substring) -> String? {
        let runs = line.utf8.split { !isBlobByte($0) }
        guard let run = runs.max(by: { $0.count < $1.count }), run.count >= blobLength
        else { return nil }
        let bits = entropy(of: run.map(UInt32.init))
        let isHexadecimal = run.allSatisfy(isHexadecimal)
        guard bits >= blobEntropy || (isHexadecimal && bits >= 3.3) else { return nil }
        return "\(run.count) characters at \(rounded(bits)) bits each"
    }

    /// Whether a string is 16 to 199 letters and digits, mixed as no identifier is: a hash, a key.
    private static func isDense(_ text: String) -> Bool {
        guard (16..<denseLength).contains(text.utf8.count), text.utf8.allSatisfy(isBlobByte) else {
            return false
        }
        let digits = text.utf8.count { (0x30...0x39).contains($0) }
        return digits * 8 >= text.utf8.count && digits < text.utf8.count
    }

    private static func isLong(_ number: String) -> Bool {
        number.utf8.count { (0x30...0x39).contains($0) || isHexadecimal($0) } >= tableDigits
    }

    private static func rounded(_ bits: Double) -> Double { (bits * 10).rounded() / 10 }

    private static func isBlobByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "="), UInt8(ascii: "\\"):
            true
        default:
            false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "\\"), UInt8(ascii: "x"):
            true
        default:
            false
        }
    }

    /// Shannon's entropy of values, in bits each.
    static func entropy(of values: [UInt32]) -> Double {
        var counts: [UInt32: Int] = [:]
        for value in values { counts[value, default: 0] += 1 }
        let total = Double(values.count)
        // Sorted, so that the sum is the same each time.
        return counts.values.sorted().reduce(0) { sum, count in
            let share = Double(count) / total
            return sum - share * BinaryLogarithm.of(share)
        }
    }
}
