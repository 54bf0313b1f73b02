internal import SandboxPlan

/// Reads the keys `root`, `mounts` and `landlock`.
struct MountReading {
    let problems: ProblemList
    private var scalars: ScalarReading { ScalarReading(problems: problems) }

    init(problems: ProblemList) {
        self.problems = problems
    }

    /// `{tree: true}` or `{skeleton: {directories, links, files}}`.
    func root(_ node: PolicyNode) -> PolicyRoot? {
        var reader = MappingReader(node, problems)
        let tree = reader.optional("tree")
        let skeleton = reader.optional("skeleton")
        reader.finish()
        switch (tree, skeleton) {
        case (let tree?, nil):
            let isTree: Bool? = scalars.choice(tree, ["true": true])
            return isTree == nil ? nil : .tree
        case (nil, let skeleton?):
            return .skeleton(entries(skeleton))
        case (nil, nil), (.some, .some):
            problems.add(node.place, .rootUnclear)
            return nil
        }
    }

    private func entries(_ node: PolicyNode) -> [SkeletonEntry] {
        var reader = MappingReader(node, problems)
        var entries: [SkeletonEntry] = scalars.distinct(reader.optional("directories")) {
            scalars.path($0)
        }.map { .directory($0) }
        for (path, target) in pairs(reader.optional("links")) {
            guard let text = scalars.text(target) else { continue }
            entries.append(.link(path: path, target: text))
        }
        for (path, contents) in pairs(reader.optional("files")) {
            guard case .text(let text) = contents.content, text.utf8.count <= 65_536 else {
                problems.add(contents.place, .longContents)
                continue
            }
            entries.append(.file(path: path, contents: Array(text.utf8)))
        }
        reader.finish()
        return entries
    }

    private func pairs(_ node: PolicyNode?) -> [(InsidePath, PolicyNode)] {
        guard let node else { return [] }
        guard case .mapping(let entries) = node.content else {
            problems.add(node.place, .noMapping(node.kind, "write /path: text"))
            return []
        }
        return entries.compactMap { entry in
            scalars.path(PolicyNode(content: .text(entry.key), place: entry.place))
                .map { ($0, entry.value) }
        }
    }

    /// One mount: a host source, a tree, a tmpfs or the vault's split.
    func mount(_ node: PolicyNode) -> PolicyMount? {
        var reader = MappingReader(node, problems)
        let source = source(&reader, node.place)
        let target = scalars.text(reader.required("target"))
        let access: MountAccess?
        let isExecutable: Bool?
        var isOptional: Bool? = false
        switch source {
        case .tmpfs, nil:
            (access, isExecutable) = (.readWrite, flag(reader.optional("exec")))
        case .vaultSplit:
            (access, isExecutable) = (.readOnly, false)
        case .tree:
            (access, isExecutable) = (self.access(&reader), flag(reader.optional("exec")))
        case .host:
            (access, isExecutable) = (self.access(&reader), flag(reader.optional("exec")))
            isOptional = flag(reader.optional("optional"))
        }
        reader.finish()
        guard let source, let target, let access, let isExecutable, let isOptional else {
            return nil
        }
        return PolicyMount(
            source: source,
            target: target,
            access: access,
            isExecutable: isExecutable,
            isOptional: isOptional,
            place: node.place
        )
    }

    private func source(
        _ reader: inout MappingReader,
        _ place: PolicyPlace
    ) -> PolicyMountSource? {
        let host = reader.optional("source")
        let tree = reader.optional("tree")
        let tmpfs = reader.optional("tmpfs")
        let vault = reader.optional("vault")
        guard [host, tree, tmpfs, vault].compactMap({ $0 }).count == 1 else {
            problems.add(place, .sourceUnclear)
            return nil
        }
        if let host { return scalars.text(host).map { .host($0) } }
        if let tree {
            let index: UInt8? = scalars.integer(tree, in: 0...15)
            return index.map { .tree($0) }
        }
        if let vault {
            return scalars.choice(vault, ["split": PolicyMountSource.vaultSplit])
        }
        let size = scalars.size(tmpfs)
        // One inode costs the kernel about 1 KiB that no size limit counts.
        let inodesNode = reader.optional("inodes")
        let inodes: UInt32? =
            inodesNode == nil ? 16_384 : scalars.integer(inodesNode, in: 16...1_048_576)
        guard let size, let inodes else { return nil }
        return .tmpfs(size: size, inodes: inodes)
    }

    private func access(_ reader: inout MappingReader) -> MountAccess? {
        scalars.choice(
            reader.required("access"),
            ["read-only": .readOnly, "read-write": .readWrite]
        )
    }

    private func flag(_ node: PolicyNode?) -> Bool? {
        node == nil ? false : scalars.boolean(node)
    }

    /// `{minimum-abi: N}`; the rules follow from the mounts.
    func landlock(_ node: PolicyNode) -> UInt8? {
        var reader = MappingReader(node, problems)
        let minimum: UInt8? = scalars.integer(reader.required("minimum-abi"), in: 1...99)
        reader.finish()
        return minimum
    }
}
