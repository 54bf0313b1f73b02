internal import HostKernel
internal import LinuxKernel

/// Writes and removes the directories of images.
enum ImageFiles {
    /// The bytes and mode of one entry of a manifest.
    static func material(_ content: ImageContent) throws(HostProbeError) -> ImageMaterial {
        let operation = "read a file for an image"
        switch content {
        case .directory: return ImageMaterial(kind: .directory, permissions: 0o755, bytes: [])
        case .link(let text):
            return ImageMaterial(kind: .link, permissions: 0o777, bytes: Array(text.utf8))
        case .bytes(let bytes): return ImageMaterial(kind: .file, permissions: 0o644, bytes: bytes)
        case .file(let source):
            return ImageMaterial(
                kind: .file,
                permissions: 0o644,
                bytes: try HostFile.contents(source, operation: operation)
            )
        case .program(let source, let isExecutable):
            let bytes = try HostFile.contents(source, operation: operation)
            return ImageMaterial(
                kind: .file,
                permissions: isExecutable ? 0o755 : 0o644,
                bytes: ELFFile.loadablePart(bytes)
            )
        case .bytecode(let source):
            let bytes = try HostFile.contents(source, operation: operation)
            return ImageMaterial(
                kind: .file,
                permissions: 0o644,
                bytes: Bytecode.unchecked(bytes)
            )
        }
    }

    /// Writes a manifest into a new directory.
    static func write(
        _ manifest: ImageManifest,
        to name: String,
        in images: String
    ) throws(HostProbeError) {
        try attempt("make an image", "\(images)/\(name)") { () throws(SystemError) in
            let parent = try Descriptor.open(images, [.read, .directory])
            try parent.makeDirectory(name)
            try parent.openBeneath(name, [.read, .directory]).setPermissions(0o755)
        }
        for path in manifest.paths {
            guard let content = manifest.entries[path] else { continue }
            let material = try material(content)
            try attempt("write an image", "\(images)/\(name)/\(path)") { () throws(SystemError) in
                let parts = "\(name)/\(path)".split(separator: "/").map(String.init)
                let root = try Descriptor.open(images, [.read, .directory])
                let parent = try root.openBeneath(
                    parts.dropLast().joined(separator: "/"),
                    [.read, .directory]
                )
                try write(material, as: parts[parts.count - 1], in: parent)
            }
        }
    }

    private static func write(
        _ material: ImageMaterial,
        as name: String,
        in parent: borrowing Descriptor
    ) throws(SystemError) {
        switch material.kind {
        case .directory:
            try parent.makeDirectory(name)
            try parent.openBeneath(name, [.read, .directory])
                .setPermissions(material.permissions)
        case .link:
            try parent.makeLink(name, to: String(decoding: material.bytes, as: UTF8.self))
        case .file:
            let file = try parent.openBeneath(name, [.write, .createNew])
            try file.writeAll(material.bytes)
            try file.setPermissions(material.permissions)
        case .other: throw SystemError("open", name, number: 22)  // EINVAL
        }
    }

    /// Gives a finished image its name.
    static func rename(
        _ name: String,
        to new: String,
        in images: String
    ) throws(HostProbeError) {
        try attempt("name an image", "\(images)/\(new)") { () throws(SystemError) in
            let directory = try Descriptor.open(images, [.read, .directory])
            try directory.rename(name, to: new)
            try directory.synchronize()
        }
    }

    /// Removes a tree; nothing happens when it is not there.
    static func remove(_ name: String, in images: String) throws(HostProbeError) {
        try attempt("remove an image", "\(images)/\(name)") { () throws(SystemError) in
            let directory = try Descriptor.open(images, [.read, .directory])
            do throws(SystemError) {
                try removeTree(name, in: directory)
            } catch  where error.isMissing {}
        }
    }

    private static func removeTree(
        _ name: String,
        in parent: borrowing Descriptor
    ) throws(SystemError) {
        guard try FileStatus(of: name, in: parent).kind == .directory else {
            try parent.remove(name)
            return
        }
        let directory = try parent.openBeneath(name, [.read, .directory])
        for entry in try directory.entries() { try removeTree(entry, in: directory) }
        try parent.remove(name, isDirectory: true)
    }

    private static func attempt(
        _ operation: String,
        _ location: String,
        _ body: () throws(SystemError) -> Void
    ) throws(HostProbeError) {
        do throws(SystemError) {
            try body()
        } catch {
            throw HostProbeError(
                operation: operation,
                location: location,
                reason: error.description,
                remedy: "check the directory's owner and the free space"
            )
        }
    }
}
