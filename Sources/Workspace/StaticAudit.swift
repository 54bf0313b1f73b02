// The order of an audit: form (size, lines, marks), then what tasks are given away by, then literals,
// then words of the language. Each part looks at all of the text; none hides another.

/// Looks at a candidate's text for what an honest change does not need.
///
/// Findings are recorded with the candidate; they name lines, counts and kinds, never the text
/// that matched, because a marker may come from a sealed task. The audit is a lint: it lowers the
/// price of looking, it proves nothing.
public struct StaticAudit: Sendable {
    private var matter: AuditMatter
    private let settings: AuditSettings
    private let usual: Set<WordFinding>

    /// The longest line that is no finding.
    static let lineLength = 2_000
    /// How many phrases of tasks a candidate may share before it is a finding.
    static let sharedPhrases = 3
    /// How many telling numbers of tasks a candidate may share before it is a finding.
    static let sharedNumbers = 4
    /// The most findings of one candidate; what is beyond them adds nothing for a reader.
    static let maximumFindings = 100

    /// Makes an audit.
    ///
    /// - Parameters:
    ///   - matter: what gives tasks away.
    ///   - settings: from which size on something is a finding.
    ///   - usual: texts that the operator gave: what their Python names is no finding elsewhere.
    public init(
        matter: AuditMatter,
        settings: AuditSettings = .standard,
        usual: [String] = []
    ) {
        self.matter = matter
        self.settings = settings
        self.usual = Set(usual.flatMap { WordAudit.findings(in: PythonTokens(of: $0)).map(\.word) })
    }

    /// Adds what examiners said in a train exam, which tasks' files need not hold.
    ///
    /// - Parameter texts: messages to the candidate, never those of it.
    public mutating func note(traces texts: [String]) { matter.note(traces: texts) }

    /// Audits one text.
    ///
    /// - Parameters:
    ///   - text: the candidate's text.
    ///   - isPython: whether it is a program, so that literals and words can be told apart.
    /// - Returns: the findings; empty is the usual case.
    public func findings(in text: String, isPython: Bool = true) -> [AuditFinding] {
        var findings = formFindings(text) + matter.findings(in: text)
        if isPython {
            let tokens = PythonTokens(of: text)
            if let line = tokens.unreadableLine {
                findings.append(
                    AuditFinding(.unreadable, line: line, "no Python that the audit can follow")
                )
            }
            findings += LiteralAudit.findings(in: tokens, entropy: settings.entropy)
            findings += WordAudit.findings(in: tokens).filter { !usual.contains($0.word) }
                .map(\.finding)
        }
        return Self.cut(findings)
    }

    /// The first findings of each sort: how many of sealed tasks there are must not show in how many of
    /// the others are told.
    static func cut(_ findings: [AuditFinding]) -> [AuditFinding] {
        let told = findings.filter { !$0.kind.isOfSealedTasks }
        let kept = findings.filter(\.kind.isOfSealedTasks)
        return Array(told.prefix(maximumFindings)) + Array(kept.prefix(maximumFindings))
    }

    /// The findings that are of a candidate as a whole: how much it grew.
    func growth(
        from old: (bytes: Int, lines: Int),
        to new: (bytes: Int, lines: Int)
    ) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        if new.bytes - old.bytes > settings.growth {
            findings.append(
                AuditFinding(.sizeGrowth, line: nil, "\(old.bytes) to \(new.bytes) bytes")
            )
        }
        if new.lines - old.lines > settings.lines {
            findings.append(
                AuditFinding(.lineGrowth, line: nil, "\(old.lines) to \(new.lines) lines")
            )
        }
        return findings
    }

    private func formFindings(_ text: String) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for (index, line) in text.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "\n" || $0 == "\r\n" }
        )
        .enumerated() {
            let number = index + 1
            if line.utf8.count > Self.lineLength {
                findings.append(
                    AuditFinding(.longLine, line: number, "\(line.utf8.count) bytes")
                )
            }
            if line.unicodeScalars.contains(where: \.changesDirection) {
                findings.append(
                    AuditFinding(.hiddenText, line: number, "invisible or turning marks")
                )
            }
            // A first line can say that all others mean something else (language reference, 2.1.4).
            if number <= 2, line.contains("coding"), line.contains("#"),
                !line.lowercased().contains("utf-8"), line.contains(":") || line.contains("=")
            {
                findings.append(
                    AuditFinding(.hiddenText, line: number, "another encoding is declared")
                )
            }
            if let blob = LiteralAudit.longestBlob(in: line) {
                findings.append(AuditFinding(.encodedBlob, line: number, blob))
            }
        }
        return findings
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
