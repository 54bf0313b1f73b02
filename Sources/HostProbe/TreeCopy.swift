internal import HostKernel
internal import LinuxKernel

/// Copies a directory tree into another directory.
enum TreeCopy {
    /// Copies every entry; `path` names the one in hand when an error is thrown.
    static func copy(
        _ source: borrowing Descriptor,
        to target: borrowing Descriptor,
        path: inout String
    ) throws(SystemError) {
        let start = path
        for name in try source.entries() {
            path = start.isEmpty ? name : "\(start)/\(name)"
            let status = try FileStatus(of: name, in: source)
            switch status.kind {
            case .directory:
                // A second image may be laid over the first; what is no directory is never replaced.
                do throws(SystemError) { try target.makeDirectory(name) } catch
                    where error.isAlreadyThere
                {}
                let from = try source.openBeneath(name, [.read, .directory])
                let to = try target.openBeneath(name, [.read, .directory])
                try to.setPermissions(status.permissions)
                try copy(from, to: to, path: &path)
            case .symbolicLink:
                try target.makeLink(name, to: try source.linkText(name))
            case .regular:
                try copyFile(name, status, from: source, to: target)
            case .other:
                throw SystemError("copy", path, number: 22)  // EINVAL: images hold no such thing
            }
        }
        path = start
    }

    private static func copyFile(
        _ name: String,
        _ status: FileStatus,
        from source: borrowing Descriptor,
        to target: borrowing Descriptor
    ) throws(SystemError) {
        let from = try source.openBeneath(name, .read)
        let to = try target.openBeneath(
            name,
            [.write, .createNew],
            permissions: status.permissions
        )
        var left = Int(status.size)
        while left > 0 {
            let count = try from.send(to: to, count: left)
            guard count > 0 else { throw SystemError("sendfile", name, number: 5) }  // EIO
            left -= count
        }
        try to.setPermissions(status.permissions)
    }
}
