public import SandboxPlan

/// What a supervisor asks of the launcher.
public enum LauncherRequest: Sendable, Equatable {
    /// Makes a tmpfs owned by the supervisor; answered with a directory descriptor.
    case makeTree(id: UInt32, size: ByteCount, inodes: UInt32)
    /// Forgets a tree; sandboxes that use it keep it until they end.
    case dropTree(id: UInt32)
    /// Starts a sandbox. Descriptors: standard input, output, error, then the plan's slots.
    case launch(LaunchRequest)
    /// Stops every process of a sandbox.
    case freeze(id: UInt32)
    /// Lets a frozen sandbox run.
    case thaw(id: UInt32)
    /// Kills a sandbox.
    case kill(id: UInt32)
    /// Sets the window size of a sandbox's terminal.
    case resize(id: UInt32, WindowSize)
}

/// The window of a terminal, in characters; 0 where nobody said.
public struct WindowSize: Sendable, Equatable {
    /// Rows.
    public let rows: UInt16
    /// Columns.
    public let columns: UInt16

    /// Creates a size.
    public init(rows: UInt16 = 0, columns: UInt16 = 0) {
        self.rows = rows
        self.columns = columns
    }
}

/// One sandbox to start.
public struct LaunchRequest: Sendable, Equatable {
    /// The client's name for it, unique among its living sandboxes.
    public let id: UInt32
    /// The plan with its digest.
    public let plan: CompiledPlan
    /// Trees by id, in the order of the plan's indices.
    public let trees: [UInt32]
    /// Program and arguments, where the plan leaves them open; otherwise empty.
    public let command: [String]
    /// The window of the terminal that the plan has made inside.
    public let window: WindowSize

    /// Creates a request.
    public init(
        id: UInt32,
        plan: CompiledPlan,
        trees: [UInt32],
        command: [String],
        window: WindowSize = WindowSize()
    ) {
        self.id = id
        self.plan = plan
        self.trees = trees
        self.command = command
        self.window = window
    }
}

/// What the launcher answers, in the order of the requests; `exited` comes whenever it happens.
public enum LauncherReply: Sendable, Equatable {
    /// The launcher is up, and was built with layer switches or without.
    case ready(hasLayerSwitches: Bool)
    /// A tree exists; one descriptor comes with it.
    case treeMade(id: UInt32)
    /// The payload runs as this user of the host; microseconds by step.
    case launched(id: UInt32, user: UInt32, steps: [StepTime])
    /// A request was carried out.
    case done(id: UInt32)
    /// A request was refused.
    case refused(id: UInt32, LaunchFailure)
    /// A payload has ended; what is left of its sandbox is being removed, and `exited` follows.
    case ended(id: UInt32)
    /// The filter of a sandbox refused calls: init's table of them, so far; `DenialEvents` reads it.
    case denied(id: UInt32, [UInt8])
    /// A sandbox and every process in it are gone.
    case exited(id: UInt32, SandboxExit)
}

/// How long one step of a launch took.
public struct StepTime: Sendable, Equatable {
    /// The step.
    public let step: SetupStep
    /// Microseconds.
    public let microseconds: UInt32

    /// Creates a time.
    public init(step: SetupStep, microseconds: UInt32) {
        self.step = step
        self.microseconds = microseconds
    }
}

extension LauncherRequest {
    /// Decodes a message.
    ///
    /// - Throws: `PlanError` when it is malformed.
    public init(bytes: [UInt8]) throws(PlanError) {
        var decoder = WireDecoder(bytes)
        let verb: UInt8 = try decoder.integer("verb")
        let id: UInt32 = try decoder.integer("id")
        switch verb {
        case 1:
            let size = ByteCount(bytes: try decoder.integer("tree size"))
            self = .makeTree(id: id, size: size, inodes: try decoder.integer("tree inodes"))
        case 2: self = .dropTree(id: id)
        case 3:
            let digest = try decoder.counted("digest", limit: 32)
            let plan = try CompiledPlan(bytes: try decoder.counted("plan"), digest: digest)
            let trees = try decoder.list("trees", limit: 8) { input throws(PlanError) in
                try input.integer("tree") as UInt32
            }
            let command = try decoder.list("command", limit: 256) { input throws(PlanError) in
                try input.text("argument")
            }
            let window = try WindowSize(from: &decoder)
            self = .launch(
                LaunchRequest(id: id, plan: plan, trees: trees, command: command, window: window)
            )
        case 4: self = .freeze(id: id)
        case 5: self = .thaw(id: id)
        case 6: self = .kill(id: id)
        case 7: self = .resize(id: id, try WindowSize(from: &decoder))
        default: throw decoder.malformed("verb", "\(verb) names nothing")
        }
        try decoder.finish()
    }
}

extension WindowSize {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        rows = try decoder.integer("rows")
        columns = try decoder.integer("columns")
    }
}

extension LauncherReply {
    /// The message's bytes.
    public var bytes: [UInt8] {
        var encoder = WireEncoder()
        switch self {
        case .ready(let hasLayerSwitches):
            encoder.write(verb: 1, 0)
            encoder.write(hasLayerSwitches)
        case .treeMade(let id): encoder.write(verb: 2, id)
        case .launched(let id, let user, let steps):
            encoder.write(verb: 3, id)
            encoder.write(user)
            encoder.write(steps)
        case .done(let id): encoder.write(verb: 4, id)
        case .refused(let id, let failure):
            encoder.write(verb: 5, id)
            encoder.write(failure)
        case .exited(let id, let exit):
            encoder.write(verb: 6, id)
            encoder.write(exit)
        case .ended(let id): encoder.write(verb: 7, id)
        case .denied(let id, let table):
            encoder.write(verb: 8, id)
            encoder.write(table)
        }
        return encoder.bytes
    }
}

extension WireEncoder {
    /// Writes what every message begins with: its kind, and whose it is.
    public mutating func write(verb: UInt8, _ id: UInt32) {
        write(verb)
        write(id)
    }

    /// Writes how long each step took.
    public mutating func write(_ steps: [StepTime]) {
        write(steps) {
            $0.write($1.step.rawValue)
            $0.write($1.microseconds)
        }
    }

    /// Writes a failure.
    public mutating func write(_ failure: LaunchFailure) {
        write(failure.step.rawValue)
        write(failure.location)
        write(failure.reason)
        write(failure.remedy)
    }

    fileprivate mutating func write(_ exit: SandboxExit) {
        write(exit.kind.name)
        write(optional: exit.code) { $0.write($1) }
        write(optional: exit.signal) { $0.write($1) }
        write(exit.wasRequested)
        write(exit.isTruncated)
        for count in [
            exit.cpuMicroseconds, exit.userMicroseconds, exit.systemMicroseconds,
            exit.peakResidentKiB, exit.wallMicroseconds, exit.outputBytes, exit.memoryKills,
            exit.refusedProcesses,
        ] { write(count) }
    }
}

extension WireDecoder {
    /// Reads how long each step took.
    ///
    /// - Throws: `PlanError` when it is malformed.
    public mutating func steps() throws(PlanError) -> [StepTime] {
        try list("steps", limit: 64) { input throws(PlanError) in
            StepTime(
                step: try input.choice("step"),
                microseconds: try input.integer("microseconds")
            )
        }
    }
}

extension LaunchFailure {
    /// Decodes a failure.
    ///
    /// - Throws: `PlanError` when it is malformed.
    public init(from decoder: inout WireDecoder) throws(PlanError) {
        self.init(
            step: try decoder.choice("step"),
            location: try decoder.text("location"),
            reason: try decoder.text("reason"),
            remedy: try decoder.text("remedy")
        )
    }
}
