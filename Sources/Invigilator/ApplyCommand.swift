internal import HostKernel
internal import ArgumentParser
internal import ExamResults
internal import LinuxKernel
package import SandboxPolicy
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `apply`.
struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract:
            "Put the accepted agent files into the experiment's directory, or on a new branch.",
        discussion: """
            Without --branch, DIR/agent/agent.py and what else the surface of the policy names are \
            replaced, and what the accepted candidate has not is removed; this is refused when the \
            files hold changes that neither git nor the record knows. With --branch, a commit on top of HEAD is \
            made in the git repository that holds DIR; the work tree and the index stay as they are. \
            Everything is done as the owner of DIR, and no hook is run.
            """
    )

    @Option(help: "Commit to this new branch instead of replacing the files.")
    var branch: String?

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let directory = try options.open().directory
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
            try Console.write("\(directory)/agent: \(result.title)")
        }
    }
}

/// What `best --json` printed.
package struct AppliedResult: Equatable {
    /// The files by their paths.
    package let files: [String: [UInt8]]
    /// Which files of the directory are replaced, or removed where the candidate has none of the name.
    package let surface: Surface
    /// One line for people.
    package let title: String
    /// The candidate's digest.
    package let digest: String
    /// Digests of every candidate that the record knows.
    package let known: Set<String>

    /// Reads the answer of our own program.
    package init(_ answer: [UInt8]) throws {
        let value = try JSONValue(parsing: answer, limits: .document)
        guard value["schema"]?.stringValue == AcceptedResult.schema,
            let texts = value["files"]?.objectValue, !texts.isEmpty,
            let surface = value["surface"]?.stringValue.flatMap(Self.surface),
            texts.allSatisfy({ surface.names($0.key) && $0.value.stringValue != nil }),
            let digest = value["digest"]?.stringValue,
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
        files = texts.compactMapValues { $0.stringValue.map { Array($0.utf8) } }
        self.surface = surface
        self.digest = digest
        self.known = Set(known.compactMap(\.stringValue))
        title =
            iteration == 0
            ? "the template, which no candidate has surpassed"
            : "the candidate accepted in iteration \(iteration)"
    }

    // A way to save, then patterns, as the genesis row has them.
    private static func surface(_ text: String) -> Surface? {
        let words = text.split(separator: " ").map(String.init)
        let patterns = words.dropFirst().compactMap(SurfacePattern.init(checking:))
        guard let save = words.first.flatMap(Surface.Save.init(rawValue:)), !patterns.isEmpty,
            patterns.count == words.count - 1
        else { return nil }
        return Surface(save: save, patterns: patterns)
    }

    /// The message of a commit.
    package var message: String {
        "agent: take \(title)\n\nJudged by Invigilator; SHA-256 \(digest).\n"
    }
}

/// The user's own directory, changed with the rights of its owner.
struct OwnersTree {
    private let directory: String
    private let git: OwnersGit

    /// Becomes the owner of the directory for good, where we are root and it is not.
    init(_ directory: String) throws(SupervisorError) {
        self.directory = directory
        git = OwnersGit(
            directory: directory,
            operation: "commit the candidate",
            remedy: "name a new branch, and a DIR inside a git repository that has a commit"
        )
        try OwnersGit.becomeOwner(of: directory)
    }

    // MARK: - the files

    /// Replaces the agent's files, and removes those that the candidate has not.
    func replace(with result: AppliedResult) throws(SupervisorError) {
        let location = "\(directory)/agent"
        let folder = try kernel("apply the candidate", location) { () throws(SystemError) in
            try Descriptor.open(directory, [.read, .directory])
                .openBeneath("agent", [.read, .directory])
        }
        let current = try present(result.surface, in: folder)
        if current != result.files, !current.isEmpty {
            let isKnown =
                try isRecorded(current, result) ? true : isCommitted(current.keys.sorted())
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
            for (path, bytes) in result.files {
                try folder.place(bytes, at: Self.beneath(path))
            }
            for path in current.keys where result.files[path] == nil {
                try folder.takeAway(Self.beneath(path))
            }
        }
    }

    private static func beneath(_ path: String) -> String { String(path.dropFirst("agent/".count)) }

    // The files of the surface that are there now.
    private func present(
        _ surface: Surface,
        in folder: borrowing Descriptor
    ) throws(SupervisorError) -> [String: [UInt8]] {
        let paths: Set<String>
        do throws(WorkspaceError) {
            paths = try CandidateSnapshot.paths(of: surface, beneath: folder)
        } catch { throw SupervisorError(error) }
        var found: [String: [UInt8]] = [:]
        for path in paths.sorted() {
            try kernel("apply the candidate", "agent/\(path)") { () throws(SystemError) in
                do throws(SystemError) {
                    found["agent/\(path)"] = try folder.contents(of: path, limit: 64 << 20)
                } catch  where error.isMissing {}
            }
        }
        return found
    }

    // Whether it is, as a whole, what was judged once.
    private func isRecorded(_ files: [String: [UInt8]], _ result: AppliedResult) -> Bool {
        let files = files.map { CandidateFile(path: $0.key, bytes: $0.value) }
        do throws(WorkspaceError) {
            let snapshot = try CandidateSnapshot(checking: files, sizeLimit: .max)
            return result.known.contains(snapshot.digest.hex)
        } catch {
            return false  // no candidate at all
        }
    }

    // Tracked and without a difference to HEAD; outside a repository, nothing is committed. The option
    // counts where the owner's `status.showUntrackedFiles` hides what was never committed.
    private func isCommitted(_ paths: [String]) throws(SupervisorError) -> Bool {
        let words = ["status", "--porcelain", "--ignored", "--untracked-files=all", "--"]
        let status = try git.output(of: words + paths)
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
        try git.required(["check-ref-format", "--branch", branch])
        let head = try git.required(["rev-parse", "--verify", "HEAD^{commit}"])
        let prefix = try git.required(["rev-parse", "--show-prefix"])
        let folder = try git.required(["rev-parse", "--absolute-git-dir"])
        let index = "\(folder)/invigilator-\(CurrentProcess.pid).index"
        let tree: String
        do throws(SupervisorError) {
            try git.required(["read-tree", head], index: index)
            try write(result, below: prefix, to: index)
            tree = try git.required(["write-tree"], index: index)
            try removeIndex(index)
        } catch {
            try removeIndex(index)
            throw error
        }
        let commit = try git.required(
            ["commit-tree", tree, "-p", head, "-F", "-"],
            input: Array(result.message.utf8)
        )
        // The empty old value: the branch must not exist (git-update-ref(1)).
        try git.required(["update-ref", "refs/heads/\(branch)", commit, ""])
        return commit
    }

    private func write(
        _ result: AppliedResult,
        below prefix: String,
        to index: String
    ) throws(SupervisorError) {
        let tracked = try git.required(["ls-files", "-z", "--", "agent"], index: index)
        for path in tracked.split(separator: "\0").map(String.init)
        where result.surface.names(path) && result.files[path] == nil {
            try git.required(["update-index", "--force-remove", "--", path], index: index)
        }
        for (path, bytes) in result.files {
            let blob = try git.required(["hash-object", "-w", "--stdin"], input: bytes)
            let entry = "100644,\(blob),\(prefix)\(path)"
            try git.required(["update-index", "--add", "--cacheinfo", entry], index: index)
        }
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
}
