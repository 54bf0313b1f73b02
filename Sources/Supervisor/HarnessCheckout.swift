internal import Benchmarks
internal import HostKernel
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

/// A checkout of auto-harness (https://github.com/neosigmaai/auto-harness) in which a loop was run.
///
/// Its configuration and its agent become those of an experiment. What its loop wrote down is shown to
/// the coding agent as what it is, the word of whoever was examined: scores and suites of a loop that
/// could read the tests are no record, and are earned anew by `prepare`.
public struct HarnessCheckout {
    /// What was taken, what was not, and what holds from now on, a line each.
    public private(set) var report: [String] = []
    /// The benchmark that its configuration names.
    public let benchmark: String
    /// The judged file.
    package let agent: [UInt8]
    /// Text for PROGRAM.md; empty where there is nothing to tell.
    package private(set) var notes = ""
    /// Its own files, kept beside the experiment for people.
    package private(set) var kept: [(name: String, bytes: [UInt8])] = []
    private let path: String
    private let lines: [String]
    private var keys: [String] { lines.compactMap { Self.key(of: $0) } }

    private static let limit = 1 << 20
    private static let notesLimit = 65_536

    /// Reads a checkout; nothing of it is run or changed.
    ///
    /// - Parameter path: its directory.
    /// - Throws: ``SupervisorError`` where it has no configuration or no agent, or the configuration is
    ///   none.
    public init(_ path: String) throws(SupervisorError) {
        let root = try Experiment.absolute(path)
        let file = "\(root)/experiment_config.yaml"
        guard let config = try Self.read("experiment_config.yaml", root) else {
            throw Self.missing(root, "experiment_config.yaml")
        }
        guard let agent = try Self.read("agent/agent.py", root) else {
            throw Self.missing(root, "agent/agent.py")
        }
        let parsed = try workspace { () throws(WorkspaceError) in
            try ExperimentConfig(parsing: config, file: file)
        }
        guard String(validating: agent, as: UTF8.self) != nil else {
            throw Self.strange("\(root)/agent/agent.py", "it is no UTF-8")
        }
        benchmark = parsed.benchmark
        self.agent = agent
        self.path = root
        lines = try Self.lines(of: String(decoding: config, as: UTF8.self), file)
        let taken = lines.filter { Self.key(of: $0) != nil }
            .map { VisibleText.cleaned($0, maximumBytes: 80) }
        report.append("took experiment_config.yaml: \(taken.joined(separator: "; "))")
        report.append("took agent/agent.py: \(agent.count) bytes, the template from now on")
        try readNotes(root)
        try readClaims(root)
        report += Self.enforced
    }

    private mutating func readNotes(_ root: String) throws(SupervisorError) {
        guard let learnings = try Self.read("workspace/learnings.md", root) else {
            report.append("no workspace/learnings.md")
            return
        }
        keep("learnings.md", learnings)
        // Carriage returns and their like are gone: each would be a line outside the quotation.
        let shown = Self.visible(learnings.prefix(Self.notesLimit))
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { "> \($0)" }.joined(separator: "\n")
        notes = """

            ## Notes of an earlier loop

            Written down by whoever was examined, under rules that nobody enforced. Nothing of it was checked.

            \(shown)

            """
        let cut = learnings.count > Self.notesLimit ? ", its first 64 KiB" : ""
        report.append(
            "took workspace/learnings.md\(cut), as notes in PROGRAM.md; remove what tells of tests"
        )
    }

    private mutating func readClaims(_ root: String) throws(SupervisorError) {
        if let suite = try Self.read("workspace/suite.json", root) {
            keep("suite.json", suite)
            report.append(
                "kept workspace/suite.json, \(Self.taskCount(suite)): a task joins the suite when an "
                    + "exam here shows it fixed"
            )
        }
        if let results = try Self.read("workspace/results.tsv", root) {
            keep("results.tsv", results)
            let rows = String(decoding: results, as: UTF8.self).split(separator: "\n").count - 1
            report.append(
                "kept workspace/results.tsv, \(max(0, rows)) rows: typed scores are no record, "
                    + "and none is compared with"
            )
        }
        if let program = try Self.read("PROGRAM.md", root) {
            keep("PROGRAM.md", program)
            report.append("kept PROGRAM.md; the experiment has its own, add to it what you need")
        }
        report.append("left the rest: git history, traces, .env, data folders, helpers")
    }

    private mutating func keep(_ name: String, _ bytes: [UInt8]) {
        kept.append((name, Array(Self.visible(bytes[...]).utf8)))
    }

    // People read these files in terminals, and whoever was examined wrote them.
    private static func visible(_ bytes: ArraySlice<UInt8>) -> String {
        VisibleText.cleaned(String(decoding: bytes, as: UTF8.self), maximumBytes: 3 * limit)
    }

    private static let enforced = [
        "now enforced: the coding agent writes agent/agent.py and nothing else, and reads train only",
        "now enforced: agent.py runs in a sandbox of its own, without tasks, grader, key or network",
        "now enforced: test exams leave no trace; gate and record are the supervisor's",
    ]

    private static func taskCount(_ suite: [UInt8]) -> String {
        do throws(JSONError) {
            let value = try JSONValue(parsing: suite, limits: .document)
            let list =
                value.arrayValue ?? value["tasks"]?.arrayValue ?? value["task_ids"]?.arrayValue
            return list.map { "\($0.count) tasks" } ?? "\(value.objectValue?.count ?? 0) entries"
        } catch { return "which is not JSON" }
    }

    // MARK: - configuration

    /// The configuration of an experiment: its own text, and of a template the sections that it lacks.
    package func configuration(over template: String) -> String {
        var lines = ["# Taken from a checkout of auto-harness by `invigilator init --from`."]
        lines += self.lines
        // auto-harness has its user played by the agent's model where nobody is named.
        if keys.contains("agent_model"), !keys.contains("user_model") {
            if let line = lines.first(where: { $0.hasPrefix("agent_model:") }) {
                lines.append("user_model:" + line.dropFirst("agent_model:".count))
            }
        }
        lines.append("")
        for section in Self.sections(of: template)
        where !keys.contains(section.key) && !["agent_model", "user_model"].contains(section.key) {
            lines += section.lines
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func key(of line: some StringProtocol) -> String? {
        guard let first = line.first, first.isLetter, let colon = line.firstIndex(of: ":") else {
            return nil
        }
        return String(line[..<colon])
    }

    // An auto-harness configuration is flat, and nothing else is taken: sections of ours name programs,
    // policies, packages and keys of the host, and whoever was examined could write to this file.
    private static func lines(
        of text: String,
        _ file: String
    ) throws(SupervisorError) -> [String] {
        // By every line break that YAML knows.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map(String.init)
        for (index, line) in lines.enumerated() {
            let start = line.first { !$0.isWhitespace }
            guard let start, start != "#" else { continue }
            let place = "\(file), line \(index + 1)"
            guard let key = key(of: line), key.allSatisfy({ $0.isLetter || $0 == "_" }) else {
                throw strange(place, "it is not «key: value» from the line's beginning")
            }
            let value = line.drop { $0 != ":" }.dropFirst().drop(while: \.isWhitespace)
            guard let first = value.first, !"#{[|>&*!".contains(first) else {
                throw strange(place, "«\(key)» has no plain value; auto-harness has no sections")
            }
        }
        return lines
    }

    // A section is a line that begins with a key, and the indented or commented lines below it.
    private static func sections(of text: String) -> [(key: String, lines: [String])] {
        var sections: [(key: String, lines: [String])] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let key = key(of: line) {
                sections.append((key, [line]))
            } else if !sections.isEmpty, !line.hasPrefix("#") {
                sections[sections.count - 1].lines.append(line)
            }
        }
        return sections
    }

    // MARK: - files

    private static func read(
        _ name: String,
        _ root: String
    ) throws(SupervisorError) -> [UInt8]? {
        let folder = UserFolder(root)
        do throws(SystemError) { return try folder.contents(of: name, limit: limit) } catch {
            guard !error.isMissing else { return nil }
            guard let (reason, _) = folder.explanation(of: error, limit: limit) else {
                throw SupervisorError(error, "read the checkout", "\(root)/\(name)")
            }
            throw strange("\(root)/\(name)", reason)
        }
    }

    private static func strange(_ location: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "read the checkout",
            location: location,
            reason: reason,
            remedy: "correct it in a copy of the checkout, and name that"
        )
    }

    /// Refuses to set an experiment up where the checkout is, over its own files.
    ///
    /// - Parameter directory: the experiment's, absolute and without links.
    /// - Throws: ``SupervisorError``.
    func check(isApartFrom directory: String) throws(SupervisorError) {
        guard directory == path else { return }
        throw Self.strange(path, "the experiment would be written over it")
    }

    private static func missing(_ root: String, _ name: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "read the checkout",
            location: "\(root)/\(name)",
            reason: "it is not there",
            remedy: "name a checkout of auto-harness in which prepare.py was run"
        )
    }
}
