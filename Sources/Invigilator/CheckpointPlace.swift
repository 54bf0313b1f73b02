internal import ArgumentParser
internal import HostKernel
internal import LinuxKernel
internal import Supervisor
internal import Transparency

/// Where a checkpoint is kept.
enum CheckpointPlace {
    /// A file, replaced in one step.
    case file(String)
    /// A ref of a git repository, with a commit for each checkpoint.
    case ref(String, repository: String)
    /// A shell command that gets it on standard input.
    case command(String)
    /// The same ref, for a process that has nothing else to do than to become the repository's owner.
    case ownedRef(String, repository: String)
    /// A program that gets it on standard input, and is killed with its children when it takes longer.
    case program([String], seconds: Int)

    /// What a checkpoint there is called in errors.
    func name(or since: String?) -> String {
        switch self {
        case .file(let path): path
        case .ref(let ref, let repository), .ownedRef(let ref, let repository):
            "\(repository): \(ref)"
        case .command, .program: since ?? ""
        }
    }

    /// What is kept there now; nothing where there is none yet.
    ///
    /// The bytes are not looked at: the process that signs the next one, and has no rights, does that.
    func kept() throws(SupervisorError) -> [UInt8]? {
        switch self {
        case .command, .program: return nil
        case .ownedRef(let ref, let repository):
            return try CheckpointRef(ref, in: repository).kept()
        case .file(let path):
            let limit = SignedNote.maximumSize
            do throws(SystemError) {
                return try Descriptor.open(path, [.read, .nonBlocking]).readAll(limit: limit)
            } catch {
                if error.isMissing { return nil }
                throw SupervisorError(error, "read the last checkpoint", path)
            }
        case .ref(let ref, let repository):
            // Read by a second process, which can become the repository's owner: this one must still
            // start one that becomes the supervisor's user.
            let words = ["ledger", KeptCheckpointCommand.name, "--ref", ref, repository]
            let bytes = try OwnProgram.output(of: words)
            return bytes.isEmpty ? nil : bytes
        }
    }

    /// Keeps a checkpoint.
    ///
    /// - Parameters:
    ///   - note: the checkpoint.
    ///   - older: what ``kept()`` answered and the new one was compared with.
    /// - Returns: where it is, or what the command printed.
    /// - Throws: an error of the place.
    func keep(_ note: [UInt8], after older: [UInt8]?) throws(SupervisorError) -> String {
        switch self {
        case .file(let path):
            try OutputFile.write(note, to: path)
            return path
        case .ref(let ref, let repository), .ownedRef(let ref, let repository):
            let commit = try CheckpointRef(ref, in: repository).add(note, after: older)
            return "\(ref): \(commit)"
        case .command(let line):
            return try Self.run(["/bin/sh", "-c", line], note, keeping: ["PATH", "HOME", "LANG"])
        case .program(let words, let seconds):
            // timeout(1) kills its group, so that no child of the program goes on.
            let limit = ["/usr/bin/timeout", "--signal=KILL", "\(seconds)"]
            return try Self.run(limit + words, note, keeping: ["PATH", "LC_ALL"])
        }
    }

    private static func run(
        _ words: [String],
        _ note: [UInt8],
        keeping names: [String]
    ) throws(SupervisorError) -> String {
        let environment = names.compactMap { name in
            ProcessEnvironment.value(of: name).map { "\(name)=\($0)" }
        }
        let line = words.dropFirst(words.count > 2 ? 2 : 0).joined(separator: " ")
        let outcome = try kernel("hand a checkpoint over", line) { () throws(SystemError) in
            try Spawn.run(
                words[0],
                arguments: Array(words.dropFirst()),
                environment: environment,
                input: note,
                limit: 1 << 20
            )
        }
        guard outcome.end.exitCode == 0 else {
            let end = outcome.end.exitCode.map { "ended with \($0)" } ?? "was killed"
            let output = String(decoding: outcome.errors, as: UTF8.self)
            let said = SafeText.cleaned(output, atMost: 300)
            throw SupervisorError(
                .hostFailed,
                operation: "hand a checkpoint over",
                location: line,
                reason: "the command \(end)\(said.isEmpty ? "" : ": \(said)")",
                remedy: "run it by hand with the output of `invigilator ledger checkpoint`"
            )
        }
        return String(decoding: outcome.output, as: UTF8.self)
    }
}

/// A ref whose commits hold one file each, a checkpoint; worked on as the repository's owner.
struct CheckpointRef {
    private static let file = "checkpoint"

    private let git: OwnersGit
    private let ref: String

    /// Becomes the owner of the repository for good, where we are root and it is not.
    init(_ ref: String, in repository: String) throws(SupervisorError) {
        try OwnersGit.becomeOwner(of: repository)
        git = OwnersGit(
            directory: repository,
            operation: "keep a checkpoint",
            remedy: "name a git repository and a ref that holds checkpoints alone, or none yet"
        )
        self.ref = ref.hasPrefix("refs/") ? ref : "refs/heads/\(ref)"
        try git.required(["check-ref-format", self.ref])
    }

    /// The newest commit; nothing where the ref is new.
    private func newest() throws(SupervisorError) -> String? {
        try git.output(of: ["rev-parse", "--verify", "--quiet", "\(ref)^{commit}"])
    }

    /// The newest checkpoint; nothing where the ref is new.
    ///
    /// - Throws: a usage error where the ref holds anything else.
    func kept() throws(SupervisorError) -> [UInt8]? {
        guard let commit = try newest() else { return nil }
        return try kept(in: commit)
    }

    private func kept(in commit: String) throws(SupervisorError) -> [UInt8] {
        guard try git.required(["ls-tree", "--name-only", commit]) == Self.file else {
            throw SupervisorError(
                .usage,
                operation: "keep a checkpoint",
                location: ref,
                reason: "it holds something else than checkpoints",
                remedy: "name a ref of its own, which need not exist yet"
            )
        }
        let text = try git.required(["cat-file", "blob", "\(commit):\(Self.file)"])
        return Array((text + "\n").utf8)
    }

    /// Adds a commit.
    ///
    /// - Parameters:
    ///   - note: the checkpoint.
    ///   - older: what the ref had when the checkpoint was made.
    /// - Returns: the commit.
    /// - Throws: an error where the ref has changed since, or git refuses.
    func add(_ note: [UInt8], after older: [UInt8]?) throws(SupervisorError) -> String {
        let parent = try newest()
        let present = try parent.map { commit throws(SupervisorError) in try kept(in: commit) }
        guard present == older else {
            throw SupervisorError(
                .hostFailed,
                operation: "keep a checkpoint",
                location: ref,
                reason: "somebody else has changed the ref meanwhile",
                remedy: "run the same command again"
            )
        }
        if let parent, present == note { return parent }
        let blob = try git.required(["hash-object", "-w", "--stdin"], input: note)
        let entry = Array("100644 blob \(blob)\t\(Self.file)\n".utf8)
        let tree = try git.required(["mktree"], input: entry)
        let commit = try git.required(
            ["commit-tree", tree] + (parent.map { ["-p", $0] } ?? []) + ["-F", "-"],
            input: Array("ledger checkpoint\n".utf8)
        )
        // With the old value, empty for a new ref: who was quicker is not overwritten.
        try git.required(["update-ref", ref, commit, parent ?? ""])
        return commit
    }
}

/// What our own program asks itself: the checkpoint that a ref has.
struct KeptCheckpointCommand: ParsableCommand {
    static let name = "kept"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Print the checkpoint that a ref has, or nothing.",
        shouldDisplay: false
    )

    @Option(help: "The ref.")
    var ref: String

    @Argument(help: "The repository.")
    var repository: String

    func run() throws {
        try Console.write(CheckpointRef(ref, in: repository).kept() ?? [])
    }
}
