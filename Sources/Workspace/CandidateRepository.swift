// The repository is bare: git never writes a work tree here, so that no attribute, filter or
// check-out rule of a candidate is ever looked at. Objects are made with plumbing commands from
// bytes that the supervisor holds; no command is ever run in a tree that an agent can write.

public import ExamResults
internal import StrictYAML

/// The supervisor's own git repository of candidates.
///
/// Each submitted candidate is kept under `refs/candidates/<digest>`; the accepted ones are the
/// history of `refs/heads/main`.
public struct CandidateRepository {
    /// Runs one program to its end.
    public typealias Runner = (GitCommand) throws(WorkspaceError) -> GitAnswer

    /// Where the repository is, an absolute path.
    public let path: String
    private let run: Runner

    /// The branch of accepted candidates.
    static let mainReference = "refs/heads/main"
    /// The most bytes that git's listing of a candidate's files may have.
    private static let listingLimit = 64 << 10

    /// Names a repository that exists.
    ///
    /// - Parameters:
    ///   - path: where it is, an absolute path beneath the experiment's state.
    ///   - run: runs one program to its end.
    public init(at path: String, run: @escaping Runner) {
        self.path = path
        self.run = run
    }

    /// Makes an empty repository.
    ///
    /// - Throws: ``WorkspaceError/repository(operation:location:reason:remedy:)`` or what the
    ///   runner throws.
    public func create() throws(WorkspaceError) {
        try git("make the candidates' repository", ["init", "--quiet", "--bare", path])
    }

    /// Keeps a candidate as a commit on top of the accepted ones, without accepting it.
    ///
    /// - Parameters:
    ///   - candidate: the candidate.
    ///   - message: what the commit says.
    ///   - time: the commit's time, in milliseconds since 1970.
    /// - Returns: the commit.
    /// - Throws: as ``create()``.
    @discardableResult
    public func keep(
        _ candidate: CandidateSnapshot,
        message: String,
        time: Int64
    ) throws(WorkspaceError) -> CommitName {
        let operation = "keep a candidate"
        let root = try tree(operation, of: candidate.files.map { (path: $0.path[...], $0.bytes) })
        var arguments = ["commit-tree", "\(root)", "-F", "-"]
        if let head = try head() { arguments += ["-p", "\(head)"] }
        let commit = try name(operation, arguments, input: Array(message.utf8), time: time)
        let reference = "refs/candidates/\(candidate.digest.hex)"
        try git(operation, ["update-ref", reference, "\(commit)"])
        return commit
    }

    /// Makes a kept candidate the newest accepted one.
    ///
    /// - Parameter commit: what ``keep(_:message:time:)`` returned.
    /// - Throws: as ``create()``.
    public func accept(_ commit: CommitName) throws(WorkspaceError) {
        try git("accept a candidate", ["update-ref", Self.mainReference, "\(commit)"])
    }

    /// The newest accepted commit, if there is one.
    ///
    /// - Returns: the commit.
    /// - Throws: as ``create()``.
    public func head() throws(WorkspaceError) -> CommitName? {
        try resolve("find the accepted candidate", Self.mainReference)
    }

    /// The commit of a kept candidate, if it was kept.
    ///
    /// - Parameter digest: the candidate.
    /// - Returns: the commit.
    /// - Throws: as ``create()``.
    public func commit(of digest: CandidateDigest) throws(WorkspaceError) -> CommitName? {
        try resolve("find a candidate", "refs/candidates/\(digest.hex)")
    }

    /// The bytes of a candidate.
    ///
    /// - Parameter commit: its commit.
    /// - Returns: the candidate, checked and named anew.
    /// - Throws: as ``create()``.
    public func candidate(in commit: CommitName) throws(WorkspaceError) -> CandidateSnapshot {
        let operation = "read a candidate"
        let listing = try git(operation, ["ls-tree", "-r", "-z", "--name-only", "\(commit)"]).output
        guard listing.count <= Self.listingLimit else { throw malformed(operation) }
        var files: [CandidateFile] = []
        for name in listing.split(separator: 0) {
            let path = try BeneathPath(String(decoding: name, as: UTF8.self)).text
            let answer = try git(operation, ["cat-file", "blob", "\(commit):\(path)"])
            files.append(CandidateFile(path: path, bytes: answer.output))
        }
        guard !files.isEmpty else { throw malformed(operation) }
        return try CandidateSnapshot(checking: files, sizeLimit: Int.max)
    }

    /// The accepted commits, newest first.
    ///
    /// - Returns: the commits with their times, in seconds since 1970, and first lines.
    /// - Throws: as ``create()``.
    public func history() throws(WorkspaceError) -> [Entry] {
        guard try head() != nil else { return [] }
        let operation = "list the accepted candidates"
        let answer = try git(operation, ["log", "--format=%H %ct %s", Self.mainReference])
        var entries: [Entry] = []
        for line in String(decoding: answer.output, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let time = Int64(parts[1]) else {
                throw malformed(operation)
            }
            entries.append(
                Entry(
                    commit: try CommitName(String(parts[0])),
                    seconds: time,
                    title: String(parts[2])
                )
            )
        }
        return entries
    }

    /// One accepted commit.
    public struct Entry: Sendable, Equatable {
        /// The commit.
        public let commit: CommitName
        /// Its time, in seconds since 1970.
        public let seconds: Int64
        /// The first line of its message.
        public let title: String
    }
}

extension CandidateRepository {
    // Makes a tree of files, and the trees below it.
    private func tree(
        _ operation: String,
        of files: [(path: Substring, bytes: [UInt8])]
    ) throws(WorkspaceError) -> CommitName {
        var entries: [UInt8] = []
        var folders: [Substring: [(path: Substring, bytes: [UInt8])]] = [:]
        for file in files {
            if let slash = file.path.firstIndex(of: "/") {
                let rest = file.path[file.path.index(after: slash)...]
                folders[file.path[..<slash], default: []].append((rest, file.bytes))
            } else {
                let blob = try name(
                    operation,
                    ["hash-object", "-w", "--stdin"],
                    input: file.bytes
                )
                entries += Array("100644 blob \(blob)\t\(file.path)\n".utf8)
            }
        }
        for (folder, inner) in folders.sorted(by: { $0.key < $1.key }) {
            entries += Array("040000 tree \(try tree(operation, of: inner))\t\(folder)\n".utf8)
        }
        return try name(operation, ["mktree"], input: entries)
    }

    private func resolve(
        _ operation: String,
        _ reference: String
    ) throws(WorkspaceError) -> CommitName? {
        let answer = try git(
            operation,
            ["for-each-ref", "--format=%(objectname)", reference]
        )
        let text = String(decoding: answer.output, as: UTF8.self)
        guard let line = text.split(separator: "\n").first else { return nil }
        return try CommitName(String(line))
    }

    private func name(
        _ operation: String,
        _ arguments: [String],
        input: [UInt8],
        time: Int64 = 0
    ) throws(WorkspaceError) -> CommitName {
        let answer = try git(operation, arguments, input: input, time: time)
        guard let line = String(decoding: answer.output, as: UTF8.self).split(separator: "\n").first
        else { throw malformed(operation) }
        return try CommitName(String(line))
    }

    private func malformed(_ operation: String) -> WorkspaceError {
        .repository(
            operation: operation,
            location: path,
            reason: "git's answer is not understood",
            remedy: "check git's version; 2.30 or newer is known to work"
        )
    }

    @discardableResult
    private func git(
        _ operation: String,
        _ arguments: [String],
        input: [UInt8] = [],
        time: Int64 = 0
    ) throws(WorkspaceError) -> GitAnswer {
        let answer = try run(GitCommand(repository: path, arguments, input: input, time: time))
        guard answer.exitCode == 0 else {
            throw .repository(
                operation: operation,
                location: path,
                reason: "git ended with \(answer.exitCode):"
                    + " \(String(decoding: answer.errors, as: UTF8.self).printablePrefix(200))",
                remedy: "check the disk's space and the directory's owner and mode"
            )
        }
        return answer
    }
}

/// The name of a git object: 40 or 64 lower-case hexadecimal digits.
public struct CommitName: Sendable, Hashable, CustomStringConvertible {
    /// The digits.
    public let hex: String

    /// Checks a text.
    ///
    /// - Parameter hex: 40 or 64 lower-case hexadecimal digits.
    /// - Throws: ``WorkspaceError/repository(operation:location:reason:remedy:)``.
    public init(_ hex: String) throws(WorkspaceError) {
        let isHexadecimal = hex.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
        }
        guard [40, 64].contains(hex.utf8.count), isHexadecimal else {
            throw .repository(
                operation: "read a commit's name",
                location: hex.printablePrefix(70),
                reason: "it is not 40 or 64 lower-case hexadecimal digits",
                remedy: "give a commit as «ledger show» prints it"
            )
        }
        self.hex = hex
    }

    /// The digits.
    public var description: String { hex }
}
