public import HostKernel
internal import LinuxKernel

/// The policies and groups of system calls of one directory.
public struct PolicyLibrary: Sendable, Equatable {
    /// The groups by name.
    public let groups: [String: SyscallGroup]
    /// The directory they were read from.
    public let directory: String
    private let documents: [String: [UInt8]]

    /// Reads `*.yaml` and `syscalls/*.yaml` of a directory.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - user: whose file names it: it is opened without links and with this user's rights; absent where
    ///     the operator names it, or it ships.
    /// - Throws: ``PolicyRefusal`` when the directory cannot be read or a group is malformed.
    public init(directory path: String, namedBy user: FileRights? = nil) throws(PolicyRefusal) {
        directory = path
        var groups: [String: SyscallGroup] = [:]
        for (name, bytes) in try Self.documents(in: path + "/syscalls", user) {
            let file = "\(path)/syscalls/\(name).yaml"
            let group = try SyscallGroup(parsing: bytes, file: file)
            guard group.name == name else {
                throw PolicyRefusal(file, "the group is called \(group.name)", "rename the file")
            }
            groups[name] = group
        }
        self.groups = groups
        documents = Dictionary(uniqueKeysWithValues: try Self.documents(in: path, user))
    }

    /// The names of the policies, sorted.
    public var policyNames: [String] { documents.keys.sorted() }

    /// Reads a policy by its name.
    ///
    /// - Throws: ``PolicyRefusal`` when there is none, or with its problems.
    public func policy(named name: String) throws(PolicyRefusal) -> SandboxPolicy {
        let file = "\(directory)/\(name).yaml"
        guard let bytes = documents[name] else {
            throw PolicyRefusal(
                file,
                "there is no policy \(name.debugDescription)",
                "the policies here are \(policyNames.joined(separator: ", "))"
            )
        }
        let policy = try SandboxPolicy(parsing: bytes, file: file)
        guard policy.name == name else {
            throw PolicyRefusal(file, "the policy is called \(policy.name)", "rename the file")
        }
        return policy
    }

    private static func documents(
        in path: String,
        _ user: FileRights?
    ) throws(PolicyRefusal) -> [(String, [UInt8])] {
        var place = path
        do throws(SystemError) {
            var found: [(String, [UInt8])] = []
            try (user ?? .ours).perform { () throws(SystemError) in
                let directory =
                    user == nil
                    ? try Descriptor.open(path, [.read, .directory])
                    : try Descriptor.openWithoutLinks(path, [.read, .directory])
                for entry in try directory.entries().sorted() where entry.hasSuffix(".yaml") {
                    place = "\(path)/\(entry)"
                    let bytes = try directory.contents(of: entry, limit: SandboxPolicy.maximumBytes)
                    found.append((String(entry.dropLast(5)), bytes))
                }
            }
            return found
        } catch {
            let most = SandboxPolicy.maximumBytes
            let remedy = "name a directory of readable policies of at most \(most) bytes each"
            throw PolicyRefusal(place, error.description, remedy)
        }
    }
}
