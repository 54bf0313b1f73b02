import HostKernel
import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

/// One experiment in a temporary directory, with a state directory of its own unless one is given.
final class Night {
    let scratch: Scratch
    let directory: String
    private(set) var state: String
    /// Whether no other experiment was meant to share its directory or its state.
    let isAlone: Bool
    /// The mount namespace that its programs share; without one, each has its own.
    var room: MountRoom?
    /// The program that is run.
    var program = Stage.invigilator

    init(in scratch: Scratch? = nil, name: String = "experiment", state: String? = nil) throws {
        isAlone = scratch == nil && state == nil
        let scratch = try scratch ?? Scratch()
        self.scratch = scratch
        directory = "\(scratch.path)/\(name)"
        self.state = state ?? "\(scratch.path)/state"
    }

    // MARK: - commands

    /// Starts a command of ours in a private mount namespace.
    func start(
        _ words: [String],
        after: [String] = [],
        before: String? = nil
    ) throws -> Program {
        let full = words + ["--state-directory", state] + after
        let isolation =
            room.map { ["--mount", "--target", "\($0.pid)", "--"] }
            ?? ["--mount", "--propagation", "private", "--"]
        let tool = room == nil ? "/usr/bin/unshare" : "/usr/bin/nsenter"
        var line = [program] + full
        if let before { line = ["/bin/sh", "-c", before + "; exec \"$@\"", "sh"] + line }
        return try Program(tool, isolation + line, temporary: "\(scratch.path)/tmp")
    }

    /// Runs a command of ours to its end.
    func run(
        _ words: [String],
        after: [String] = [],
        before: String? = nil,
        seconds: Int = 90
    ) throws -> Ended {
        try start(words, after: after, before: before).waitForEnd(seconds: seconds)
    }

    /// Runs a command that must succeed.
    @discardableResult
    func done(_ words: [String], before: String? = nil) throws -> Ended {
        let ended = try run(words, before: before)
        try #require(ended.code == 0, "\(words.joined(separator: " ")): \(ended)")
        return ended
    }

    // MARK: - setting up

    /// Makes an experiment on the small benchmark of these tests.
    func set(up configuration: Configuration) throws {
        try done(["init", directory, "--benchmark", Stage.fixture("sums")])
        try configure(configuration)
    }

    /// Makes a prepared experiment on the small benchmark of these tests: a copy of the one that the first
    /// test with this configuration prepared, where it is like any other.
    func prepare(_ configuration: Configuration) throws {
        guard let state = try PreparedExperiments.copy(to: self, configuration) else {
            return try prepareAnew(configuration)
        }
        self.state = state
        scratch.alsoRemove(state)
        try configure(configuration)
    }

    /// Makes and prepares an experiment on the small benchmark of these tests, for what looks at preparing.
    func prepareAnew(_ configuration: Configuration) throws {
        try set(up: configuration)
        try done(["prepare", "--no-preflight", directory])
    }

    /// Replaces the configuration and what the coding agent is told.
    func configure(_ configuration: Configuration) throws {
        try configuration.text.write(toFile: "\(directory)/experiment_config.yaml")
        try configuration.program().write(toFile: "\(directory)/PROGRAM.md")
    }

    /// The judged file of the experiment's directory.
    var agentFile: String { "\(directory)/agent/agent.py" }

    // MARK: - what is recorded

    /// The experiment's id.
    func id() throws -> String {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: "\(directory)/.invigilator")))
        let marker = try JSONValue(parsing: bytes, limits: .request)
        return try #require(marker["experiment"]?.stringValue)
    }

    /// The folder that holds the experiment's state, seen from the test.
    func folder() throws -> String { "\(seenState)/experiments/\(try id())" }

    /// The state directory, seen from the test.
    var seenState: String { (room.map { "/proc/\($0.pid)/root" } ?? "") + state }

    private func reader() throws -> LedgerReader {
        guard room != nil else { return try LedgerReader.open(at: "\(folder())/ledger.sqlite") }
        // SQLite follows the link that leads into another mount namespace by its text, which leads
        // nowhere; so a copy is read.
        let copies = try scratch.directory("copy-\(UUID().uuidString)")
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let file = try "\(folder())/\(name)"
            guard FileManager.default.fileExists(atPath: file) else { continue }
            try FileManager.default.copyItem(atPath: file, toPath: "\(copies)/\(name)")
        }
        return try LedgerReader.open(at: "\(copies)/ledger.sqlite")
    }

    /// Every row.
    func rows() throws -> [LedgerEntry] { try reader().entries() }

    /// The bodies of the rows of a kind.
    func bodies(_ kind: EventKind) throws -> [JSONValue] {
        try rows().filter { $0.kind == kind }.map(\.body)
    }

    /// Expects that every row has its hash, its link and its signature.
    func expectIntact() throws {
        let report = try reader().verify(depth: .everySignature)
        #expect(report.isIntact, "\(report)")
    }

    /// Expects that every intent ended in a decision or a void, and every exam that started ended.
    func expectSettled() throws {
        try expectIntact()
        let rows = try rows()
        for row in rows where row.kind == .intent {
            let ticket = row.body["ticket"]?.stringValue
            let settled = rows.filter {
                [.decision, .void].contains($0.kind) && $0.body["ticket"]?.stringValue == ticket
            }
            #expect(settled.count == 1, "\(ticket ?? "no ticket"): \(settled.map(\.kind))")
        }
    }

    /// What the coding agent printed, one object a line.
    func agentLog() throws -> [JSONValue] {
        let log = try Descriptor.open("\(folder())/agent.log", .read)
        // An agent may print without end; what a test reads comes first.
        let text = String(decoding: try log.read(atMost: 4 << 20), as: UTF8.self)
        return try text.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try JSONValue(parsing: Array($0.utf8), limits: .document) }
    }

    /// The lines of one event in what the coding agent printed.
    func agentLog(_ event: String) throws -> [JSONValue] {
        try agentLog().filter { $0["event"]?.stringValue == event }
    }
}

/// What `experiment_config.yaml` says in a test, and what its coding agent does.
struct Configuration {
    /// Python that runs in the coding sandbox after the shared part.
    var agent = ""
    /// More lines of YAML.
    var more = ""
    /// The first line's benchmark.
    var benchmark = "sums"
    /// How results are released; the shortest grid, so that tests do not wait.
    var release = "{ grid: 100ms, counter-bits: 4 }"
    /// The interpreter that the coding agent is started with.
    var python = "/usr/bin/python3"
    /// How often the coding agent is started again.
    var restarts = 0
    /// How long the coding agent may be silent; nothing for as long as it likes.
    var idle: String?

    var text: String {
        """
        benchmark: \(benchmark)
        release: \(release)
        \(more)
        coding_agent:
          wall: 5m
          restarts: \(restarts)\(idle.map { "\n  idle: \($0)" } ?? "")
          # What it does stands in PROGRAM.md, as for any coding agent.
          command: [\(python), -I, -B, -c, "exec(open('/work/PROGRAM.md').read())"]

        """
    }

    /// What PROGRAM.md says: a program, because this coding agent takes everything at its word.
    func program() throws -> String {
        try Stage.fixtureText("coding_agent.py") + "\n\n" + agent + "\n"
    }
}

/// A mount namespace that several programs of a test share, made by a shell line as root.
final class MountRoom {
    private let holder: Program
    var pid: Int32 { holder.pid }

    init(_ line: String, scratch: Scratch) throws {
        holder = try Program(
            "/usr/bin/unshare",
            [
                "--mount", "--propagation", "private", "--", "/bin/sh", "-ec",
                line + "; echo ready >&2; exec tail -f /dev/null",
            ],
            temporary: "\(scratch.path)/tmp"
        )
        try holder.waitFor("ready")
    }

    deinit { holder.send(SIGKILL) }
}
