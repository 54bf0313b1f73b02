internal import HostKernel
internal import ArgumentParser
internal import ExamResults
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `apply`.
struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract:
            "Put the accepted agent file into the experiment's directory, or on a new branch.",
        discussion: """
            Without --branch, DIR/agent/agent.py is replaced; this is refused when the file holds \
            changes that neither git nor the record knows. With --branch, a commit on top of HEAD is \
            made in the git repository that holds DIR; the work tree and the index stay as they are. \
            Everything is done as the owner of DIR, and no hook is run.
            """
    )

    @Option(help: "Commit to this new branch instead of replacing the file.")
    var branch: String?

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let directory = try Experiment.open(options.directory).directory
        // The record is parsed by a process that gave root up; this one writes, as the owner, and looks
        // at the answer as nobody else.
        let answer = try OwnProgram.output(
            of: ["best", directory, "--json"] + options.state.words
        )
        let tree = try OwnersTree(directory)
        let result = try AppliedResult(answer)
        if let branch {
            try Console.write("\(branch): \(try tree.commit(result, to: branch))")
        } else {
            try tree.replace(with: result)
            try Console.write("\(directory)/\(OwnersTree.file): \(result.title)")
        }
    }
}

/// What `best --json` printed.
package struct AppliedResult: Equatable {
    /// The file.
    package let bytes: [UInt8]
    /// One line for people.
    package let title: String
    /// The digest of the file.
    package let digest: String
    /// Digests of every file that the record knows.
    package let known: Set<String>

    /// Reads the answer of our own program.
    package init(_ answer: [UInt8]) throws {
        let value = try JSONValue(parsing: answer, limits: .document)
        guard value["schema"]?.stringValue == AcceptedResult.schema,
            let text = value["agent"]?.stringValue, let digest = value["digest"]?.stringValue,
            let iteration = value["iteration"]?.intValue,
            let known = value["known_digests"]?.arrayValue
        else {
            throw SupervisorError(
                .hostFailed,
                operation: "read the accepted candidate",
                location: "a second process",
                reason: "its answer is not understood",
                remedy: "install one version of invigilator only"
            )
        }
        bytes = Array(text.utf8)
        self.digest = digest
        self.known = Set(known.compactMap(\.stringValue))
        title =
            iteration == 0
            ? "the template, which no candidate has surpassed"
            : "the candidate accepted in iteration \(iteration)"
    }

    /// The message of a commit.
    package var message: String {
        "agent: take \(title)\n\nJudged by Invigilator; SHA-256 \(digest).\n"
    }
}

/// The user's own directory, changed with the rights of its owner.
struct OwnersTree {
    /// The agent file below the experiment's directory.
    static let file = "agent/agent.py"
    private let directory: String

    /// Becomes the owner of the directory for good, where we are root and it is not.
    init(_ directory: String) throws(SupervisorError) {
        self.directory = directory
        try kernel("become the owner of the directory", directory) { () throws(SystemError) in
            let status = try FileStatus(path: directory)
            guard Identity.effectiveUser == 0, status.owner != 0 else { return }
            try Identity.become(uid: status.owner, gid: status.group, dropsGroups: true)
            try Identity.setNoNewPrivileges()
            guard try Identity.isExactly(uid: status.owner, gid: status.group) else {
                CurrentProcess.exitNow(ExitStatus.hostFailed.rawValue)
            }
        }
    }

    // MARK: - the file

    /// Replaces the agent file.
    func replace(with result: AppliedResult) throws(SupervisorError) {
        let location = "\(directory)/\(Self.file)"
        let folder = try kernel("apply the candidate", location) { () throws(SystemError) in
            try Descriptor.open(directory, [.read, .directory])
                .openBeneath("agent", [.read, .directory])
        }
        let current = try kernel("apply the candidate", location) { () throws(SystemError) in
            try Self.contents(of: folder)
        }
        if let current, current != result.bytes {
            let digest = CandidateSnapshot.digest(of: current).hex
            let isKnown = try result.known.contains(digest) ? true : isCommitted()
            guard isKnown else {
                throw SupervisorError(
                    .usage,
                    operation: "apply the candidate",
                    location: location,
                    reason: "it holds changes that neither git nor the record knows",
                    remedy: "commit or move them, or use --branch"
                )
            }
        }
        try kernel("apply the candidate", location) { () throws(SystemError) in
            try folder.replace("agent.py", with: result.bytes)
        }
    }

    private static func contents(
        of folder: borrowing Descriptor
    ) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try folder.contents(of: "agent.py", limit: 64 << 20)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    // Tracked and without a difference to HEAD; outside a repository, nothing is committed.
    private func isCommitted() throws(SupervisorError) -> Bool {
        let status = try git(
            ["status", "--porcelain", "--ignored", "--", Self.file],
            mayFail: true
        )
        guard let status else { return false }
        return status.isEmpty
    }

    // MARK: - a branch

    /// Commits the candidate on top of HEAD to a branch that must be new.
    ///
    /// Plumbing only, with an index of its own: no work tree, no filter and no hook is involved.
    ///
    /// - Returns: the commit.
    func commit(_ result: AppliedResult, to branch: String) throws(SupervisorError) -> String {
        try required(["check-ref-format", "--branch", branch])
        let head = try required(["rev-parse", "--verify", "HEAD^{commit}"])
        let prefix = try required(["rev-parse", "--show-prefix"])
        let folder = try required(["rev-parse", "--absolute-git-dir"])
        let index = "\(folder)/invigilator-\(CurrentProcess.pid).index"
        let blob = try required(["hash-object", "-w", "--stdin"], input: result.bytes)
        let tree: String
        do throws(SupervisorError) {
            try required(["read-tree", head], index: index)
            try required(
                ["update-index", "--add", "--cacheinfo", "100644,\(blob),\(prefix)\(Self.file)"],
                index: index
            )
            tree = try required(["write-tree"], index: index)
            try removeIndex(index)
        } catch {
            try removeIndex(index)
            throw error
        }
        let commit = try required(
            ["commit-tree", tree, "-p", head, "-F", "-"],
            input: Array(result.message.utf8)
        )
        // The empty old value: the branch must not exist (git-update-ref(1)).
        try required(["update-ref", "refs/heads/\(branch)", commit, ""])
        return commit
    }

    private func removeIndex(_ path: String) throws(SupervisorError) {
        let parts = path.split(separator: "/").map(String.init)
        let folder = "/" + parts.dropLast().joined(separator: "/")
        try kernel("remove a temporary index", path) { () throws(SystemError) in
            do throws(SystemError) {
                try Descriptor.open(folder, [.read, .directory]).remove(parts.last ?? "")
            } catch {
                guard error.isMissing else { throw error }
            }
        }
    }

    // MARK: - git

    @discardableResult
    private func required(
        _ words: [String],
        input: [UInt8] = [],
        index: String? = nil
    ) throws(SupervisorError) -> String {
        try git(words, input: input, index: index, mayFail: false) ?? ""
    }

    private func git(
        _ words: [String],
        input: [UInt8] = [],
        index: String? = nil,
        mayFail: Bool
    ) throws(SupervisorError) -> String? {
        let settings = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]
        let outcome = try kernel("run git", GitCommand.executable) { () throws(SystemError) in
            try Spawn.run(
                GitCommand.executable,
                arguments: settings + ["-C", directory] + words,
                environment: Self.environment(index: index),
                input: input,
                limit: 16 << 20
            )
        }
        guard outcome.end.exitCode == 0 else {
            if mayFail { return nil }
            let said = SafeText.cleaned(
                String(decoding: outcome.errors, as: UTF8.self),
                atMost: 300
            )
            throw SupervisorError(
                .usage,
                operation: "commit the candidate",
                location: "\(directory): git \(words.first ?? "")",
                reason: said.isEmpty ? "git refused" : said,
                remedy: "name a new branch, and a DIR inside a git repository that has a commit"
            )
        }
        let text = String(decoding: outcome.output, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func environment(index: String?) -> [String] {
        [
            "PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
            "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
            "GIT_OPTIONAL_LOCKS=0", "GIT_AUTHOR_NAME=Invigilator",
            "GIT_AUTHOR_EMAIL=invigilator@localhost", "GIT_COMMITTER_NAME=Invigilator",
            "GIT_COMMITTER_EMAIL=invigilator@localhost",
        ] + (index.map { ["GIT_INDEX_FILE=\($0)"] } ?? [])
    }
}
