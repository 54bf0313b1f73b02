internal import HostKernel
internal import ArgumentParser
internal import ExamResults
internal import HostProbe
internal import LinuxKernel
internal import ModelDialects
package import StrictJSON
internal import Supervisor
internal import Workspace

/// `benchmark`: a train exam, or the check of a benchmark of one's own.
///
/// A group with a default, because a command with an argument of its own would take the word `check`
/// for a directory.
struct BenchmarkGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Run a train exam of agent/agent.py, or check a benchmark of your own.",
        subcommands: [BenchmarkCommand.self, BenchmarkCheck.self],
        defaultSubcommand: BenchmarkCommand.self
    )
}

/// `benchmark check`.
struct BenchmarkCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that a benchmark of your own keeps the rules, with real exams.",
        discussion: """
            DIR holds a benchmark.yaml. Read first: its files, tasks and split. Then, as root, exams \
            are run in sandboxes as a night would run them: the template twice, each floor, the \
            oracle if there is one, and candidates that exit, talk rubbish or talk out of turn. \
            They begin with the same look at the walls as a sealed exam. Nothing is kept. Where the \
            examiner needs models, which a check has none of, it is only greeted, and what was not \
            checked is said. Exit code 2 when a rule is broken, 3 when a wall does not stand.
            """
    )

    @Argument(help: "The benchmark's directory, or the name of one that ships.")
    var benchmark: String

    @Option(help: "The most candidate sandboxes at one time.")
    var concurrency = 4

    @Option(help: "The benchmark's domain, where it has several; the first one otherwise.")
    var domain: String?

    @Flag(help: "Only read: no root is needed, and no exam is run.")
    var staticOnly = false

    @Flag(help: "Print the findings for programs.")
    var json = false

    @OptionGroup var state: StateOptions

    func run() throws {
        let installation = try Installation.find()
        var reading = BenchmarkFiles.Reading(
            directory: try directory(installation),
            installation: installation,
            layout: StateLayout(root: state.stateDirectory)
        )
        if let domain { reading.settings["domain"] = domain }
        let manifest = try reading.manifest()
        if manifest.packages != nil {
        }
        let files = try BenchmarkFiles(reading)
        var findings = ConformanceFindings(benchmark: files.manifest.benchmark)
        try BenchmarkReading(files).check(&findings)
        if staticOnly {
            findings.add("exams", .unchecked, "only files and tasks were read")
        } else {
            let bench = try ConformanceBench(
                files,
                python: reading.interpreter(for: manifest),
                layout: state.layout(),
                installation: installation,
                concurrency: concurrency
            )
            do throws(SupervisorError) {
                try bench.check(&findings, progress: show)
            } catch {
                try bench.close()
                throw error
            }
            try bench.close()
        }
        try json ? Console.write(findings.json) : Console.write(findings.text)
        guard findings.isSound else { throw ExitCode(ExitStatus.usage.rawValue) }
    }

    private func show(_ line: String) throws(SupervisorError) {
        if !json { try Console.note(line) }
    }

    private func directory(_ installation: Installation) throws(SupervisorError) -> String {
        guard benchmark.contains("/") else {
            return BenchmarkFiles.shippedDirectory(benchmark, installation)
        }
        return try kernel("find a benchmark", benchmark) { () throws(SystemError) in
            try Descriptor.resolvedPath(benchmark)
        }
    }
}

/// What a conformance check found.
package struct ConformanceFindings {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.benchmark-check/1"

    /// How one rule fared.
    package enum Outcome: String, Sendable {
        /// It holds.
        case holds = "ok"
        /// It is broken.
        case broken
        /// It holds, and could be better.
        case advice
        /// Nobody looked; the detail says why.
        case unchecked = "not checked"
    }

    private let benchmark: String
    private var entries: [(rule: String, outcome: Outcome, detail: String)] = []

    package init(benchmark: String) {
        self.benchmark = benchmark
    }

    /// Whether no rule is broken.
    package var isSound: Bool { entries.allSatisfy { $0.outcome != .broken } }

    /// Adds a finding.
    package mutating func add(_ rule: String, _ outcome: Outcome, _ detail: String) {
        entries.append((rule, outcome, detail))
    }

    /// Adds a rule that holds or not.
    package mutating func add(_ rule: String, holds: Bool, _ detail: String) {
        add(rule, holds ? .holds : .broken, detail)
    }

    /// Adds what cannot be looked at without models.
    mutating func addUnchecked(without manifest: BenchmarkManifest) {
        let roles = manifest.models.map(\.rawValue).joined(separator: ", ")
        var rules = ["template"]
        if manifest.isDeterministic { rules.append("deterministic") }
        rules += manifest.floors.keys.sorted().map { "floor \($0)" }
        if manifest.oracle != nil { rules.append("oracle") }
        rules.append("hostile candidates")
        for rule in rules {
            add(rule, .unchecked, "needs models (\(roles)); `prepare` of an experiment has them")
        }
    }

    /// One line a rule.
    package var text: String {
        var table = TextTable()
        for entry in entries {
            let sign = entry.outcome == .broken ? "BROKEN" : entry.outcome.rawValue
            table.add([sign, entry.rule, entry.detail])
        }
        let missing = entries.contains { $0.outcome == .unchecked }
        let end =
            isSound
            ? "the benchmark \(benchmark) conforms\(missing ? ", as far as it was checked" : "")"
            : "\(benchmark) does not conform"
        return (table.lines(indent: "") + ["", end]).map { $0 + "\n" }.joined()
    }

    /// The findings for programs.
    package var json: JSONValue {
        let rules = entries.map { entry -> JSONValue in
            [
                "rule": .string(entry.rule), "outcome": .string(entry.outcome.rawValue),
                "detail": .string(entry.detail),
            ]
        }
        return [
            "schema": .string(Self.schema), "benchmark": .string(benchmark),
            "conforms": .bool(isSound), "rules": .array(rules),
        ]
    }
}

/// The part of a conformance check that only reads.
struct BenchmarkReading {
    /// With fewer tasks of a family, a split of 70 to 30 may hold too few of it.
    private static let goodFamilySize = 7
    private let files: BenchmarkFiles

    init(_ files: BenchmarkFiles) {
        self.files = files
    }

    func check(_ findings: inout ConformanceFindings) throws(SupervisorError) {
        let manifest = files.manifest
        findings.add(
            "manifest",
            .holds,
            "\(manifest.benchmark) version \(manifest.version), \(manifest.allFiles.count) files"
        )
        checkSplit(&findings)
        checkNames(&findings)
        if files.floors.isEmpty {
            findings.add("floors", .advice, "name one under floors: an agent that does nothing")
        }
        if files.oracle == nil {
            findings.add(
                "oracle",
                .advice,
                "without conformance.oracle nothing shows that every task can be solved"
            )
        }
    }

    private func checkSplit(_ findings: inout ConformanceFindings) {
        let tasks = files.tasks.entries
        let families = Dictionary(grouping: tasks, by: \.family)
        do throws(SystemError) {
            let key = try KernelRandom.bytes(SplitDraw.secretByteCount)
            do throws(WorkspaceError) {
                let draw = try SplitDraw(
                    of: tasks,
                    key: key,
                    twins: files.manifest.watchful.twins
                )
                let detail =
                    "\(tasks.count) tasks of \(families.count) families: \(draw.train.count) train, "
                    + "\(draw.test.count) sealed"
                findings.add("split", .holds, detail)
            } catch {
                findings.add("split", .broken, "\(error)")
            }
        } catch {
            findings.add("split", .broken, "\(error)")
        }
        let small = families.filter { $0.value.count < Self.goodFamilySize }.keys.sorted()
        if !small.isEmpty {
            findings.add(
                "families",
                .advice,
                "fewer than \(Self.goodFamilySize) tasks: \(small.joined(separator: ", "))"
            )
        }
    }

    private func checkNames(_ findings: inout ConformanceFindings) {
        let telling = files.tasks.entries.filter { entry in
            entry.family.count > 2 && entry.id.text.lowercased().contains(entry.family.lowercased())
        }
        guard let first = telling.first else {
            return findings.add("task ids", .holds, "none tells its family")
        }
        findings.add(
            "task ids",
            .advice,
            "\(telling.count) tell their family, \(first.id) for instance"
        )
    }
}
