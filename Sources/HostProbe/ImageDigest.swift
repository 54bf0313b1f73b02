internal import HostKernel
internal import Crypto
internal import LinuxKernel

/// The digest of an image, from its manifest or from what is on disk.
struct ImageDigest {
    private var hash = SHA256()
    private var fileCount = 0
    private var byteCount = 0

    /// What was measured.
    struct Measure {
        let digest: String
        let fileCount: Int
        let byteCount: Int
    }

    private init() {
        hash.update(data: Array("invigilator image 1\n".utf8))
    }

    /// Reads everything that a manifest names.
    static func measured(_ manifest: ImageManifest) throws(HostProbeError) -> Measure {
        var digest = ImageDigest()
        for path in manifest.paths {
            guard let content = manifest.entries[path] else { continue }
            digest.add(path, try ImageFiles.material(content))
        }
        return digest.finished()
    }

    /// Reads a tree on disk.
    static func measured(directory: String) throws(HostProbeError) -> Measure {
        var found: [String: FoundEntry] = [:]
        do throws(SystemError) {
            try list(try Descriptor.open(directory, [.read, .directory]), "", &found)
            var digest = ImageDigest()
            let root = try Descriptor.open(directory, [.read, .directory])
            for path in found.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                guard let entry = found[path] else { continue }
                digest.add(path, try entry.material(path, in: root))
            }
            return digest.finished()
        } catch {
            throw HostProbeError(
                operation: "read an image",
                location: directory,
                reason: error.description,
                remedy: "remove the directory; it is built again"
            )
        }
    }

    private static func list(
        _ directory: borrowing Descriptor,
        _ prefix: String,
        _ found: inout [String: FoundEntry]
    ) throws(SystemError) {
        for name in try directory.entries() {
            let status = try FileStatus(of: name, in: directory)
            let path = prefix + name
            switch status.kind {
            case .directory:
                found[path] = .directory(status.permissions)
                try list(directory.openBeneath(name, [.read, .directory]), path + "/", &found)
            case .symbolicLink: found[path] = .link(try directory.linkText(name))
            case .regular: found[path] = .file(status.permissions)
            case .other: found[path] = .other
            }
        }
    }

    private enum FoundEntry {
        case directory(UInt32)
        case link(String)
        case file(UInt32)
        case other

        func material(
            _ path: String,
            in root: borrowing Descriptor
        ) throws(SystemError) -> ImageMaterial {
            switch self {
            case .directory(let permissions):
                ImageMaterial(kind: .directory, permissions: permissions, bytes: [])
            case .link(let text):
                ImageMaterial(kind: .link, permissions: 0o777, bytes: Array(text.utf8))
            case .file(let permissions):
                ImageMaterial(
                    kind: .file,
                    permissions: permissions,
                    bytes: try root.contents(of: path, limit: HostFile.maximumBytes)
                )
            case .other: ImageMaterial(kind: .other, permissions: 0, bytes: [])
            }
        }
    }

    /// Every field has a fixed length or is preceded by its length, so no two trees agree.
    private mutating func add(_ path: String, _ material: ImageMaterial) {
        let name = Array(path.utf8)
        hash.update(data: Self.encoded(UInt64(name.count)) + name)
        hash.update(data: [material.kind.rawValue] + Self.encoded(UInt64(material.permissions)))
        hash.update(data: Self.encoded(UInt64(material.bytes.count)))
        hash.update(data: material.bytes)
        if material.kind == .file {
            fileCount += 1
            byteCount += material.bytes.count
        }
    }

    private static func encoded(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * (7 - UInt64($0)))) }
    }

    private func finished() -> Measure {
        let digits: [Character] = Array("0123456789abcdef")
        let text = hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return Measure(digest: String(text), fileCount: fileCount, byteCount: byteCount)
    }
}

/// One entry of an image with its bytes.
struct ImageMaterial {
    enum Kind: UInt8 {
        case directory = 1
        case link = 2
        case file = 3
        case other = 4
    }

    let kind: Kind
    let permissions: UInt32
    let bytes: [UInt8]
}
