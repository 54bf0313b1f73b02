/// One wall that a test-only build can leave out, to show that the attack it answers works then.
///
/// In every other build ``isOmitted`` is constantly false and the switch does not exist: only the
/// package trait `LayerSwitches` compiles the reading of it.
public enum Layer: String, Sendable, CaseIterable {
    /// The private root: without it the supervisor's state is visible, read-only, to coding agents
    /// where it lies by default and to candidates at `/vault`.
    case privateRoot = "private-root"
    /// The second user and mount namespace of the payload.
    case payloadNamespace = "payload-namespace"
    /// The payload's empty capability sets and locked securebits.
    case capabilities
    /// Landlock.
    case landlock
    /// The system-call filter.
    case filter
    /// A network namespace of its own.
    case network
    /// The mode 0 of the files in `/proc/self/net` that the payload does not need.
    case netFiles = "net-files"
    /// A System V and POSIX message namespace of its own.
    case ipc
    /// A process-id namespace of its own, with its procfs.
    case pid
    /// Read-only flags of mounts, and the Landlock rules that repeat them.
    case readOnlyMounts = "read-only-mounts"
    /// Closing of every descriptor that the plan does not list.
    case descriptors
    /// Limits of the control group.
    case limits
    /// The limit of numbers that a sandbox takes from counters of the whole host.
    case objects
    /// The table of requests that a coding agent may make.
    case requestTable = "request-table"
    /// The rules for reading the candidate out of the coding sandbox.
    case snapshot
    /// The schema of a candidate's frames: without it a frame is what its type says.
    case relaySchema = "relay-schema"
    /// Verdicts on a descriptor that only the examiner holds: without it the judged process says how
    /// it ended, by a frame or by the exit status 0.
    case verdictDescriptor = "verdict-descriptor"
    /// The freezing of the coding sandbox while a sealed exam runs.
    case freeze
    /// The quick set of probes that a sealed exam begins with, and the measuring of the level: without
    /// it an exam runs although another layer is left out.
    case selfCheck = "self-check"

    #if LayerSwitches
    /// Whether the environment of this test-only build leaves the layer out.
    public var isOmitted: Bool { LayerSwitches.omitted.contains(self) }
    #else
    /// Constantly false: no build but the test-only one can leave a layer out.
    @inlinable public var isOmitted: Bool { false }
    #endif
}

/// Whether this build has layer switches; a supervisor refuses a launcher that was built otherwise.
public enum LayerSwitches {
    #if LayerSwitches
    /// This is a test-only build.
    public static let exist = true
    /// The layers named, with commas, in the variable `INVIGILATOR_TEST_OMIT`.
    static let omitted = Set(
        (TestEnvironment.value(of: "INVIGILATOR_TEST_OMIT") ?? "").split(separator: ",")
            .compactMap { Layer(rawValue: String($0)) }
    )
    #else
    /// This is not a test-only build.
    public static let exist = false
    #endif
}

#if LayerSwitches
internal import LinuxKernel
#endif
