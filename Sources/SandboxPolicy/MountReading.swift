internal import SandboxPlan
internal import StrictYAML

extension PolicyRoot {
    /// Reads `{tree: true}` or `{skeleton: {directories, links, files}}`.
    init?(_ node: YAMLNode) {
        guard var reader = node.mapping() else { return nil }
        let tree = reader.optional("tree")
        let skeleton = reader.optional("skeleton")
        reader.finish()
        switch (tree, skeleton) {
        case (let tree?, nil):
            guard tree.choice(["true": true]) != nil else { return nil }
            self = .tree
        case (nil, let skeleton?):
            self = .skeleton(Self.entries(skeleton))
        case (nil, nil), (.some, .some):
            node.refuse(.rootUnclear)
            return nil
        }
    }

    private static func entries(_ node: YAMLNode) -> [SkeletonEntry] {
        guard var reader = node.mapping() else { return [] }
        let directories = reader.optional("directories")?.distinct { $0.path() } ?? []
        var entries = directories.map { SkeletonEntry.directory($0.value) }
        for (path, target) in pairs(reader.optional("links")) {
            guard let text = target.text() else { continue }
            entries.append(.link(path: path, target: text))
        }
        for (path, contents) in pairs(reader.optional("files")) {
            guard let text = contents.text(atLeast: 0, limit: 65_536) else { continue }
            entries.append(.file(path: path, contents: Array(text.utf8)))
        }
        reader.finish()
        return entries
    }

    private static func pairs(_ node: YAMLNode?) -> [(InsidePath, YAMLNode)] {
        (node?.entries(remedy: "write /path: text") ?? []).compactMap { entry in
            entry.key.path().map { ($0, entry.value) }
        }
    }
}

extension PolicyMount {
    /// Reads one mount: a host source, a tree, a tmpfs or the vault's split.
    init?(_ node: YAMLNode) {
        guard var reader = node.mapping() else { return nil }
        let source = PolicyMountSource(&reader, node)
        let target = reader.required("target")?.text()
        let access: MountAccess?
        let isExecutable: Bool?
        var isOptional: Bool? = false
        switch source {
        case .tmpfs, nil:
            (access, isExecutable) = (.readWrite, reader.flag("exec"))
        case .vaultSplit:
            (access, isExecutable) = (.readOnly, false)
        case .tree:
            (access, isExecutable) = (reader.access(), reader.flag("exec"))
        case .host:
            (access, isExecutable) = (reader.access(), reader.flag("exec"))
            isOptional = reader.flag("optional")
        }
        reader.finish()
        guard let source, let target, let access, let isExecutable, let isOptional else {
            return nil
        }
        self.init(
            source: source,
            target: target,
            access: access,
            isExecutable: isExecutable,
            isOptional: isOptional,
            place: node.place
        )
    }
}

extension PolicyMountSource {
    fileprivate init?(_ reader: inout MappingReader, _ node: YAMLNode) {
        let host = reader.optional("source")
        let tree = reader.optional("tree")
        let tmpfs = reader.optional("tmpfs")
        let vault = reader.optional("vault")
        let found: PolicyMountSource?
        switch (host, tree, tmpfs, vault) {
        case (let host?, nil, nil, nil): found = host.text().map { .host($0) }
        case (nil, let tree?, nil, nil): found = tree.integer(in: 0...15).map { .tree($0) }
        case (nil, nil, let tmpfs?, nil):
            // One inode costs the kernel about 1 KiB that no size limit counts.
            let inodes: UInt32? =
                reader.optional("inodes").map { $0.integer(in: 16...1_048_576) } ?? 16_384
            let size = tmpfs.size()
            found = size.flatMap { size in inodes.map { .tmpfs(size: size, inodes: $0) } }
        case (nil, nil, nil, let vault?): found = vault.choice(["split": .vaultSplit])
        default:
            node.refuse(.sourceUnclear)
            return nil
        }
        guard let found else { return nil }
        self = found
    }
}

extension MappingReader {
    fileprivate mutating func access() -> MountAccess? {
        required("access")?.choice(["read-only": .readOnly, "read-write": .readWrite])
    }

    fileprivate mutating func flag(_ key: String) -> Bool? {
        optional(key).map { $0.boolean() } ?? false
    }
}
