public import HostKernel
internal import LinuxKernel

/// A key to a model's provider, read while we are root.
///
/// Whatever prints, compares or reflects it shows that there is one, never which.
public struct ModelKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The key itself, printable ASCII without a space, 1 to 4,096 bytes: for the broker alone.
    public let secret: String

    /// The most bytes of a key; providers' are far shorter, and a header must hold it.
    public static let maximumBytes = 4096

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - source: where it is.
    ///   - address: the upstream that it is for.
    ///   - host: whose files are trusted, and the environment.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)``; no text of it holds
    ///   anything of the key.
    public init(
        reading source: ModelKeySource,
        for address: String,
        on host: ModelKeyHost
    ) throws(WorkspaceError) {
        let isShared = host.isShared(source, address)
        let rights = isShared ? .ours : host.rights
        guard rights.areOurs || source.isFile || source.isVariable && host.caller == rights.user
        else {
            throw Self.refused(
                "\(source)",
                "uid \(rights.user), whose configuration names it, did not bring it along",
                Self.shared(address)
            )
        }
        let bytes =
            switch source {
            case .file(let path): try Self.file(path, host, rights, for: address)
            case .environment(let name): try Self.variable(name, host)
            case .credential(let name): try Self.credential(name, host, rights, for: address)
            }
        secret = try Self.checked(bytes, "\(source)")
    }

    /// Says that it is a key.
    public var description: String { "a key" }

    /// Says that it is a key.
    public var debugDescription: String { description }

    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: - sources

    // What a configuration of a user's may have of root's says the site.
    private static func shared(_ address: String) -> String {
        "name a key of that user's own, or have root list it in a document of /etc/invigilator/policy.d,"
            + " as keys: [SOURCE] with upstreams: [\(address)]"
    }

    private static func file(
        _ path: String,
        _ host: ModelKeyHost,
        _ rights: FileRights,
        for address: String
    ) throws(WorkspaceError) -> [UInt8] {
        let status: FileStatus
        let bytes: [UInt8]
        do throws(SystemError) {
            // Neither a FIFO nor a device may keep us waiting, and what is looked at is what is read.
            let file = try rights.perform { () throws(SystemError) in
                try Descriptor.openWithoutLinks(path, [.read, .nonBlocking])
            }
            status = try file.status()
            let isSound = status.kind == .regular && status.size <= maximumBytes
            bytes = isSound ? try file.read(atMost: maximumBytes + 1) : []
        } catch {
            if !rights.areOurs, error.isRefused {
                throw refused(
                    path,
                    "uid \(rights.user), whose configuration names it, may not read it",
                    shared(address)
                )
            }
            throw refused(
                path,
                "\(error)",
                "name a readable file by a path without symbolic links"
            )
        }
        guard status.kind == .regular else {
            throw refused(path, "it is no regular file", "write the key into a plain file")
        }
        guard status.permissions & 0o077 == 0 else {
            throw refused(path, "others than its owner may use it", "chmod 600 \(path)")
        }
        guard host.owners.contains(status.owner) else {
            throw refused(
                path,
                "it belongs to uid \(status.owner)",
                "give it to root: chown root \(path)"
            )
        }
        guard status.size <= maximumBytes, bytes.count <= maximumBytes else {
            throw refused(path, "it has more than \(maximumBytes) bytes", "keep only the key in it")
        }
        return bytes
    }

    private static func variable(
        _ name: String,
        _ host: ModelKeyHost
    ) throws(WorkspaceError) -> [UInt8] {
        guard let value = host.environment(name) else {
            throw refused(
                "variable \(name)",
                "it is not set for this process",
                "set it where invigilator is started (sudo passes it on with"
                    + " --preserve-env=\(name)), or keep the key in a file"
            )
        }
        return Array(value.utf8)
    }

    private static func credential(
        _ name: String,
        _ host: ModelKeyHost,
        _ rights: FileRights,
        for address: String
    ) throws(WorkspaceError) -> [UInt8] {
        guard let directory = host.environment("CREDENTIALS_DIRECTORY"), directory.hasPrefix("/")
        else {
            throw refused(
                "credential \(name)",
                "systemd gave this process no credentials",
                "add LoadCredential=\(name):PATH to the unit, or keep the key in a file"
            )
        }
        return try file("\(directory)/\(name)", host, rights, for: address)
    }

    // MARK: - the key's form

    private static func checked(
        _ bytes: [UInt8],
        _ location: String
    ) throws(WorkspaceError) -> String {
        var key = bytes[...]
        if key.last == UInt8(ascii: "\n") { key.removeLast() }
        guard !key.isEmpty else {
            throw refused(location, "there is no key in it", "write the key on one line")
        }
        guard key.count <= maximumBytes, !key.contains(UInt8(ascii: "\n")) else {
            throw refused(
                location,
                "it is more than one line or \(maximumBytes) bytes",
                "keep only the key there, on one line"
            )
        }
        guard key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw refused(
                location,
                "it holds a space or a byte that is not printable",
                "keep only the key there, without quotes and carriage returns"
            )
        }
        return String(decoding: key, as: UTF8.self)
    }

    private static func refused(
        _ location: String,
        _ reason: String,
        _ remedy: String
    ) -> WorkspaceError {
        .setting(
            operation: "read a model's key",
            location: location,
            reason: reason,
            remedy: remedy
        )
    }
}

/// What of the host decides whether a key may be read.
public struct ModelKeyHost {
    /// The users whose files are believed.
    let owners: Set<UInt32>
    /// A variable of our environment.
    let environment: (String) -> String?
    /// Those of the user whose configuration names keys and other files.
    let rights: FileRights
    /// Who called sudo, whose variables our environment holds.
    let caller: UInt32?
    /// Whether root lets everybody's configurations use a key for this upstream.
    let isShared: (ModelKeySource, String) -> Bool

    /// Names them.
    ///
    /// - Parameters:
    ///   - owners: the users whose files are believed, besides root.
    ///   - environment: answers a variable of our environment, or nothing.
    ///   - rights: those of the user whose configuration names keys and other files.
    ///   - caller: who called sudo, whose variables our environment holds.
    ///   - isShared: whether root lets everybody's configurations use a key for this upstream.
    public init(
        owners: Set<UInt32>,
        environment: @escaping (String) -> String?,
        rights: FileRights = .ours,
        caller: UInt32? = nil,
        isShared: @escaping (ModelKeySource, String) -> Bool = { _, _ in false }
    ) {
        self.owners = owners.union([0])
        self.environment = environment
        self.rights = rights
        self.caller = caller
        self.isShared = isShared
    }
}

extension ModelKeySource {
    fileprivate var isFile: Bool { if case .file = self { true } else { false } }
    fileprivate var isVariable: Bool { if case .environment = self { true } else { false } }

    /// How a site's policy writes it.
    public var siteName: String {
        switch self {
        case .file(let path): path
        case .environment(let name): "environment:\(name)"
        case .credential(let name): "credential:\(name)"
        }
    }
}

extension ModelKeySource: CustomStringConvertible {
    /// The place, in words that no key is part of.
    public var description: String {
        switch self {
        case .file(let path): path
        case .environment(let name): "variable \(name)"
        case .credential(let name): "credential \(name)"
        }
    }
}

extension ModelKeyHost {
    /// This process's: its environment, and files of root, of the configuration's owner and of whoever
    /// called sudo.
    ///
    /// - Parameters:
    ///   - rights: those of the configuration's owner.
    ///   - isShared: whether root lets everybody's configurations use a key for this upstream.
    /// - Returns: the host.
    public static func ofThisProcess(
        for rights: FileRights,
        isShared: @escaping (ModelKeySource, String) -> Bool
    ) -> ModelKeyHost {
        let caller = ProcessEnvironment.value(of: "SUDO_UID").flatMap { UInt32($0) }
        return ModelKeyHost(
            owners: Set([caller, rights.user].compactMap { $0 }),
            environment: ProcessEnvironment.value,
            rights: rights,
            caller: caller,
            isShared: isShared
        )
    }
}
