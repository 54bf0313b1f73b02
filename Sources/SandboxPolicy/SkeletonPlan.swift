internal import SandboxPlan
internal import StrictYAML

/// Completes a skeleton root: parents of every entry, and a place for every mount.
enum SkeletonPlan {
    /// All entries, parents before children, each path once.
    ///
    /// `/proc` and `/dev` are there in every sandbox. A mount beneath an earlier mount gets no entry:
    /// its place is the earlier one's business.
    static func entries(
        _ declared: [SkeletonEntry],
        mounts: [PlannedMount],
        _ problems: ProblemList,
        at place: DocumentPlace
    ) -> [SkeletonEntry] {
        var byPath: [String: SkeletonEntry] = [:]
        for entry in declared {
            guard byPath.updateValue(entry, forKey: entry.path.text) == nil else {
                problems.add(place, .listedTwice(entry.path))
                continue
            }
        }
        for text in ["/proc", "/dev"] { addDirectory(text, to: &byPath) }
        var shown: [InsidePath] = []
        for mount in mounts {
            defer { shown.append(mount.target) }
            guard !shown.contains(where: { mount.target.isWithin($0) }) else { continue }
            if byPath[mount.target.text] == nil {
                byPath[mount.target.text] = mountPoint(of: mount)
            }
        }
        for path in byPath.keys.sorted() { addParents(of: path, to: &byPath, problems, place) }
        return byPath.keys.sorted().compactMap { byPath[$0] }
    }

    private static func mountPoint(of mount: PlannedMount) -> SkeletonEntry {
        switch mount.source {
        case .host(let source) where !source.isDirectory: .file(path: mount.target, contents: [])
        case .treeFile: .file(path: mount.target, contents: [])
        case .host, .vault, .tree, .tmpfs: .directory(mount.target)
        }
    }

    private static func addParents(
        of path: String,
        to entries: inout [String: SkeletonEntry],
        _ problems: ProblemList,
        _ place: DocumentPlace
    ) {
        var parent = path
        while let slash = parent.lastIndex(of: "/"), slash != parent.startIndex {
            parent = String(parent[..<slash])
            switch entries[parent] {
            case nil: addDirectory(parent, to: &entries)
            case .directory: break
            case .link, .file:
                problems.add(place, .beneathNoDirectory(path, parent))
            }
        }
    }

    private static func addDirectory(_ text: String, to entries: inout [String: SkeletonEntry]) {
        guard entries[text] == nil else { return }
        do throws(PlanError) {
            entries[text] = .directory(try InsidePath(text))
        } catch {
            fatalError("a parent of a normalised path is normalised: \(error)")
        }
    }
}

extension SkeletonEntry {
    /// Where the entry is.
    var path: InsidePath {
        switch self {
        case .directory(let path), .link(let path, _), .file(let path, _): path
        }
    }
}
