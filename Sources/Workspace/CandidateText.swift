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
    /// Audits a candidate: growth and phrases over all of its files, lines file by file.
    ///
    /// - Parameters:
    ///   - candidate: the candidate.
    ///   - previousSize: the size in bytes of the candidate that it would replace.
    /// - Returns: the findings; of several files, those with a line begin with its file.
    public func findings(
        in candidate: CandidateSnapshot,
        previousSize: Int
    ) -> [AuditFinding] {
        let all = findings(in: candidate.text, previousSize: previousSize)
        guard candidate.files.count > 1 else { return all }
        let lines = candidate.files.flatMap { file in
            findings(in: file.text, previousSize: .max).filter { $0.line != nil }.map {
                AuditFinding(kind: $0.kind, line: $0.line, detail: "\(file.path): \($0.detail)")
            }
        }
        return Array((all.filter { $0.line == nil } + lines).prefix(Self.maximumFindings))
    }
}

extension CandidateFile {
    /// The file as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
