internal import SandboxPlan

/// Turns a host path of a policy into a source pinned by device and inode.
struct SourceResolution {
    let context: ResolutionContext
    let problems: ProblemList

    /// What a source turned out to be.
    enum Outcome {
        case pinned(PinnedSource)
        /// An optional source that is not there.
        case absent
        /// Reported.
        case refused
    }

    /// Host directories whose contents are the kernel's, other users' or an engine's, with the
    /// reason; a source must not be one, lie beneath one, or show one.
    static let forbidden: [(path: String, reason: String)] = [
        ("/proc", "it is the kernel's view of every process"),
        ("/sys", "it is the kernel's view of the machine"),
        ("/dev", "devices are listed under devices"),
        ("/run", "it holds sockets of services and container engines"),
        ("/var/run", "it holds sockets of services and container engines"),
        ("/boot", "it holds the kernel"),
        ("/var/lib/docker", "it holds other containers' files"),
        ("/var/lib/containers", "it holds other containers' files"),
        ("/var/lib/containerd", "it holds other containers' files"),
        ("/etc/shadow", "it holds password hashes"),
        ("/etc/ssh", "it holds host keys"),
        ("/etc/ssl/private", "it holds private keys"),
    ]

    func resolve(_ path: String, isOptional: Bool, at place: PolicyPlace) -> Outcome {
        guard isNormal(path) else {
            problems.add(
                place,
                "the source \(path.debugDescription) is not absolute and normalised",
                remedy: "write it as /name/name, without . and .."
            )
            return .refused
        }
        guard isPermitted(path, place) else { return .refused }
        return pinned(path, isOptional: isOptional, at: place)
    }

    /// The vault's split: as any source, but beneath the state directory and nowhere else.
    func resolveVault(_ path: String, at place: PolicyPlace) -> Outcome {
        guard isNormal(path), Self.isWithin(path, context.stateDirectory) else {
            problems.add(
                place,
                "the vault's split is not beneath the state directory",
                remedy: "report this: the program chose it, not the policy"
            )
            return .refused
        }
        return pinned(path, isOptional: false, at: place)
    }

    private func isNormal(_ path: String) -> Bool {
        do throws(PlanError) {
            return try InsidePath(path).text != "/"
        } catch {
            return false
        }
    }

    private func isPermitted(_ path: String, _ place: PolicyPlace) -> Bool {
        let state = context.stateDirectory
        if Self.isWithin(path, state) || Self.isWithin(state, path) {
            problems.add(
                place,
                "the source \(path) would show the state directory \(state)",
                remedy: "mount something else; what a payload needs is copied into a tree"
            )
            return false
        }
        for (forbidden, reason) in Self.forbidden
        where Self.isWithin(path, forbidden) || Self.isWithin(forbidden, path) {
            problems.add(
                place,
                "the source \(path) would show \(forbidden): \(reason)",
                remedy: "name the files that are needed, outside of it"
            )
            return false
        }
        return true
    }

    /// Looks at every component, so that no link can lead elsewhere later.
    private func pinned(_ path: String, isOptional: Bool, at place: PolicyPlace) -> Outcome {
        var walked = ""
        var last: SourceFacts?
        for component in path.split(separator: "/") {
            walked += "/" + component
            guard let facts = context.lookUp(walked) else {
                if isOptional { return .absent }
                problems.add(
                    place,
                    "\(walked) does not exist or cannot be read",
                    remedy: "create it, correct the path, or add optional: true"
                )
                return .refused
            }
            guard facts.kind != .symbolicLink else {
                problems.add(
                    place,
                    "\(walked) is a symbolic link",
                    remedy: "name what it points to; `realpath \(path)` prints it"
                )
                return .refused
            }
            guard !facts.isOpenToAll else {
                problems.add(
                    place,
                    "\(walked) is writable by everyone",
                    remedy: "`chmod o-w \(walked)`, or mount something else"
                )
                return .refused
            }
            last = facts
        }
        guard let last, last.kind == .directory || last.kind == .file else {
            problems.add(
                place,
                "\(path) is neither a directory nor a regular file",
                remedy: "mount a directory or a file"
            )
            return .refused
        }
        return .pinned(
            PinnedSource(
                path: path,
                device: last.device,
                inode: last.inode,
                isDirectory: last.kind == .directory
            )
        )
    }

    private static func isWithin(_ path: String, _ other: String) -> Bool {
        path == other || path.hasPrefix(other + "/")
    }
}
