internal import LinuxKernel

/// What lstat(2) says of one host path, as far as resolution cares.
public struct SourceFacts: Sendable, Equatable {
    /// The kinds that are told apart.
    public enum Kind: Sendable, Equatable {
        /// A regular file.
        case file
        /// A directory.
        case directory
        /// A symbolic link.
        case symbolicLink
        /// A device, socket or FIFO.
        case other
    }

    /// `st_dev`.
    public let device: UInt64
    /// `st_ino`.
    public let inode: UInt64
    /// What it is.
    public let kind: Kind
    /// Permission bits with set-id and sticky bits.
    public let permissions: UInt32

    /// Creates facts, for tests and for look-ups other than the host's.
    public init(device: UInt64, inode: UInt64, kind: Kind, permissions: UInt32) {
        self.device = device
        self.inode = inode
        self.kind = kind
        self.permissions = permissions
    }

    /// Whether anyone may add or replace names: writable by all, without the sticky bit.
    var isOpenToAll: Bool { permissions & 0o1002 == 0o0002 }
}

/// The values of the variables that a policy may use.
public struct PolicyVariables: Sendable, Equatable {
    /// `${python-prefix}`: the installation prefix of the host's Python, such as `/usr`.
    public var pythonPrefix: String
    /// The directory of one split of one vault, for mounts that say `vault: split`; nil outside an
    /// exam.
    public var vaultSplit: String?

    /// Creates values.
    public init(pythonPrefix: String = "/usr", vaultSplit: String? = nil) {
        self.pythonPrefix = pythonPrefix
        self.vaultSplit = vaultSplit
    }

    /// The variables of policy texts, by name.
    static let names = ["python-prefix"]

    /// Replaces `${name}`; nil for an unknown or unfinished variable.
    func expanded(_ text: String) -> String? {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            result += rest[..<start.lowerBound]
            rest = rest[start.upperBound...]
            guard let end = rest.firstIndex(of: "}"), rest[..<end] == "python-prefix" else {
                return nil
            }
            result += pythonPrefix
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}

/// What resolution needs to know besides the policy.
public struct ResolutionContext: Sendable {
    /// The directory that holds ledgers, keys and vaults; nothing in or above it is ever mounted.
    public var stateDirectory: String
    /// Values of variables.
    public var variables: PolicyVariables
    /// What the host's administrator bounds policies by.
    public var site = SitePolicy()
    /// Looks at a path without following a link at its end; nil when there is nothing.
    public var lookUp: @Sendable (String) -> SourceFacts?

    /// Creates a context with a look-up of the caller's.
    public init(
        stateDirectory: String,
        variables: PolicyVariables,
        lookUp: @escaping @Sendable (String) -> SourceFacts?
    ) {
        self.stateDirectory = stateDirectory
        self.variables = variables
        self.lookUp = lookUp
    }

    /// Creates a context that looks at this host's files, and reads what its administrator bounds.
    ///
    /// - Throws: ``PolicyRefusal`` when the site's policy is not root's, or is malformed.
    public static func host(
        stateDirectory: String,
        variables: PolicyVariables
    ) throws(PolicyRefusal) -> ResolutionContext {
        var context = ResolutionContext(stateDirectory: stateDirectory, variables: variables) {
            path in
            do throws(SystemError) {
                return SourceFacts(try FileStatus(path: path))
            } catch {
                // Whatever cannot be looked at cannot be mounted; the caller says so.
                return nil
            }
        }
        context.site = try SitePolicy.installed()
        return context
    }
}

extension SourceFacts {
    init(_ status: FileStatus) {
        let kind: Kind =
            switch status.kind {
            case .regular: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .other: .other
            }
        self.init(
            device: status.device,
            inode: status.inode,
            kind: kind,
            permissions: status.permissions
        )
    }
}
