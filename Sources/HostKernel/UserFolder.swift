public import LinuxKernel

/// A folder whose files a user wrote or named, as root reads it.
///
/// Every file of it is opened here, and nowhere else: beneath the folder, through no symbolic link and onto
/// no other mount in any component, and with the rights of the user. So neither a link nor a second name of
/// somebody else's file leads root to what that user may not read.
public struct UserFolder: Sendable {
    /// The folder, absolute and without symbolic links.
    public let path: String
    // Absent where the folder is the operator's choice: then the rights are those of its owner.
    private let user: FileRights?

    /// Names a folder.
    ///
    /// - Parameters:
    ///   - path: the folder, absolute and without symbolic links.
    ///   - user: whose file named the folder, which is then opened with the same rights; absent where the
    ///     operator named it on the command line.
    public init(_ path: String, namedBy user: FileRights? = nil) {
        self.path = path
        self.user = user
    }

    /// Opens something of the folder, and never waits for a pipe.
    ///
    /// - Parameters:
    ///   - name: its path beneath the folder.
    ///   - mode: how.
    /// - Returns: what was opened; nobody has looked at its kind.
    /// - Throws: ``SystemError``.
    public func open(_ name: String, _ mode: Descriptor.Mode) throws(SystemError) -> Descriptor {
        let folder = try (user ?? .ours).perform { () throws(SystemError) in
            try Descriptor.openWithoutLinks(path, [.path, .directory])
        }
        return try rights(in: folder).perform { () throws(SystemError) in
            try folder.openBeneath(name, mode.union(.nonBlocking))
        }
    }

    /// Reads a regular file of the folder.
    ///
    /// - Parameters:
    ///   - name: its path beneath the folder.
    ///   - limit: the most bytes.
    /// - Returns: its bytes.
    /// - Throws: ``SystemError``; EINVAL for what is no regular file, EFBIG above `limit`.
    public func contents(of name: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try open(name, .read)
        guard try file.status().kind == .regular else {
            throw SystemError("open", name, number: SystemError.noFile)
        }
        return try file.readAll(limit: limit)
    }

    /// Whose rights its files are opened with.
    ///
    /// - Throws: ``SystemError``.
    public func rights() throws(SystemError) -> FileRights {
        try rights(in: Descriptor.openWithoutLinks(path, [.path, .directory]))
    }

    private func rights(in folder: borrowing Descriptor) throws(SystemError) -> FileRights {
        if let user { return user }
        return FileRights(of: try folder.status().owner)
    }
}
