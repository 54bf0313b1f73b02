// LauncherProtocol: the messages between supervisor and launcher (M1), as values and bytes.

/// Why a sandbox ended.
public enum ExitKind: String, Sendable, Equatable, CaseIterable {
    /// The payload exited with a code.
    case exited
    /// A signal ended the payload, or somebody asked for its end.
    case signalled
    /// The memory limit was reached and the kernel killed for it.
    case outOfMemory = "oom"
    /// The wall-clock limit was reached.
    case wallClock = "wall"
    /// The CPU-time limit was reached.
    case cpuTime = "cpu"
    /// There was no output for too long.
    case idle
    /// There was more output than allowed.
    case output
    /// The payload failed after the process limit had refused it a process.
    case processes = "pids"
    /// The system-call filter killed the payload (SIGSYS).
    case violation
    /// The sandbox could not be set up, or its init died.
    case setup

    /// The name in JSON and in the ledger.
    public var name: String { rawValue }
}

/// How a sandbox ended and what it used.
///
/// Where the launcher ended it before its payload had ended, nobody could say what the payload used:
/// its two times and its resident set are 0, and it has neither code nor signal.
public struct SandboxExit: Sendable, Equatable {
    /// Why it ended.
    public var kind: ExitKind
    /// The payload's exit code, if it exited.
    public var code: Int32?
    /// The signal that ended the payload, if one did.
    public var signal: Int32?
    /// Whether the client asked for the end.
    public var wasRequested = false
    /// CPU time of every process in the sandbox, in microseconds.
    public var cpuMicroseconds: UInt64 = 0
    /// The payload's user time in microseconds, with its reaped children.
    public var userMicroseconds: UInt64 = 0
    /// The payload's system time in microseconds, with its reaped children.
    public var systemMicroseconds: UInt64 = 0
    /// The largest resident set of one process, in KiB.
    public var peakResidentKiB: UInt64 = 0
    /// Time from launch to the payload's end, in microseconds.
    public var wallMicroseconds: UInt64 = 0
    /// Bytes of output, passed on or not.
    public var outputBytes: UInt64 = 0
    /// Whether output was dropped because of the cap.
    public var isTruncated = false
    /// Processes that the kernel killed for memory.
    public var memoryKills: UInt64 = 0
    /// Clones that the process limit refused.
    public var refusedProcesses: UInt64 = 0

    /// Creates an exit of a kind, with nothing used.
    public init(kind: ExitKind) {
        self.kind = kind
    }
}

/// One step of a launch, in order; each is timed, and a failure names its step.
public enum SetupStep: UInt8, Sendable, Equatable, CaseIterable {
    /// Digest, invariants and assurance level.
    case check = 0
    /// Control group and its limits.
    case group = 1
    /// Opening and pinning of mount sources.
    case sources = 2
    /// New namespaces.
    case clone = 3
    /// Id maps of the first user namespace.
    case identity = 4
    /// The root file system.
    case root = 5
    /// The mounts of the plan.
    case mounts = 6
    /// procfs.
    case proc = 7
    /// Devices and terminal.
    case devices = 8
    /// The change of root.
    case pivot = 9
    /// Reading mount flags back.
    case verification = 10
    /// The payload's own user and mount namespace.
    case payload = 11
    /// Descriptors and resource limits.
    case limits = 12
    /// User, capabilities, securebits, no_new_privs.
    case credentials = 13
    /// Landlock.
    case landlock = 14
    /// The system-call filter and the program's start.
    case execution = 15
}

/// Why a launch was refused or failed.
public struct LaunchFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The step that failed.
    public let step: SetupStep
    /// What was being done and to what.
    public let location: String
    /// Why it failed.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Creates a failure with its answers.
    public init(step: SetupStep, location: String, reason: String, remedy: String) {
        self.step = step
        self.location = location
        self.reason = reason
        self.remedy = remedy
    }

    /// The answers on one line.
    public var description: String {
        "launch a sandbox, step \(step): \(location): \(reason); \(remedy)"
    }
}
