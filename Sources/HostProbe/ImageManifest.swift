/// What one path of an image holds.
public enum ImageContent: Sendable, Equatable {
    /// A directory, mode 0755.
    case directory
    /// A symbolic link with this text.
    case link(String)
    /// A copy of a host file, mode 0644.
    case file(source: String)
    /// A copy of a program or library, without its debugging sections.
    case program(source: String, isExecutable: Bool)
    /// A copy of a bytecode file, marked as valid without a look at its source's time.
    case bytecode(source: String)
    /// These bytes, mode 0644.
    case bytes([UInt8])
}

/// The list of everything in an image, by path.
public struct ImageManifest: Sendable, Equatable {
    /// Paths without a leading slash, parents included.
    public private(set) var entries: [String: ImageContent] = [:]
    /// What was left out although it was looked for, with the reason.
    public private(set) var omissions: [String] = []

    /// Creates an empty manifest.
    public init() {}

    /// Paths in byte order, which puts parents before children.
    public var paths: [String] {
        entries.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Adds or replaces an entry and adds the directories above it.
    public mutating func add(_ path: String, _ content: ImageContent) {
        entries[path] = content
        var parent = path[...]
        while let slash = parent.lastIndex(of: "/") {
            parent = parent[..<slash]
            if entries[String(parent)] == nil { entries[String(parent)] = .directory }
        }
    }

    mutating func omit(_ what: String) {
        omissions.append(what)
    }
}
