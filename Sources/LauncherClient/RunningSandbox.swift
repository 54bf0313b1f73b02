public import HostKernel
public import LauncherProtocol
public import LinuxKernel
public import SandboxPlan

/// A tmpfs that the launcher made for us and shows in sandboxes as theirs.
public final class SandboxTree {
    let id: UInt32
    /// Its root directory, in which we create and read files as its owner.
    public let directory: Descriptor

    init(id: UInt32, directory: consuming Descriptor) {
        self.id = id
        self.directory = directory
    }
}

/// A sandbox that was started and may have ended since.
public final class RunningSandbox {
    /// The client's number for it.
    public let id: UInt32
    /// The host's user that its payload is: no other sandbox's, where the launcher is root.
    public let user: UInt32
    /// How long each step of the launch took.
    public let steps: [StepTime]
    /// The digest of its plan.
    public let planDigest: SHA256Digest
    /// The calls that its filter refused and told, so far.
    public internal(set) var denials: [DenialRow] = []
    /// Whether the client hears of ``denials``; not so where a probe tries what has to be refused.
    public var tellsDenials = true
    /// How it ended; absent while it runs.
    public private(set) var exit: SandboxExit?
    /// Whether its payload has ended; its processes and mounts may still be on their way out.
    public internal(set) var hasEnded = false
    /// Whether it is frozen now.
    public private(set) var isFrozen = false

    /// Where the plan has an endpoint, the listener on it, until somebody takes it; absent, too, where
    /// the launcher could not make a network ahead of the launch.
    public let endpoint: Descriptor?.Box?

    private unowned let client: LauncherClient
    private let onExit: (SandboxExit) -> Void

    init(
        id: UInt32,
        user: UInt32,
        steps: [StepTime],
        planDigest: SHA256Digest,
        endpoint: Descriptor?.Box?,
        client: LauncherClient,
        onExit: @escaping (SandboxExit) -> Void
    ) {
        self.id = id
        self.user = user
        self.steps = steps
        self.planDigest = planDigest
        self.endpoint = endpoint
        self.client = client
        self.onExit = onExit
    }

    /// Stops every process; returns once all have stopped.
    ///
    /// - Throws: ``LauncherError``.
    public func freeze() throws(LauncherError) {
        try client.control(.freeze(id: id), "freeze a sandbox")
        isFrozen = true
    }

    /// Lets every process run again.
    ///
    /// - Throws: ``LauncherError``.
    public func thaw() throws(LauncherError) {
        try client.control(.thaw(id: id), "thaw a sandbox")
        isFrozen = false
    }

    /// Kills every process; the exit follows.
    ///
    /// - Throws: ``LauncherError``.
    public func kill() throws(LauncherError) {
        guard exit == nil else { return }
        try client.control(.kill(id: id), "kill a sandbox")
    }

    /// Sets the window size of the sandbox's terminal.
    ///
    /// - Throws: ``LauncherError``.
    public func resize(_ window: WindowSize) throws(LauncherError) {
        try client.control(.resize(id: id, window), "resize a terminal")
    }

    func finish(_ exit: SandboxExit) {
        self.exit = exit
        hasEnded = true
        onExit(exit)
    }
}
