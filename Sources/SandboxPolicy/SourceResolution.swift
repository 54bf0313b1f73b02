internal import SandboxPlan
internal import StrictYAML

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

    func resolve(_ path: String, isOptional: Bool, at place: DocumentPlace) -> Outcome {
        guard isNormal(path) else {
            problems.add(place, .sourceNotNormal(path.debugDescription))
            return .refused
        }
        guard isPermitted(path, place) else { return .refused }
        return pinned(path, isOptional: isOptional, at: place)
    }

    /// The vault's split: as any source, but beneath the state directory and nowhere else.
    func resolveVault(_ path: String, at place: DocumentPlace) -> Outcome {
        guard isNormal(path), Self.isWithin(path, context.stateDirectory) else {
            problems.add(place, .splitOutside)
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

    private func isPermitted(_ path: String, _ place: DocumentPlace) -> Bool {
        let state = context.stateDirectory
        if Self.isWithin(path, state) || Self.isWithin(state, path) {
            problems.add(place, .showsState(path, state))
            return false
        }
        for (forbidden, reason) in Self.forbidden
        where Self.isWithin(path, forbidden) || Self.isWithin(forbidden, path) {
            problems.add(place, .showsForbidden(path, forbidden, reason))
            return false
        }
        return true
    }

    /// Looks at every component, so that no link can lead elsewhere later.
    private func pinned(_ path: String, isOptional: Bool, at place: DocumentPlace) -> Outcome {
        var walked = ""
        var last: SourceFacts?
        for component in path.split(separator: "/") {
            walked += "/" + component
            guard let facts = context.lookUp(walked) else {
                if isOptional { return .absent }
                problems.add(place, .sourceMissing(walked))
                return .refused
            }
            guard facts.kind != .symbolicLink else {
                problems.add(place, .sourceIsLink(walked, path))
                return .refused
            }
            guard !facts.isOpenToAll else {
                problems.add(place, .sourceOpenToAll(walked))
                return .refused
            }
            last = facts
        }
        guard let last, last.kind == .directory || last.kind == .file else {
            problems.add(place, .sourceOfOtherKind(path))
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
