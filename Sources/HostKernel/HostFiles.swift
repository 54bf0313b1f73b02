internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

extension Descriptor {
    /// The names in this directory, without `.` and `..`, in no order.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func entries() throws(SystemError) -> [String] {
        try listing().map(\.name)
    }

    /// The text of a symbolic link in this directory.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func linkText(_ name: String) throws(SystemError) -> String {
        let directory = number
        var buffer = [CChar](repeating: 0, count: 4096)
        // Safety: readlinkat writes at most the buffer's size.
        let count = try result("readlinkat", name) {
            unsafe buffer.withUnsafeMutableBufferPointer { raw in
                unsafe clx_readlinkat(directory, name, raw.baseAddress, raw.count)
            }
        }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Renames within this directory, replacing what has the new name.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func rename(_ old: String, to new: String) throws(SystemError) {
        let directory = number
        try result("renameat", old) { unsafe clx_renameat(directory, old, directory, new) }
    }

    /// Empties this regular file, which is open for writing (ftruncate(2)).
    ///
    /// - Throws: ``SystemError``.
    public borrowing func empty() throws(SystemError) {
        let descriptor = number
        try result("ftruncate") { clx_ftruncate(descriptor, 0) }
    }

    /// Sets owner and group.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        let descriptor = number
        try result("fchown") { clx_fchown(descriptor, owner, group) }
    }

    /// Sets owner and group of a name in this directory, without following a link.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func setOwner(
        of name: String,
        _ owner: UInt32,
        group: UInt32
    ) throws(SystemError) {
        let directory = number
        try result("fchownat", name) {
            unsafe clx_fchownat(directory, name, owner, group, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// Replaces a file in this directory in one step: writes beside it, then renames.
    ///
    /// - Throws: ``SystemError``; the old file stays and nothing is left beside it.
    public borrowing func replace(
        _ name: String,
        with bytes: [UInt8],
        permissions: UInt32 = 0o644
    ) throws(SystemError) {
        let beside = ".\(name).new"
        do throws(SystemError) {
            try remove(beside)
        } catch  where error.isMissing {}
        do throws(SystemError) {
            let file = try openBeneath(
                beside,
                [.write, .createNew],
                permissions: permissions
            )
            try file.writeAll(bytes)
            try file.setPermissions(permissions)
            try rename(beside, to: name)
        } catch {
            do throws(SystemError) { try remove(beside) } catch  where error.isMissing {}
            throw error
        }
    }

    /// The absolute path, without symbolic links, of an existing directory.
    ///
    /// - Throws: ``SystemError``.
    public static func resolvedPath(_ path: String) throws(SystemError) -> String {
        let flags = O_PATH | O_DIRECTORY
        // Safety: as in open.
        let directory = Descriptor(
            adopting: try result("open", path) { unsafe clx_open(path, flags, 0) }
        )
        let links = try Descriptor.open("/proc/\(CurrentProcess.pid)/fd", [.read, .directory])
        return try links.linkText("\(directory.number)")
    }

    /// Opens a directory in this one, following a link of the administrator's.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func openChild(_ name: String) throws(SystemError) -> Descriptor {
        let flags = UInt64(O_DIRECTORY)
        let directory = number
        // Safety: as in open.
        return Descriptor(
            adopting: try result("openat2", name) {
                unsafe clx_openat2(directory, name, flags, 0, 0)
            }
        )
    }

    /// Copies up to `count` bytes to another file inside the kernel (sendfile(2)).
    ///
    /// - Returns: how many bytes were copied; 0 at the end of the file.
    /// - Throws: ``SystemError``.
    public borrowing func send(
        to target: borrowing Descriptor,
        count: Int
    ) throws(SystemError) -> Int {
        let (from, to) = (number, target.number)
        return try result("sendfile") { clx_sendfile(to, from, count) }
    }

    /// Writes file contents and metadata to the disk (fsync(2)).
    ///
    /// - Throws: ``SystemError``.
    public borrowing func synchronize() throws(SystemError) {
        let descriptor = number
        try result("fsync") { clx_fsync(descriptor) }
    }

    /// Takes an exclusive advisory lock, waiting for it.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func lock() throws(SystemError) {
        let descriptor = number
        try result("flock") { clx_flock(descriptor, LOCK_EX) }
    }

    /// Tries to take a share of an advisory lock (flock(2)) without waiting.
    ///
    /// - Returns: whether it was taken.
    /// - Throws: ``SystemError`` for anything but a lock held by another.
    public borrowing func tryLockShared() throws(SystemError) -> Bool {
        let descriptor = number
        do throws(SystemError) {
            try result("flock") { clx_flock(descriptor, LOCK_SH | LOCK_NB) }
            return true
        } catch {
            guard error.isWouldBlock else { throw error }
            return false
        }
    }

    /// Gives up an advisory lock.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func unlock() throws(SystemError) {
        let descriptor = number
        try result("flock") { clx_flock(descriptor, LOCK_UN) }
    }
}
