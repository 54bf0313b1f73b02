public import LinuxKernel

extension Descriptor {
    /// Writes a file beneath this directory in one step, making the directories in between.
    ///
    /// - Parameters:
    ///   - bytes: what the file holds.
    ///   - path: its path beneath this directory.
    ///   - permissions: the file's, whatever the mask.
    /// - Throws: ``SystemError``; a file that was there stays.
    public borrowing func place(
        _ bytes: [UInt8],
        at path: String,
        permissions: UInt32 = 0o644
    ) throws(SystemError) {
        var parts = path.split(separator: "/").map(String.init)
        guard let name = parts.popLast() else { return }
        var done = ""
        for part in parts {
            done += done.isEmpty ? part : "/\(part)"
            do throws(SystemError) {
                try makeNested(done)
            } catch {
                guard error.isAlreadyThere else { throw error }
            }
        }
        if parts.isEmpty { return try replace(name, with: bytes, permissions: permissions) }
        try openBeneath(done, [.read, .directory])
            .replace(name, with: bytes, permissions: permissions)
    }

    /// Removes a file beneath this directory; the directories in between stay.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func takeAway(_ path: String) throws(SystemError) {
        let parts = path.split(separator: "/").map(String.init)
        let above = parts.dropLast().joined(separator: "/")
        try openBeneath(above.isEmpty ? "." : above, [.read, .directory]).remove(parts.last ?? "")
    }

    private borrowing func makeNested(_ path: String) throws(SystemError) {
        let parts = path.split(separator: "/").map(String.init)
        if parts.count == 1 {
            try makeDirectory(path)
            try openBeneath(path, [.read, .directory]).setPermissions(0o755)
        } else {
            let parent = try openBeneath(
                parts.dropLast().joined(separator: "/"),
                [.read, .directory]
            )
            try parent.makeDirectory(parts[parts.count - 1])
            try parent.openBeneath(parts[parts.count - 1], [.read, .directory])
                .setPermissions(0o755)
        }
    }
}
