internal import HostKernel
internal import LinuxKernel
public import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

/// What a host's administrator bounds policies by: a policy beyond it is refused, and never made smaller
/// in silence.
///
/// The documents lie at one place that nothing moves: no option, no variable of the environment. All of
/// them hold at once.
public struct SitePolicy: Sendable, Equatable {
    /// Where the documents are.
    public static let directory = "/etc/invigilator/policy.d"

    /// The documents in the order of their names.
    public let documents: [SiteDocument]
    /// The digest of all documents with their names; absent where there is none.
    public let digest: SHA256Digest?

    /// No bounds.
    public init() {
        documents = []
        digest = nil
    }

    /// Reads documents that are in memory.
    ///
    /// - Parameter files: names and contents.
    /// - Throws: ``PolicyRefusal`` with every problem of the first document that has one.
    public init(files: [(name: String, bytes: [UInt8])]) throws(PolicyRefusal) {
        let sorted = files.sorted { $0.name < $1.name }
        var read: [SiteDocument] = []
        var digested: [UInt8] = []
        for file in sorted {
            read.append(try SiteDocument(parsing: file.bytes, file: file.name))
            digested += Array("\(file.name)\0\(file.bytes.count)\0".utf8) + file.bytes
        }
        documents = read
        digest = sorted.isEmpty ? nil : SHA256Digest(of: digested)
    }

    /// Whether everybody's configurations may use a key of root's for an upstream.
    ///
    /// - Parameters:
    ///   - key: the key's source, as ``SiteDocument`` has it.
    ///   - address: the upstream's address.
    /// - Returns: whether one document lists both.
    public func shares(key: String, for address: String) -> Bool {
        documents.contains { $0.keys.contains(key) && $0.upstreams.contains(address) }
    }

    /// Reads what this host has; no bounds where there is no directory.
    ///
    /// - Throws: ``PolicyRefusal`` when a directory or document is not root's or can be written by others,
    ///   cannot be read, or is malformed.
    public static func installed() throws(PolicyRefusal) -> SitePolicy {
        try SitePolicy(directory: directory)
    }

    /// Reads the documents of a directory, which must be root's, as the one above it must.
    ///
    /// - Parameter path: the directory's absolute path.
    /// - Throws: ``PolicyRefusal``.
    init(directory path: String) throws(PolicyRefusal) {
        let parent = path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        guard try Self.isRoots(parent), try Self.isRoots(path) else {
            self.init()
            return
        }
        try self.init(files: Self.files(in: path))
    }

    private static func files(
        in path: String
    ) throws(PolicyRefusal) -> [(name: String, bytes: [UInt8])] {
        var place = path
        var isStrange = false
        var files: [(name: String, bytes: [UInt8])] = []
        do throws(SystemError) {
            let directory = try Descriptor.openWithoutLinks(path, [.read, .directory])
            for name in try directory.entries().sorted() {
                place = "\(path)/\(name)"
                // Nobody who wrote this one meant it to bound nothing.
                isStrange = name.hasSuffix(".yml")
                if isStrange { break }
                guard name.hasSuffix(".yaml") else { continue }
                let file = try directory.openBeneath(name, [.read, .nonBlocking])
                isStrange = !isRoots(try file.status(), .regular)
                if isStrange { break }
                files.append((place, try file.readAll(limit: SandboxPolicy.maximumBytes)))
            }
        } catch { throw refused(place, error.description) }
        if isStrange { throw refused(place, nil) }
        return files
    }

    // Whether there is such a directory; it is looked at itself, not what a link leads to.
    private static func isRoots(_ path: String) throws(PolicyRefusal) -> Bool {
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(path: path) } catch {
            if error.isMissing { return false }
            throw refused(path, error.description)
        }
        guard isRoots(status, .directory) else { throw refused(path, nil) }
        return true
    }

    private static func isRoots(_ status: FileStatus, _ kind: FileStatus.Kind) -> Bool {
        status.kind == kind && status.owner == 0 && status.permissions & 0o022 == 0
    }

    private static func refused(_ path: String, _ reason: String?) -> PolicyRefusal {
        PolicyRefusal(
            path,
            reason
                ?? "it is not root's alone (another owner, writable by others, a link), or ends in .yml",
            "`chown root:root` and `chmod go-w` it, and name it .yaml; nothing runs under bounds that "
                + "others can move"
        )
    }
}

/// One document of a site's policy.
public struct SiteDocument: Sendable, Equatable {
    /// The document it was read from.
    public let file: String
    /// Why the site bounds this; printed in each refusal.
    public let reason: String
    /// The roles whose policies are bound.
    let roles: [SandboxRole]
    /// The bounds.
    let bounds: [Placed<SiteBound>]
    /// Keys of root's that everybody's configurations may use: a path, `environment:NAME` or
    /// `credential:NAME`.
    let keys: [String]
    /// The addresses of the upstreams that they may be used for, and for no other.
    let upstreams: [String]
}

/// One bound.
enum SiteBound: Sendable, Equatable {
    /// The lowest level that a policy may demand.
    case assurance(AssuranceLevel)
    /// The lowest Landlock ABI that a policy may demand.
    case minimumABI(UInt8)
    /// The views of the network that a policy may have.
    case network([NetworkView])
    /// The views of processes.
    case proc([PolicyProc])
    /// The families of sockets.
    case sockets([SocketFamily])
    /// The devices.
    case devices([DeviceName])
    /// The host's directories in which a mount's source must lie.
    case sources([String])
    /// All the calls that a policy may allow.
    case onlyCalls([String])
    /// Calls that no policy may allow.
    case neverCalls([String])
    /// The highest value of one limit, as it is written there.
    case limit(LimitKey, UInt64, text: String)
}

/// The limits of a policy by their keys.
enum LimitKey: String, Sendable, Equatable, CaseIterable {
    case memory, processes, cpu, wall, output, files, idle
    case cpuTime = "cpu-time"
    case fileSize = "file-size"

    /// The limit's value in bytes, milliseconds or pieces; absent where there is no limit.
    func value(of limits: SandboxLimits) -> UInt64? {
        switch self {
        case .memory: limits.memory.bytes
        case .processes: UInt64(limits.processes)
        case .cpu: UInt64(limits.cpuPercent)
        case .wall: limits.wallClock.count
        case .output: limits.output.bytes
        case .files: UInt64(limits.openFiles)
        case .idle: limits.idle?.count
        case .cpuTime: limits.cpuTime?.count
        case .fileSize: limits.fileSize.bytes
        }
    }
}
