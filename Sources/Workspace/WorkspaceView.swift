internal import StrictJSON
internal import ExamResults

/// One file of a rendered view.
public struct RenderedFile: Sendable, Equatable {
    /// Where it goes, beneath the view's directory.
    public let path: BeneathPath
    /// What it holds.
    public let bytes: [UInt8]
}

/// A place that rendered files are put into: the operator's directory or the agent's tree.
public protocol FileSink: ~Copyable {
    /// Replaces one file as a whole; a reader sees the old one or the new one.
    ///
    /// - Parameter file: the file.
    /// - Throws: ``WorkspaceError/host(operation:location:reason:remedy:)``.
    mutating func replace(_ file: RenderedFile) throws(WorkspaceError)

    /// Removes everything beneath a directory, if it is there.
    ///
    /// - Parameter directory: the directory, itself beneath the view's directory.
    /// - Throws: ``WorkspaceError/host(operation:location:reason:remedy:)``.
    mutating func empty(_ directory: BeneathPath) throws(WorkspaceError)
}

/// The files of `workspace/` with auto-harness's names and formats, for one of two readers.
public struct WorkspaceView: Sendable, Equatable {
    /// Who reads the view.
    public enum Audience: String, Sendable, CaseIterable {
        /// The administrator, who sees exact scores.
        case `operator`
        /// The coding agent, who sees released scores only.
        case agent
    }

    /// Which of the two sets of traces.
    public enum TraceSet: String, Sendable, CaseIterable {
        /// Those of the baseline; written once.
        case baseline
        /// Those of the last train exam.
        case latest
    }

    /// What the files say.
    public let content: WorkspaceContent
    /// Who reads them.
    public let audience: Audience

    /// Makes a view.
    ///
    /// - Parameters:
    ///   - content: what the files say.
    ///   - audience: who reads them.
    public init(of content: WorkspaceContent, for audience: Audience) {
        self.content = content
        self.audience = audience
    }

    /// The view's files, traces aside.
    ///
    /// - Returns: the files, by path.
    /// - Throws: ``WorkspaceError/path(text:reason:)`` never, the names being fixed.
    public func files() throws(WorkspaceError) -> [RenderedFile] {
        var files = [
            RenderedFile(path: try BeneathPath("learnings.md"), bytes: learningsBytes),
            RenderedFile(path: try BeneathPath("results.tsv"), bytes: resultsBytes),
            RenderedFile(path: try BeneathPath("suite.json"), bytes: suiteBytes),
        ]
        if let bytes = trainBytes {
            files.append(RenderedFile(path: try BeneathPath("train_results.json"), bytes: bytes))
        }
        return files
    }

    /// Puts the view's files into a sink.
    ///
    /// - Parameter sink: the place.
    /// - Throws: what the sink throws.
    public func render(into sink: inout some FileSink & ~Copyable) throws(WorkspaceError) {
        for file in try files() {
            try sink.replace(file)
        }
    }

    /// The files of traces.
    ///
    /// - Parameters:
    ///   - records: the records, one a task.
    ///   - set: which of the two sets.
    /// - Returns: two files a record.
    /// - Throws: ``WorkspaceError/path(text:reason:)`` where a task's id is no file name.
    public static func traceFiles(
        of records: [TraceRecord],
        in set: TraceSet
    ) throws(WorkspaceError) -> [RenderedFile] {
        var files: [RenderedFile] = []
        for record in records.sorted(by: { $0.task < $1.task }) {
            let folder = "traces/\(set.rawValue)/\(record.task.text)"
            let result: JSONValue = [
                "task_id": .string(record.task.text),
                "reward": record.reward.map { .number($0.value) } ?? .null,
                "passed": .bool((record.reward ?? .zero) >= .half),
                "detail": record.detail,
            ]
            files.append(
                RenderedFile(
                    path: try BeneathPath("\(folder)/trace.json"),
                    bytes: lines(of: .array(numbered(record.messages)))
                )
            )
            files.append(
                RenderedFile(
                    path: try BeneathPath("\(folder)/result.json"),
                    bytes: lines(of: result)
                )
            )
            guard !record.calls.isEmpty else { continue }
            files.append(
                RenderedFile(path: try BeneathPath("\(folder)/calls.jsonl"), bytes: record.calls)
            )
        }
        return files
    }

    /// Replaces one set of traces in a sink.
    ///
    /// - Parameters:
    ///   - records: the records, one a task.
    ///   - set: which of the two sets.
    ///   - sink: the place.
    /// - Throws: what the sink throws.
    public static func render(
        _ records: [TraceRecord],
        as set: TraceSet,
        into sink: inout some FileSink & ~Copyable
    ) throws(WorkspaceError) {
        let files = try traceFiles(of: records, in: set)
        try sink.empty(try BeneathPath("traces/\(set.rawValue)"))
        for file in files {
            try sink.replace(file)
        }
    }

    private static func numbered(_ messages: [JSONValue]) -> [JSONValue] {
        messages.enumerated().map { index, message in
            guard var members = message.objectValue else { return message }
            members["index"] = JSONValue(index)
            return .object(members)
        }
    }

    private static func lines(of value: JSONValue) -> [UInt8] {
        Array(value.prettyText().utf8) + [0x0A]
    }
}

extension WorkspaceView {
    private var suiteBytes: [UInt8] {
        var members: [String: JSONValue] = [
            "tasks": JSONValue(content.suite.tasks.sorted().map(\.text)),
            "threshold": .number(content.suite.threshold),
            "last_results": .object(
                Dictionary(
                    uniqueKeysWithValues: content.suite.lastResults.map {
                        ($0.key.text, .number($0.value.value))
                    }
                )
            ),
        ]
        // Not a member of auto-harness's file unless there is something to say.
        for (name, tasks) in [
            ("quarantined", content.suite.quarantined), ("retired", content.suite.retired),
        ] where !tasks.isEmpty {
            members[name] = JSONValue(tasks.sorted().map(\.text))
        }
        return Self.lines(of: .object(members))
    }

    private var trainBytes: [UInt8]? {
        guard let train = content.train else { return nil }
        let results = train.results.map {
            ($0.key.text, $0.value.map { JSONValue.number($0.value) } ?? JSONValue.null)
        }
        return Self.lines(
            of: [
                "split": "train",
                "timestamp": .string(Timestamp.text(milliseconds: train.time)),
                "results": .object(Dictionary(uniqueKeysWithValues: results)),
            ]
        )
    }

    private var resultsBytes: [UInt8] {
        var text = "iteration\tval_score\tcommit\tevals_passed\tevals_total\ttimestamp\n"
        for row in content.rows {
            guard let line = line(of: row) else { continue }
            text += line + "\n"
        }
        return Array(text.utf8)
    }

    /// A row as this audience sees it; nothing where it is not to see it yet.
    private func line(of row: WorkspaceContent.Row) -> String? {
        let score: String?
        let time: Int64
        switch audience {
        case .operator:
            score = row.exactScore.text(decimals: 4)
            time = row.decidedAt
        case .agent:
            guard let released = row.releasedAt else { return nil }
            score = row.releasedScore.map(Self.fourDecimals)
            time = released
        }
        let cells = [
            "\(row.iteration)", score ?? "",
            row.commit.map { String($0.prefix(7)) } ?? "-", "\(row.suitePassed)",
            "\(row.suiteTotal)", Timestamp.text(milliseconds: time),
        ]
        return cells.joined(separator: "\t")
    }

    /// A proportion with four decimals, rounded half up.
    static func fourDecimals(_ score: Proportion) -> String {
        let scaled = (score.millionths + 50) / 100
        let fraction = String(scaled % 10_000)
        return "\(scaled / 10_000)." + String(repeating: "0", count: 4 - fraction.utf8.count)
            + fraction
    }

    private var learningsBytes: [UInt8] {
        var text = "# Learnings\n"
        for learning in content.learnings {
            text += "\n## Iteration \(learning.iteration)\n"
            for (part, words) in learning.note.ordered {
                text += "\n\(part.title):\n\n\(Self.quoted(words))\n"
            }
            if let words = learning.note.text { text += "\n\(Self.quoted(words))\n" }
        }
        return Array(text.utf8)
    }

    /// Whether a reader may begin a new line after it (Unicode Standard, section 5.8).
    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// A note as a quotation: none of its lines can pass for a heading of ours.
    private static func quoted(_ text: String) -> String {
        text.unicodeScalars
            .split(omittingEmptySubsequences: false, whereSeparator: endsLine)
            .map { $0.isEmpty ? ">" : "> " + String($0) }
            .joined(separator: "\n")
    }
}
