internal import HostKernel
public import LinuxKernel
#if LayerSwitches
internal import SandboxPlan
#endif
public import SandboxPolicy

extension CandidateSnapshot {
    private static let mostFiles = 64

    /// Copies the candidate out of a directory that the coding agent can write.
    ///
    /// The agent should be frozen meanwhile; where it is not, a change during the reading of a file
    /// is found and refused.
    ///
    /// - Parameters:
    ///   - surface: which files it has.
    ///   - directory: the directory `agent/`, opened by the supervisor.
    ///   - sizeLimit: the most bytes that are judged, of all files together.
    /// - Throws: ``WorkspaceError/candidate(_:)`` for what the agent did, and
    ///   ``WorkspaceError/host(operation:location:reason:remedy:)`` for what the host did.
    public init(
        reading surface: Surface,
        beneath directory: borrowing Descriptor,
        sizeLimit: Int = defaultSizeLimit
    ) throws(WorkspaceError) {
        let paths = try Self.paths(of: surface, beneath: directory)
        guard paths.count <= Self.mostFiles else {
            throw .candidate(.tooMany(count: paths.count, limit: Self.mostFiles))
        }
        var files: [CandidateFile] = []
        for path in paths.sorted() {
            let full = "agent/\(path)"
            do throws(WorkspaceError) {
                let bytes = try Self.contents(BeneathPath(path), directory, sizeLimit: sizeLimit)
                files.append(CandidateFile(path: full, bytes: bytes))
            } catch {
                if case .candidate(let refusal) = error { throw .candidate(refusal.in(full)) }
                guard case .path(_, let reason) = error else { throw error }
                throw .candidate(.badName(reason: reason).in(full))
            }
        }
        #if LayerSwitches
        let sizeLimit = Layer.snapshot.isOmitted ? Int.max : sizeLimit
        #endif
        try self.init(checking: files, sizeLimit: sizeLimit)
    }

    /// The paths below `agent/` that a surface stands for now; its single files among them, there or not.
    ///
    /// - Parameters:
    ///   - surface: which files a candidate has.
    ///   - directory: the directory `agent/`.
    /// - Returns: the paths.
    /// - Throws: ``WorkspaceError`` where a directory of the surface is something else.
    public static func paths(
        of surface: Surface,
        beneath directory: borrowing Descriptor
    ) throws(WorkspaceError) -> Set<String> {
        var paths: Set<String> = []
        for pattern in surface.patterns { paths.formUnion(try Self.paths(pattern, directory)) }
        return paths
    }

    private static func paths(
        _ pattern: SurfacePattern,
        _ directory: borrowing Descriptor
    ) throws(WorkspaceError) -> [String] {
        if pattern.isFile { return [pattern.beneath] }
        let folder = pattern.folder
        do throws(SystemError) {
            let opened = try directory.openBeneath(
                folder.isEmpty ? "." : folder,
                [.read, .directory]
            )
            return try opened.entries().filter(pattern.matches)
                .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        } catch {
            if error.isMissing { return [] }
            guard ["ELOOP", "ENOTDIR"].contains(error.name) else {
                throw refusal(of: error, folder)
            }
            throw .candidate(.notADirectory.in("agent/\(folder)"))
        }
    }

    private static func contents(
        _ file: BeneathPath,
        _ directory: borrowing Descriptor,
        sizeLimit: Int
    ) throws(WorkspaceError) -> [UInt8] {
        #if LayerSwitches
        if let bytes = try Self.readWithoutRules(file, directory) { return bytes }
        #endif
        let opened = try Self.open(file, directory)
        let before = try Self.status(of: opened, file)
        try Self.check(before, sizeLimit: sizeLimit)
        let bytes = try Self.contents(of: opened, file, sizeLimit: sizeLimit)
        let after = try Self.status(of: opened, file)
        guard before == after, Int64(bytes.count) == after.size else {
            throw .candidate(.changedWhileRead)
        }
        return bytes
    }

    private static func open(
        _ file: BeneathPath,
        _ directory: borrowing Descriptor
    ) throws(WorkspaceError) -> Descriptor {
        do throws(SystemError) {
            return try directory.openBeneath(file.text, [.read, .nonBlocking])
        } catch {
            throw refusal(of: error, file.text)
        }
    }

    /// What a failed opening says of the file (openat2(2), ERRORS).
    private static func refusal(of error: SystemError, _ file: String) -> WorkspaceError {
        switch error.name {
        case "ENOENT", "ENOTDIR": .candidate(.missing)
        case "ELOOP", "EXDEV": .candidate(.symbolicLink)
        case "ENXIO", "ENODEV": .candidate(.notRegular(kind: .special))
        case "EACCES", "EPERM", "EAGAIN": .candidate(.unreadable(reason: error.name))
        default: host("open the candidate", file, error)
        }
    }

    private static func status(
        of opened: borrowing Descriptor,
        _ file: BeneathPath
    ) throws(WorkspaceError) -> FileStatus {
        do throws(SystemError) {
            return try opened.status()
        } catch {
            throw host("look at the candidate", file.text, error)
        }
    }

    private static func check(_ status: FileStatus, sizeLimit: Int) throws(WorkspaceError) {
        switch status.kind {
        case .regular: break
        case .directory: throw .candidate(.notRegular(kind: .directory))
        case .symbolicLink: throw .candidate(.symbolicLink)
        case .other: throw .candidate(.notRegular(kind: .special))
        }
        guard status.linkCount == 1 else {
            // A file without a name was removed after it was opened.
            throw .candidate(
                status.linkCount == 0
                    ? .changedWhileRead : .hardLinked(count: Int(clamping: status.linkCount))
            )
        }
        guard status.size <= Int64(sizeLimit) else {
            throw .candidate(.tooLarge(size: Int(clamping: status.size), limit: sizeLimit))
        }
    }

    private static func contents(
        of opened: borrowing Descriptor,
        _ file: BeneathPath,
        sizeLimit: Int
    ) throws(WorkspaceError) -> [UInt8] {
        do throws(SystemError) {
            return try opened.readAll(limit: sizeLimit)
        } catch {
            // It was small enough a moment ago, so it grew.
            guard error.name != "EFBIG" else { throw .candidate(.changedWhileRead) }
            throw host("read the candidate", file.text, error)
        }
    }
}
