/// A number of bytes.
public struct ByteCount: Sendable, Equatable, Comparable, Hashable {
    /// The count itself.
    public let bytes: UInt64

    /// Creates a count of single bytes.
    public init(bytes: UInt64) {
        self.bytes = bytes
    }

    /// Creates a count of 1,048,576-byte units.
    public static func mebibytes(_ count: UInt64) -> ByteCount {
        ByteCount(bytes: count * 1_048_576)
    }

    /// Orders counts by size.
    public static func < (left: ByteCount, right: ByteCount) -> Bool {
        left.bytes < right.bytes
    }
}

/// A span of time in whole milliseconds.
public struct Milliseconds: Sendable, Equatable, Comparable, Hashable {
    /// The count itself.
    public let count: UInt64

    /// Creates a span of milliseconds.
    public init(_ count: UInt64) {
        self.count = count
    }

    /// Creates a span of seconds.
    public static func seconds(_ count: UInt64) -> Milliseconds {
        Milliseconds(count * 1000)
    }

    /// Orders spans by length.
    public static func < (left: Milliseconds, right: Milliseconds) -> Bool {
        left.count < right.count
    }
}

/// What one sandbox may use; every limit is enforced from outside the payload.
public struct SandboxLimits: Sendable, Equatable {
    /// Memory of the whole sandbox, tmpfs pages included (control group).
    public var memory: ByteCount
    /// Processes and threads (control group).
    public var processes: UInt32
    /// CPU bandwidth in hundredths of one core; 100 is one core (control group).
    public var cpuPercent: UInt32
    /// Wall-clock time of the payload; must be above zero.
    public var wallClock: Milliseconds
    /// CPU time of the whole sandbox; nil for no limit beside the wall clock.
    public var cpuTime: Milliseconds?
    /// Longest time without output; nil for no limit.
    public var idle: Milliseconds?
    /// Bytes of standard output and error passed on; the rest is drained and counted.
    public var output: ByteCount
    /// Whether more output than the cap ends the sandbox.
    public var killsOnOutput: Bool
    /// `RLIMIT_NOFILE`.
    public var openFiles: UInt32
    /// `RLIMIT_FSIZE`.
    public var fileSize: ByteCount
    /// How many numbers of host-wide counters it may take (``CountedCalls``); 0 where nobody counts.
    public var objects: UInt32

    /// `RLIMIT_SIGPENDING` of every sandbox: signals and timers that wait for its processes together.
    ///
    /// A frozen guest's queue is a count of what happened meanwhile.
    public static let pendingSignals: UInt64 = 256

    /// Creates limits.
    public init(
        memory: ByteCount,
        processes: UInt32,
        cpuPercent: UInt32,
        wallClock: Milliseconds,
        cpuTime: Milliseconds?,
        idle: Milliseconds?,
        output: ByteCount,
        killsOnOutput: Bool,
        openFiles: UInt32,
        fileSize: ByteCount,
        objects: UInt32 = 0
    ) {
        self.memory = memory
        self.processes = processes
        self.cpuPercent = cpuPercent
        self.wallClock = wallClock
        self.cpuTime = cpuTime
        self.idle = idle
        self.output = output
        self.killsOnOutput = killsOnOutput
        self.openFiles = openFiles
        self.fileSize = fileSize
        self.objects = objects
    }
}

/// The Landlock rules of a sandbox; everything that no rule allows is refused.
public struct LandlockPlan: Sendable, Equatable {
    /// The lowest kernel ABI that the policy accepts (landlock(7)); 6 brings scopes.
    public var minimumABI: UInt8
    /// Paths inside and what may be done beneath each.
    public var rules: [LandlockRule]
    /// Whether TCP may be bound and connected at all; there is only loopback in any case.
    public var allowsTCP: Bool
    /// Whether what it refuses the payload becomes audit records of the host; needs ABI 7.
    public var isLogged: Bool

    /// Creates a rule set.
    public init(minimumABI: UInt8, rules: [LandlockRule], allowsTCP: Bool, isLogged: Bool) {
        self.minimumABI = minimumABI
        self.rules = rules
        self.allowsTCP = allowsTCP
        self.isLogged = isLogged
    }
}

/// What may be done beneath one path.
public struct LandlockRule: Sendable, Equatable {
    /// A path inside the sandbox.
    public var path: InsidePath
    /// The class of access.
    public var access: LandlockAccess

    /// Creates a rule.
    public init(path: InsidePath, access: LandlockAccess) {
        self.path = path
        self.access = access
    }
}

/// A class of file access; the launcher spells it out for the running ABI.
public enum LandlockAccess: UInt8, Sendable, Equatable, CaseIterable {
    /// Read files and list directories.
    case read = 0
    /// Read, list and execute.
    case readExecute = 1
    /// Read, list, write, create, rename, truncate and remove regular files, directories and sockets.
    case readWrite = 2
    /// Read and write existing devices, with their ioctls.
    case device = 3
    /// As ``readWrite``, and execute.
    case readWriteExecute = 4
}

/// A classic BPF program for seccomp(2), as the kernel takes it.
public struct SeccompProgram: Sendable, Equatable {
    /// Instructions of 8 bytes each (`struct sock_filter`), at most 4,096.
    public let bytes: [UInt8]

    /// Adopts the exported bytes of a filter.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of instructions.
    public var count: Int { bytes.count / 8 }

    /// Whether it leaves an answer to a listener: BPF_RET with SECCOMP_RET_USER_NOTIF (seccomp(2)).
    public var isTelling: Bool {
        stride(from: 0, to: bytes.count, by: 8).contains {
            bytes[$0...].starts(with: [6, 0, 0, 0, 0, 0, 0xc0, 0x7f])
        }
    }
}

/// An absolute, normalised path inside a sandbox.
///
/// No `.` or `..` component, no empty component, no NUL or control character, at most 1,024 bytes.
public struct InsidePath: Sendable, Equatable, Hashable, CustomStringConvertible {
    /// The path with its leading slash.
    public let text: String

    /// Checks and adopts a path.
    ///
    /// - Throws: ``PlanError`` when the text is not absolute and normalised.
    public init(_ text: String) throws(PlanError) {
        let isPlain = text.utf8.allSatisfy { $0 > 0x1f && $0 != 0x7f }
        guard text == "/" || Self.isNormal(text), isPlain, text.utf8.count <= 1024 else {
            throw PlanError(
                "read a path inside the sandbox",
                text.debugDescription,
                "it is not absolute and normalised, or has control characters",
                "write it as /name/name without . or .. and at most 1024 bytes"
            )
        }
        self.text = text
    }

    /// Whether a text is an absolute path below the root, without `.`, `..` or empty components.
    ///
    /// Bytes and not characters: a slash with a combining mark is one character, and a separator still.
    static func isNormal(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count > 1 && parts[0].isEmpty
            && !parts.dropFirst().map { String(decoding: $0, as: UTF8.self) }
                .contains { ["", ".", ".."].contains($0) }
    }

    /// The components below the root, in order.
    public var components: [String] {
        text.split(separator: "/").map(String.init)
    }

    /// Whether this path is the other one or lies beneath it.
    public func isWithin(_ other: InsidePath) -> Bool {
        other.text == "/" || text == other.text || text.hasPrefix(other.text + "/")
    }

    /// The path with its leading slash.
    public var description: String { text }
}

/// Why a plan is refused, for whoever wrote the policy.
public struct PlanError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was being done.
    public let operation: String
    /// Where: a plan field or a path.
    public let location: String
    /// Why it failed.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Creates an error with its four answers.
    public init(_ operation: String, _ location: String, _ reason: String, _ remedy: String) {
        self.operation = operation
        self.location = location
        self.reason = reason
        self.remedy = remedy
    }

    /// The four answers on one line.
    public var description: String {
        "\(operation): \(location): \(reason); \(remedy)"
    }
}
