internal import HostKernel
public import LinuxKernel

/// Puts rendered files beneath a directory, each in one step, following no link.
public struct DirectorySink: ~Copyable {
    private let directory: Descriptor

    /// Adopts a directory that only the supervisor writes.
    ///
    /// - Parameter directory: the directory, open for reading.
    public init(adopting directory: consuming Descriptor) {
        self.directory = directory
    }
}

extension DirectorySink: FileSink {
    /// Replaces one file as a whole, making the directories above it.
    ///
    /// - Parameter file: the file.
    /// - Throws: ``WorkspaceError/host(operation:location:reason:remedy:)``.
    public mutating func replace(_ file: RenderedFile) throws(WorkspaceError) {
        do throws(SystemError) {
            let folders = file.path.components.dropLast()
            guard let name = file.path.components.last else { return }
            guard !folders.isEmpty else {
                try directory.replace(name, with: file.bytes)
                return
            }
            var beneath = ""
            for folder in folders {
                beneath += beneath.isEmpty ? folder : "/\(folder)"
                try Self.ensure(beneath, in: directory)
            }
            try directory.openBeneath(beneath, [.read, .directory])
                .replace(name, with: file.bytes)
        } catch {
            throw Self.failure("render a file", file.path, error)
        }
    }

    /// Removes everything beneath a directory, if it is there.
    ///
    /// - Parameter folder: the directory.
    /// - Throws: ``WorkspaceError/host(operation:location:reason:remedy:)``.
    public mutating func empty(_ folder: BeneathPath) throws(WorkspaceError) {
        do throws(SystemError) {
            let opened = try directory.openBeneath(folder.text, [.read, .directory])
            try Self.removeAll(in: opened, depth: 0)
        } catch {
            guard !error.isMissing else { return }
            throw Self.failure("empty a directory", folder, error)
        }
    }

    private static func ensure(
        _ path: String,
        in directory: borrowing Descriptor
    ) throws(SystemError) {
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last else { return }
        do throws(SystemError) {
            if parts.count == 1 {
                try directory.makeDirectory(name)
            } else {
                try directory
                    .openBeneath(parts.dropLast().joined(separator: "/"), [.read, .directory])
                    .makeDirectory(name)
            }
        } catch  where error.isAlreadyThere {
            // It is opened as a directory next, so a file of that name is found there.
        }
    }

    private static func removeAll(
        in folder: borrowing Descriptor,
        depth: Int
    ) throws(SystemError) {
        for name in try folder.entries() {
            guard try FileStatus(of: name, in: folder).kind == .directory, depth < 8 else {
                try folder.remove(name)
                continue
            }
            try removeAll(
                in: try folder.openBeneath(name, [.read, .directory]),
                depth: depth + 1
            )
            try folder.remove(name, isDirectory: true)
        }
    }

    private static func failure(
        _ operation: String,
        _ path: BeneathPath,
        _ error: SystemError
    ) -> WorkspaceError {
        .host(
            operation: operation,
            location: path.text,
            reason: "\(error)",
            remedy: error.isFull
                ? "make room on the disk, then run again" : "check the directory's owner and mode"
        )
    }
}
