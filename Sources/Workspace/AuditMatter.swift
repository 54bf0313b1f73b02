internal import StrictJSON

/// What a memorised task would show in a candidate, apart by where it comes from.
public struct AuditMatter: Sendable, Equatable {
    private let train: TaskMarkers
    private var traces = TaskMarkers.none
    private let sealed: TaskMarkers
    /// What the coding agent may know anyway (policy, template): a phrase, a number or a token of
    /// those is no marker.
    private let known: TaskMarkers

    /// Collects what gives tasks away.
    ///
    /// - Parameters:
    ///   - train: the train tasks.
    ///   - sealed: the sealed tasks; of them only what no train task holds counts.
    ///   - publicTexts: what the coding agent may know anyway.
    public init(
        train: [TaskCatalog.Entry],
        sealed: [TaskCatalog.Entry],
        publicTexts: [String]
    ) {
        known = TaskMarkers(ids: [], texts: publicTexts)
        var train = Self.markers(of: train)
        train.subtract(known)
        self.train = train
        var rest = Self.markers(of: sealed)
        rest.subtract(known)
        rest.subtract(train)
        self.sealed = rest
    }

    /// Nothing: an audit with this looks at form, literals and words only.
    public static let none = AuditMatter(train: [], sealed: [], publicTexts: [])

    private static func markers(of entries: [TaskCatalog.Entry]) -> TaskMarkers {
        TaskMarkers(
            ids: Set(entries.map(\.id)),
            texts: entries.flatMap { $0.content.spokenTexts }
        )
    }

    /// The most phrases of train traces that are kept, some 20 MiB.
    ///
    /// A candidate has a part in what it hears, and must not fill the memory of a whole night.
    static let mostPhrases = 1_000_000
    /// The most bytes of one exam's traces that are looked at.
    static let bytesOfExam = 4 << 20

    package mutating func note(traces texts: [String]) {
        var left = Self.bytesOfExam
        for text in texts {
            left -= text.utf8.count
            guard left >= 0 else { return }
            traces.addPhrases(of: text, except: [known, train], atMost: Self.mostPhrases)
        }
    }

    package func findings(in text: String) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        var numbers: [String: Int] = [:]
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.lazy.map(Substring.init).enumerated() {
            let number = index + 1
            for (markers, kind) in [(train, AuditFinding.Kind.taskName), (sealed, .sealedName)] {
                let known = markers.knownNames(in: line)
                guard known > 0 else { continue }
                findings.append(AuditFinding(kind, line: number, "\(known) names of tasks"))
            }
            for shared in train.sharedNumbers(with: line) where numbers[shared] == nil {
                numbers[shared] = number
            }
        }
        let words = TextWords.words(of: text)
        findings += phrases(of: train, .taskText, in: words)
        findings += phrases(of: traces, .traceText, in: words)
        findings += phrases(of: sealed, .sealedText, in: words)
        if numbers.count > StaticAudit.sharedNumbers, let first = numbers.values.min(),
            let last = numbers.values.max()
        {
            findings.append(
                AuditFinding(
                    .taskNumber,
                    line: first,
                    "\(numbers.count) different numbers of tasks, up to line \(last)"
                )
            )
        }
        return findings
    }

    private func phrases(
        of markers: TaskMarkers,
        _ kind: AuditFinding.Kind,
        in words: [TextWord]
    ) -> [AuditFinding] {
        let stretches = markers.sharedPhrases(with: words)
        guard stretches.reduce(0, { $0 + $1.count }) > StaticAudit.sharedPhrases else { return [] }
        return stretches.map { stretch in
            let end = stretch.lastLine > stretch.line ? ", up to line \(stretch.lastLine)" : ""
            return AuditFinding(kind, line: stretch.line, "\(stretch.count) phrases of tasks\(end)")
        }
    }
}

extension JSONValue {
    /// Every text in it, and every number as one writes it.
    var spokenTexts: [String] {
        switch self {
        case .string(let text): [text]
        case .integer(let number): ["\(number)"]
        case .number(let number): ["\(number)"]
        case .array(let values): values.flatMap(\.spokenTexts)
        case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.spokenTexts)
        case .null, .bool: []
        }
    }
}
