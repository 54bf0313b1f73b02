internal import SandboxPolicy

// A candidate for those who read it or make one: audits, pages, patches and templates.

extension CandidateSnapshot {
    /// A candidate of one file, `agent/agent.py`.
    ///
    /// - Parameters:
    ///   - program: the file's bytes.
    ///   - sizeLimit: the most bytes that are judged.
    /// - Throws: as ``init(checking:sizeLimit:)-(_,_)``.
    public init(
        program: [UInt8],
        sizeLimit: Int = defaultSizeLimit
    ) throws(WorkspaceError) {
        try self.init(
            checking: [CandidateFile(path: Surface.program, bytes: program)],
            sizeLimit: sizeLimit
        )
    }

    /// The bytes of all files together.
    public var size: Int { files.reduce(0) { $0 + $1.bytes.count } }

    /// The file as text; of several, each below a line with its path, as head(1) prints them.
    public var text: String {
        guard files.count > 1 || files.first?.path != Surface.program else {
            return files[0].text
        }
        return files.map { "==> \($0.path) <==\n\($0.text)" }.joined(separator: "\n")
    }

    /// The text of each file by its path.
    public var texts: [String: String] {
        Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.text) })
    }

    /// What changed from another candidate to this one, as a patch that `git apply` takes.
    ///
    /// - Parameter old: the other candidate.
    /// - Returns: the patch; empty where nothing changed.
    public func difference(from old: CandidateSnapshot) -> String {
        let (before, after) = (old.texts, texts)
        return Set(before.keys).union(after.keys).sorted().map { path in
            UnifiedDiff(from: before[path] ?? "", to: after[path] ?? "").text(
                oldName: before[path] == nil ? nil : "a/\(path)",
                newName: after[path] == nil ? nil : "b/\(path)"
            )
        }.joined()
    }
}

extension StaticAudit {
    /// Audits a candidate: growth over all of its files, everything else file by file.
    ///
    /// - Parameters:
    ///   - candidate: the candidate.
    ///   - previous: the candidate that it would replace.
    /// - Returns: the findings; of several files, each with its file.
    public func findings(
        in candidate: CandidateSnapshot,
        replacing previous: CandidateSnapshot
    ) -> [AuditFinding] {
        var findings = growth(
            from: (previous.size, previous.lineCount),
            to: (candidate.size, candidate.lineCount)
        )
        for file in candidate.files {
            let isPython = file.path.hasSuffix(".py")
            let found = self.findings(in: file.text, isPython: isPython)
            findings += candidate.files.count > 1 ? found.map { $0.of(file.path) } : found
        }
        return Self.cut(findings)
    }
}

extension CandidateSnapshot {
    /// The lines of all files together.
    fileprivate var lineCount: Int {
        files.reduce(0) { sum, file in sum + file.bytes.count { $0 == UInt8(ascii: "\n") } }
    }
}

extension CandidateFile {
    /// The file as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
