internal import HostKernel
internal import Crypto
public import LinuxKernel

/// An image on disk: a directory tree that is named by the digest of all it holds.
public struct Image: Sendable, Equatable {
    /// SHA-256 over sorted paths, kinds, modes and contents, in 64 hexadecimal digits.
    public let digest: String
    /// The directory that holds the tree.
    public let directory: String
    /// Number of regular files.
    public let fileCount: Int
    /// Sum of their sizes.
    public let byteCount: Int
}

/// Builds images, proves them whole, and copies them into trees.
public enum ImageBuilder {
    /// Builds the image of a manifest, or returns the one that is there already.
    ///
    /// One build at a time: two first builds would write one directory, so a second waits for the
    /// first and finds its image.
    ///
    /// - Parameters:
    ///   - manifest: what goes into it.
    ///   - images: the directory of all images; it must exist and be writable.
    /// - Returns: the image, proven whole.
    /// - Throws: ``HostProbeError``; a half-built image is removed.
    public static func build(
        _ manifest: ImageManifest,
        into images: String
    ) throws(HostProbeError) -> Image {
        let lock = try lock(images)
        let built = Result { () throws(HostProbeError) in try buildAlone(manifest, into: images) }
        do throws(SystemError) { try lock.unlock() } catch {
            throw HostProbeError(
                operation: "end the build of an image",
                location: images,
                reason: error.description,
                remedy: "try again"
            )
        }
        return try built.get()
    }

    private static func lock(_ images: String) throws(HostProbeError) -> Descriptor {
        do throws(SystemError) {
            let file = try Descriptor.open("\(images)/.lock", [.write, .create])
            try file.lock()
            return file
        } catch {
            throw HostProbeError(
                operation: "wait for another build of an image",
                location: "\(images)/.lock",
                reason: error.description,
                remedy: "check owner and mode of this directory"
            )
        }
    }

    private static func buildAlone(
        _ manifest: ImageManifest,
        into images: String
    ) throws(HostProbeError) -> Image {
        let measured = try ImageDigest.measured(manifest)
        let image = Image(
            digest: measured.digest,
            directory: "\(images)/\(measured.digest)",
            fileCount: measured.fileCount,
            byteCount: measured.byteCount
        )
        if HostFile.status(image.directory) != nil {
            if try isWhole(image) { return image }
            try ImageFiles.remove(measured.digest, in: images)
        }
        let building = ".building-\(measured.digest)"
        try ImageFiles.remove(building, in: images)
        do throws(HostProbeError) {
            try ImageFiles.write(manifest, to: building, in: images)
            try ImageFiles.rename(building, to: measured.digest, in: images)
        } catch {
            try ImageFiles.remove(building, in: images)
            throw error
        }
        guard try isWhole(image) else {
            try ImageFiles.remove(measured.digest, in: images)
            throw HostProbeError(
                operation: "build an image",
                location: image.directory,
                reason: "what was written is not what was read",
                remedy: "let no installation run at the same time, and try again"
            )
        }
        return image
    }

    /// Whether an image on disk still has its digest.
    ///
    /// - Throws: ``HostProbeError`` when it cannot be read.
    public static func isWhole(_ image: Image) throws(HostProbeError) -> Bool {
        try ImageDigest.measured(directory: image.directory).digest == image.digest
    }

    /// Copies an image into an empty directory, such as the root of a fresh tmpfs.
    ///
    /// - Throws: ``HostProbeError`` with the path that could not be copied.
    public static func copy(
        _ image: Image,
        to target: borrowing Descriptor
    ) throws(HostProbeError) {
        var path = ""
        do throws(SystemError) {
            let source = try Descriptor.open(image.directory, [.read, .directory])
            try TreeCopy.copy(source, to: target, path: &path)
        } catch {
            throw HostProbeError(
                operation: "copy an image",
                location: path.isEmpty ? image.directory : path,
                reason: error.description,
                remedy: "free memory for the tree, or raise its size"
            )
        }
    }
}
