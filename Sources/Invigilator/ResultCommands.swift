internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import SandboxPolicy
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `best`.
struct BestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "best",
        abstract: "Print the accepted agent file, or write it to a file.",
        discussion: """
            Where a policy's surface has more files than agent/agent.py, --file names another; \
            `apply` takes all of them.
            """
    )

    @Option(help: "Which of the candidate's files.")
    var file = Surface.program

    @Option(name: .shortAndLong, help: "The file to write; `-` for standard output.")
    var output = "-"

    @Flag(help: "Print the file with its digest, iteration and scores for programs.")
    var json = false

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        guard output != "-" else { return try printed() }
        let directory = try options.open().directory
        let words =
            ["best", directory, "--file", file] + (json ? ["--json"] : []) + options.state.words
        let bytes = try OwnProgram.output(of: words)
        try OutputFile.write(bytes, to: output)
        try Console.write(output)
    }

    private func printed() throws {
        let best = try AcceptedResult(options)
        if json { return try Console.write(best.json) }
        let files = best.candidate.files
        guard let found = files.first(where: { $0.path == file }) else {
            throw SupervisorError(
                .usage,
                operation: "print the accepted candidate",
                location: "--file \(SafeText.cleaned(file, atMost: 200))",
                reason: "it has no such file",
                remedy: "name one of \(files.map(\.path).joined(separator: ", "))"
            )
        }
        // A person's terminal is not steered by what an agent wrote; a pipe gets every byte.
        try Console.isTerminal(1)
            ? Console.write(SafeText.cleanedLines(found.text)) : Console.write(found.bytes)
    }
}

/// The accepted candidate of an experiment.
struct AcceptedResult {
    /// The version of ``json``'s shape.
    static let schema = "invigilator.best/2"

    /// What the record says of it.
    let best: BestCandidate
    /// Its bytes, which hash to the record's digest.
    let candidate: CandidateSnapshot
    /// Every file that was judged, so that none of them is taken for somebody's unsaved work.
    private let known: [CandidateDigest]
    /// The surface that its files were judged under, as the genesis row has it.
    private let surface: String

    /// Reads the record and the repository, as the supervisor's user.
    init(_ options: ExperimentOptions) throws(SupervisorError) {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        try self.init(RecordedResults(record))
    }

    init(_ results: RecordedResults) throws(SupervisorError) {
        guard let best = results.state.best else {
            throw SupervisorError(
                .usage,
                operation: "find the accepted candidate",
                location: results.directory,
                reason: "there is no baseline yet",
                remedy: "run `invigilator prepare` first"
            )
        }
        self.best = best
        known = Array(results.state.decided.keys)
        surface = results.state.genesis?.surface ?? Surface.standard.description
        candidate = try results.candidate(best.digest)
    }

    /// The candidate for programs.
    var json: JSONValue {
        [
            "schema": .string(Self.schema), "digest": .string(best.digest.hex),
            "iteration": JSONValue(best.iteration),
            "commit": best.commit.map { .string($0) } ?? .null,
            "sealed_mean": .number(best.score.mean), "sealed_count": JSONValue(best.score.count),
            "released": best.released.map { .number($0.value) } ?? .null,
            "known_digests": JSONValue(known.map(\.hex).sorted()),
            "surface": .string(surface),
            "files": .object(candidate.texts.mapValues { .string($0) }),
        ]
    }
}

/// What the record and the repository say of candidates.
struct RecordedResults {
    /// The experiment's directory.
    let directory: String
    /// Where the experiment stands.
    let state: CampaignState
    /// The rows.
    let entries: [LedgerEntry]
    private let repository: CandidateRepository

    init(_ record: RecordedExperiment) throws(SupervisorError) {
        directory = record.experiment.directory
        entries = try record.entries()
        state = try RecordedExperiment.replay(entries)
        repository = CandidateRepository(at: record.layout.repository(record.experiment.id))
    }

    /// The bytes of a candidate that a row names.
    func candidate(hex: String) throws(SupervisorError) -> CandidateSnapshot {
        try candidate(Self.digest(hex))
    }

    /// The bytes of a candidate; they hash to its digest.
    func candidate(_ digest: CandidateDigest) throws(SupervisorError) -> CandidateSnapshot {
        do throws(WorkspaceError) {
            if let commit = try repository.commit(of: digest) {
                let found = try repository.candidate(in: commit)
                if found.digest == digest { return found }
            }
        } catch {
            throw SupervisorError(error)
        }
        throw SupervisorError(
            .integrity,
            operation: "find a candidate",
            location: digest.hex,
            reason: "the repository does not hold its bytes",
            remedy: "run `invigilator verify`, and restore the state directory from a copy"
        )
    }

    /// The candidate of an iteration, and the one that was best when it was submitted.
    func change(
        in iteration: Int
    ) throws(SupervisorError) -> (old: CandidateDigest, new: CandidateDigest) {
        var best = state.baseline?.digest
        for entry in entries {
            let digest = entry.body["digest"]?.stringValue
            let number = entry.body["iteration"]?.intValue
            if entry.kind == .intent, number == iteration, let best, let digest {
                return (best, try Self.digest(digest))
            }
            let isAccepted = entry.body["verdict"]?.stringValue == Verdict.accepted.rawValue
            if entry.kind == .decision, isAccepted, let digest { best = try Self.digest(digest) }
        }
        throw SupervisorError(
            .usage,
            operation: "find an iteration",
            location: "\(iteration)",
            reason: state.iteration == 0
                ? "the record has none yet" : "the record has 1 to \(state.iteration)",
            remedy: "`invigilator status` lists the last ones"
        )
    }

    private static func digest(_ hex: String) throws(SupervisorError) -> CandidateDigest {
        do throws(ExamError) { return try CandidateDigest(hex: hex) } catch {
            throw SupervisorError(.integrity, error)
        }
    }
}

/// `diff`.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print what an iteration changed, or what the accepted file changed in all.",
        usage: "invigilator diff [ITERATION] [DIR]",
        discussion: """
            With an iteration: its candidate, accepted or refused, against the file that was best \
            when it was submitted. Without one: the accepted file against the template that the \
            experiment began with. The output is a patch that `git apply` takes.
            """
    )

    @Argument(help: "An iteration and the experiment's directory; both may be left out.")
    var words: [String] = []

    @OptionGroup var state: StateOptions

    func validate() throws {
        guard words.count <= 2, words.count < 2 || Int(words[0]) != nil else {
            throw ValidationError("Write an iteration's number and a directory, in this order.")
        }
    }

    func run() throws {
        let iteration = words.first.flatMap { Int($0) }
        let directory = words.dropFirst(iteration == nil ? 0 : 1).first ?? "."
        let record = try RecordedExperiment(directory, layout: state.place)
        let results = try RecordedResults(record)
        let change = try iteration.map(results.change) ?? Self.whole(results)
        let text = try results.candidate(change.new)
            .difference(from: results.candidate(change.old))
        guard !text.isEmpty else { return }
        try Console.write(Console.isTerminal(1) ? SafeText.cleanedLines(text) : text)
    }

    private static func whole(
        _ results: RecordedResults
    ) throws(SupervisorError) -> (old: CandidateDigest, new: CandidateDigest) {
        let best = try AcceptedResult(results).best.digest
        return (results.state.baseline?.digest ?? best, best)
    }
}
