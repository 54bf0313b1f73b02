public import LinuxKernel

extension CandidateSnapshot {
    /// Copies the candidate out of a directory that the coding agent can write.
    ///
    /// The agent should be frozen meanwhile; where it is not, a change during the reading is
    /// found and refused.
    ///
    /// - Parameters:
    ///   - file: the file, beneath the directory.
    ///   - directory: the directory, opened by the supervisor.
    ///   - sizeLimit: the most bytes that are judged.
    /// - Throws: ``WorkspaceError/candidate(_:)`` for what the agent did, and
    ///   ``WorkspaceError/host(operation:location:reason:remedy:)`` for what the host did.
    public init(
        reading file: BeneathPath,
        beneath directory: borrowing Descriptor,
        sizeLimit: Int = defaultSizeLimit
    ) throws(WorkspaceError) {
        #if LayerSwitches
        if let bytes = try Self.readWithoutRules(file, directory) {
            try self.init(checking: bytes, sizeLimit: sizeLimit)
            return
        }
        #endif
        let opened = try Self.open(file, directory)
        let before = try Self.status(of: opened, file)
        try Self.check(before, sizeLimit: sizeLimit)
        let bytes = try Self.contents(of: opened, file, sizeLimit: sizeLimit)
        let after = try Self.status(of: opened, file)
        guard before == after, Int64(bytes.count) == after.size else {
            throw .candidate(.changedWhileRead)
        }
        try self.init(checking: bytes, sizeLimit: sizeLimit)
    }

    private static func open(
        _ file: BeneathPath,
        _ directory: borrowing Descriptor
    ) throws(WorkspaceError) -> Descriptor {
        do throws(SystemError) {
            return try directory.openBeneath(file.text, [.read, .nonBlocking])
        } catch {
            throw refusal(of: error, file)
        }
    }

    /// What a failed opening says of the file (openat2(2), ERRORS).
    private static func refusal(of error: SystemError, _ file: BeneathPath) -> WorkspaceError {
        switch error.name {
        case "ENOENT", "ENOTDIR": .candidate(.missing)
        case "ELOOP", "EXDEV": .candidate(.symbolicLink)
        case "ENXIO", "ENODEV": .candidate(.notRegular(kind: .special))
        case "EACCES", "EPERM": .candidate(.unreadable(reason: error.name))
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
            throw host("look at the candidate", file, error)
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
            throw host("read the candidate", file, error)
        }
    }
}
