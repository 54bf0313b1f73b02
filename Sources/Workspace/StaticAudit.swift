public import StrictJSON
internal import ExamResults

/// Looks at a candidate's text for what an honest change does not need.
///
/// Findings are recorded with the candidate; they name lines, counts and kinds, never the text
/// that matched, because a marker may come from a sealed task. The audit is a lint: it lowers the
/// price of looking, it proves nothing.
public struct StaticAudit: Sendable {
    /// What the audit looks for and from which size on.
    public struct Limits: Sendable, Equatable {
        /// The shortest run of blob characters that counts as one; a hash has 64.
        public var blobLength = 120
        /// The entropy, in bits a character, from which a long literal is suspicious.
        public var blobEntropy = 4.6
        /// The longest line that is no finding.
        public var lineLength = 2_000
        /// The growth against the file it replaces, in bytes, that is no finding.
        public var growth = 32 * 1024
        /// How many phrases of tasks a candidate may share before it is a finding.
        public var sharedPhrases = 3

        /// Makes the shipped limits.
        public init() {}
    }

    private let markers: TaskMarkers
    private let limits: Limits

    /// Makes an audit.
    ///
    /// - Parameters:
    ///   - markers: what gives a task away.
    ///   - limits: from which size on something is a finding.
    public init(markers: TaskMarkers, limits: Limits = Limits()) {
        self.markers = markers
        self.limits = limits
    }

    /// Audits one candidate.
    ///
    /// - Parameters:
    ///   - text: the candidate's text.
    ///   - previousSize: the size in bytes of the file that it would replace.
    /// - Returns: the findings; empty is the usual case.
    public func findings(in text: String, previousSize: Int) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        let size = text.utf8.count
        if size - previousSize > limits.growth {
            findings.append(
                AuditFinding(
                    kind: .sizeGrowth,
                    line: nil,
                    detail: "\(previousSize) to \(size) bytes"
                )
            )
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            findings += lineFindings(line, number: index + 1)
        }
        let shared = markers.sharedPhrases(with: text)
        if shared > limits.sharedPhrases {
            findings.append(
                AuditFinding(kind: .taskText, line: nil, detail: "\(shared) phrases of tasks")
            )
        }
        return Array(findings.prefix(Self.maximumFindings))
    }

    /// The most findings of one candidate; what is beyond them adds nothing for a reader.
    static let maximumFindings = 100

    private func lineFindings(_ line: Substring, number: Int) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        if line.utf8.count > limits.lineLength {
            findings.append(
                AuditFinding(kind: .longLine, line: number, detail: "\(line.utf8.count) bytes")
            )
        }
        if line.unicodeScalars.contains(where: \.changesDirection) {
            findings.append(
                AuditFinding(kind: .hiddenText, line: number, detail: "invisible or turning marks")
            )
        }
        let known = markers.knownNames(in: line)
        if known > 0 {
            findings.append(
                AuditFinding(kind: .taskName, line: number, detail: "\(known) names of tasks")
            )
        }
        if let blob = longestBlob(in: line) {
            findings.append(AuditFinding(kind: .encodedBlob, line: number, detail: blob))
        }
        return findings
    }

    /// The longest run of base-64 or hexadecimal characters, where it is long and dense.
    private func longestBlob(in line: Substring) -> String? {
        let runs = line.utf8.split { !Self.isBlobByte($0) }
        guard let run = runs.max(by: { $0.count < $1.count }), run.count >= limits.blobLength
        else { return nil }
        let entropy = Self.entropy(of: Array(run))
        let isHexadecimal = run.allSatisfy(Self.isHexadecimal)
        guard entropy >= limits.blobEntropy || (isHexadecimal && entropy >= 3.3) else {
            return nil
        }
        return "\(run.count) characters at \((entropy * 10).rounded() / 10) bits each"
    }

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

    /// Shannon's entropy of the bytes, in bits a byte.
    static func entropy(of bytes: [UInt8]) -> Double {
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        let total = Double(bytes.count)
        return counts.reduce(0) { sum, count in
            guard count > 0 else { return sum }
            let share = Double(count) / total
            return sum - share * BinaryLogarithm.of(share)
        }
    }
}

/// Something in a candidate that an honest change does not need.
public struct AuditFinding: Sendable, Equatable {
    /// What it is.
    public let kind: Kind
    /// The line, from 1; nothing where it is the file as a whole.
    public let line: Int?
    /// Counts and sizes; never text of a task or of the candidate.
    public let detail: String

    /// What was found.
    public enum Kind: String, Sendable, CaseIterable {
        /// The id of a task, or a token that only tasks hold.
        case taskName = "task-name"
        /// Phrases that are word for word those of tasks.
        case taskText = "task-text"
        /// A long literal that looks encoded.
        case encodedBlob = "encoded-blob"
        /// A line that nobody reads to its end.
        case longLine = "long-line"
        /// Characters that show a text other than it is.
        case hiddenText = "hidden-text"
        /// A file that grew by more than a change explains.
        case sizeGrowth = "size-growth"
    }

    /// The finding as a member of an audit row.
    public var body: JSONValue {
        [
            "kind": .string(kind.rawValue),
            "line": line.map { JSONValue($0) } ?? .null,
            "detail": .string(detail),
        ]
    }
}

extension Unicode.Scalar {
    /// Whether this turns the direction of writing or is invisible.
    fileprivate var changesDirection: Bool {
        switch value {
        case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0x2066...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            true
        default:
            false
        }
    }
}
