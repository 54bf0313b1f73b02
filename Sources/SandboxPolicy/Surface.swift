internal import SandboxPlan

/// The files that a coding agent owns: of all that it writes, these alone are read back.
public struct Surface: Sendable, Equatable, CustomStringConvertible {
    /// How the files are shown to the coding agent.
    public enum Save: String, Sendable, Equatable, CaseIterable {
        /// A private directory in which editors may write beside a file and rename.
        case replace
        /// Each file by itself: nothing beside it can be made, and it cannot be renamed or removed.
        case inPlace = "in-place"
    }

    /// How the files are shown.
    public let save: Save
    /// The files, the judged program's among them.
    public let patterns: [SurfacePattern]

    /// The one file of every experiment, which the candidate's sandbox starts.
    public static let program = "agent/agent.py"
    /// The one file, in a private directory.
    public static let standard = Surface(save: .replace, patterns: [SurfacePattern(program)])

    /// Names the files.
    public init(save: Save, patterns: [SurfacePattern]) {
        self.save = save
        self.patterns = patterns
    }

    /// How it is saved, then the patterns; the words of a record.
    public var description: String {
        ([save.rawValue] + patterns.map(\.text)).joined(separator: " ")
    }

    /// Whether a path, such as `agent/agent.py`, is one of its files.
    public func names(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropFirst().dropLast().joined(separator: "/")
        return parts.first == "agent" && parts.count > 1
            && patterns.contains {
                $0.folder == folder && $0.matches(String(parts[parts.count - 1]))
            }
    }

    /// A policy's mounts with the writable tree shown file by file, where that is how it is saved.
    func mounts(of planned: [PlannedMount]) throws(PlanError) -> [PlannedMount] {
        guard save == .inPlace else { return planned }
        var mounts: [PlannedMount] = []
        for mount in planned {
            // The agent's tree; its home, tree 2, is shown whole, and nothing of it is kept.
            guard case .tree(let index) = mount.source, index == 1, mount.access == .readWrite
            else {
                mounts.append(mount)
                continue
            }
            for pattern in patterns {
                var file = mount
                file.target = try InsidePath("\(mount.target)/\(pattern.beneath)")
                file.source = .treeFile(index: index, path: try InsidePath("/" + pattern.beneath))
                mounts.append(file)
            }
        }
        return mounts
    }
}

/// A file below `agent/`, or several by one `*` in the last component.
public struct SurfacePattern: Sendable, Equatable {
    /// The pattern, such as `agent/prompts/*.md`.
    public let text: String

    init(_ text: String) { self.text = text }

    /// Checks a text: at most 8 components of letters, digits, `.`, `_` and `-`, the first `agent`, none
    /// beginning with a dot, and at most one `*`, in the last.
    public init?(checking text: String) {
        let components = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...8).contains(components.count), components[0] == "agent",
            components.allSatisfy(Self.isPlain), text.utf8.count <= 256,
            components.dropLast().allSatisfy({ !$0.contains("*") }),
            components[components.count - 1].count(where: { $0 == "*" }) <= 1
        else { return nil }
        self.text = text
    }

    private static func isPlain(_ name: Substring) -> Bool {
        !name.isEmpty && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || [42, 45, 46, 95].contains(byte)
            }
    }

    /// Whether it names one file, which must be there.
    public var isFile: Bool { !text.contains("*") }

    /// The path below `agent/`.
    public var beneath: String { String(text.dropFirst("agent/".count)) }

    /// The directory that the files lie in, below `agent/`; empty for that directory itself.
    public var folder: String {
        beneath.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Whether a name in ``folder`` is one that is kept; as for a shell, `*` begins no hidden name.
    public func matches(_ name: String) -> Bool {
        let last = text.split(separator: "/").last ?? ""
        let ends = last.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return name == last }
        return !name.hasPrefix(".") && name.hasPrefix(ends[0]) && name.hasSuffix(ends[1])
            && name.utf8.count >= last.utf8.count - 1
    }
}
