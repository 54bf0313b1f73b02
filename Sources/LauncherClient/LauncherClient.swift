internal import HostKernel
public import LauncherProtocol
public import LinuxKernel
public import SandboxPlan

/// What a launcher is told when it starts, by whoever has the right to start it.
public struct LauncherOptions: Sendable {
    /// The launcher's program.
    public let executable: String
    /// The user that owns trees.
    public let supervisor: UInt32
    /// Directories that no sandbox may see.
    public let protected: [String]
    /// The directory whose grandchildren are vault splits, if there is one.
    public let vault: String?
    /// What gives an ordinary user's launcher more than one user; root's needs nothing.
    public let delegation: Delegation?
    #if LayerSwitches
    /// Whether the launcher must have layer switches, as it must for every program of a test-only build.
    ///
    /// The tests are of such a build, and start the launcher that ships.
    public var hasLayerSwitches = true
    #else
    /// Constantly false: what ships takes no launcher with layer switches.
    var hasLayerSwitches: Bool { false }
    #endif

    /// Creates options.
    public init(
        executable: String,
        supervisor: UInt32,
        protected: [String],
        vault: String?,
        delegation: Delegation? = nil
    ) {
        self.executable = executable
        self.supervisor = supervisor
        self.protected = protected
        self.vault = vault
        self.delegation = delegation
    }

    /// The level that sandboxes of this launcher have at the most.
    public var reach: AssuranceLevel {
        if Identity.effectiveUser == 0 { return .full }
        return delegation == nil ? .singleUID : .delegated
    }
}

/// A running launcher and the sandboxes it started for us.
public final class LauncherClient {
    /// The loop on which exits arrive.
    public let loop: EventLoop
    /// The launcher's process id.
    public let pid: Int32
    /// The level that its sandboxes have at the most, by who started it and how; what they have is measured.
    public let reach: AssuranceLevel
    /// Called once when the launcher is lost outside a request; sandboxes report no exits then.
    public var onLost: () -> Void = {}
    /// Called from the loop when a sandbox's ``RunningSandbox/denials`` have changed, a few times a
    /// second at most.
    public var onDenied: (RunningSandbox) -> Void = { _ in }

    /// Called with each sandbox that was launched, before anything of it is told.
    public var onLaunched: (RunningSandbox) -> Void = { _ in }

    private let channel: Descriptor
    private var sandboxes: [UInt32: RunningSandbox] = [:]
    private var early: [UInt32: SandboxExit] = [:]
    private var earlyEnds: Set<UInt32> = []
    private var lastID: UInt32 = 0
    private var token: EventLoop.Token?
    private var isLost = false

    private init(
        loop: EventLoop,
        pid: Int32,
        reach: AssuranceLevel,
        channel: consuming Descriptor
    ) {
        self.loop = loop
        self.reach = reach
        self.pid = pid
        self.channel = channel
        token = loop.watch(self.channel, .readable) { [unowned self] _ in receiveExits() }
    }

    /// Starts a launcher and waits until it is ready.
    ///
    /// It dies when this value, and with it the socket, goes away.
    ///
    /// - Throws: ``LauncherError``.
    public static func start(
        _ options: LauncherOptions,
        loop: EventLoop
    ) throws(LauncherError) -> LauncherClient {
        let pid: Int32
        let channel: Descriptor
        do throws(SystemError) {
            var pair = try DescriptorPair.sockets(keepsMessages: true)
            pid = try spawn(options, channel: pair.takeSecond())
            channel = pair.takeFirst()
        } catch {
            throw .notStarted(executable: options.executable, error)
        }
        switch try receive(on: channel, during: "start the launcher").reply {
        case .ready(let hasLayerSwitches):
            guard hasLayerSwitches == options.hasLayerSwitches else { throw .wrongBuild }
            return LauncherClient(
                loop: loop,
                pid: pid,
                reach: options.reach,
                channel: channel
            )
        case .refused(_, let failure): throw .refused(failure)
        case .treeMade, .launched, .done, .ended, .denied, .exited:
            throw .protocolBroken(during: "start the launcher", detail: "it was not ready first")
        }
    }

    private static func spawn(
        _ options: LauncherOptions,
        channel: consuming Descriptor
    ) throws(SystemError) -> Int32 {
        let null = try Descriptor.open("/dev/null", .readWrite)
        let errors = try Descriptor.copy(ofInherited: 2)
        var descriptors = DescriptorPlacements()
        descriptors.add(null)
        descriptors.add(null)
        descriptors.add(errors)
        descriptors.add(channel)
        var arguments = ["serve", "--channel", "3", "--supervisor", "\(options.supervisor)"]
        for path in options.protected { arguments += ["--protect", path] }
        if let vault = options.vault { arguments += ["--vault", vault] }
        if let delegation = options.delegation {
            arguments = delegation.arguments + [options.executable] + arguments
        }
        return try Spawn.start(
            options.delegation?.program ?? options.executable,
            arguments: arguments,
            environment: Self.environment,
            descriptors: descriptors
        )
    }

    // Nothing of the caller's environment reaches the launcher, but for the switch of test-only builds.
    private static var environment: [String] {
        let omitted = Layer.allCases.filter(\.isOmitted).map(\.rawValue)
        return omitted.isEmpty ? [] : ["INVIGILATOR_TEST_OMIT=" + omitted.joined(separator: ",")]
    }

    // MARK: - requests

    /// Makes an empty tmpfs that belongs to the supervisor.
    ///
    /// - Throws: ``LauncherError``.
    public func makeTree(size: ByteCount, inodes: UInt32) throws(LauncherError) -> SandboxTree {
        let id = nextID()
        let answer = try request(.makeTree(id: id, size: size, inodes: inodes), "make a tree")
        guard case .treeMade = answer.reply, let directory = answer.descriptor?.take() else {
            throw unexpected("make a tree", answer.reply)
        }
        return SandboxTree(id: id, directory: directory)
    }

    /// Forgets a tree; its memory is freed once no sandbox uses it.
    ///
    /// - Throws: ``LauncherError``.
    public func drop(_ tree: SandboxTree) throws(LauncherError) {
        _ = try request(.dropTree(id: tree.id), "drop a tree")
    }

    /// Starts a sandbox.
    ///
    /// - Parameters:
    ///   - plan: the compiled plan.
    ///   - trees: trees in the order of the plan's indices.
    ///   - command: program and arguments, where the plan leaves them open.
    ///   - window: of the terminal that the plan has made inside.
    ///   - descriptors: standard input, output and error, then one for each slot; ours stay open.
    ///   - onExit: called on the loop once every process of the sandbox is gone.
    /// - Returns: the running sandbox.
    /// - Throws: ``LauncherError``.
    public func launch(
        _ plan: CompiledPlan,
        trees: [SandboxTree],
        command: [String],
        window: WindowSize = WindowSize(),
        descriptors: borrowing DescriptorPlacements,
        onExit: @escaping (SandboxExit) -> Void
    ) throws(LauncherError) -> RunningSandbox {
        let id = nextID()
        let launch = LaunchRequest(
            id: id,
            plan: plan,
            trees: trees.map(\.id),
            command: command,
            window: window
        )
        let answer = try request(.launch(launch), "launch a sandbox", descriptors)
        guard case .launched(_, let user, let steps) = answer.reply else {
            throw unexpected("launch a sandbox", answer.reply)
        }
        let sandbox = RunningSandbox(
            id: id,
            user: user,
            steps: steps,
            planDigest: plan.digest,
            endpoint: answer.descriptor,
            client: self,
            onExit: onExit
        )
        sandboxes[id] = sandbox
        onLaunched(sandbox)
        if earlyEnds.remove(id) != nil { sandbox.hasEnded = true }
        if let exit = early.removeValue(forKey: id) { scheduleExit(id, exit) }
        return sandbox
    }

    /// Asks the launcher for something that has no answer but its being done.
    func control(_ message: LauncherRequest, _ operation: String) throws(LauncherError) {
        let answer = try request(message, operation)
        guard case .done = answer.reply else { throw unexpected(operation, answer.reply) }
    }

    /// Ends the launcher and with it every sandbox, and reaps it.
    ///
    /// - Throws: ``LauncherError``.
    public consuming func shutDown() throws(LauncherError) {
        loop.forget(token)
        token = nil
        do throws(SystemError) {
            try channel.shutDownSocket()
            _ = try ProcessEnd.wait(for: pid)
        } catch {
            throw .host(during: "end the launcher", error)
        }
    }

    // MARK: - replies

    private struct Answer {
        let reply: LauncherReply
        let descriptor: Descriptor?.Box?
    }

    private func request(
        _ message: LauncherRequest,
        _ operation: String,
        _ descriptors: borrowing DescriptorPlacements = DescriptorPlacements()
    ) throws(LauncherError) -> Answer {
        guard !isLost else { throw .lost(during: operation) }
        do throws(SystemError) {
            try channel.send(message.bytes, with: descriptors)
        } catch {
            guard error.isDisconnected else { throw .host(during: operation, error) }
            throw .lost(during: operation)
        }
        while true {
            let answer = try Self.receive(on: channel, during: operation)
            switch answer.reply {
            case .exited(let id, let exit): scheduleExit(id, exit)
            case .ended(let id): noteEnd(id)
            case .denied(let id, let table): try noteDenials(id, table)
            case .refused(_, let failure): throw .refused(failure)
            case .ready, .treeMade, .launched, .done: return answer
            }
        }
    }

    private static func receive(
        on channel: borrowing Descriptor,
        during operation: String
    ) throws(LauncherError) -> Answer {
        var message: ReceivedMessage
        do throws(SystemError) {
            message = try channel.receive()
        } catch {
            throw error.isDisconnected
                ? .lost(during: operation) : .host(during: operation, error)
        }
        guard !message.bytes.isEmpty else { throw .lost(during: operation) }
        let reply = try decoded(message.bytes, operation)
        return Answer(reply: reply, descriptor: message.takeHeld())
    }

    private static func decoded(
        _ bytes: [UInt8],
        _ operation: String
    ) throws(LauncherError) -> LauncherReply {
        do throws(PlanError) {
            return try LauncherReply(bytes: bytes)
        } catch {
            throw .protocolBroken(during: operation, detail: "\(error)")
        }
    }

    private func unexpected(_ operation: String, _ reply: LauncherReply) -> LauncherError {
        .protocolBroken(during: operation, detail: "it answered \(reply)")
    }

    // An exit may arrive between a launch and our knowing its sandbox, or inside another request: it
    // is delivered from the loop, never from within a caller's request.
    private func scheduleExit(_ id: UInt32, _ exit: SandboxExit) {
        guard let sandbox = sandboxes[id] else {
            early[id] = exit
            return
        }
        _ = loop.at(MonotonicTime.now) { [weak self] in
            self?.sandboxes[id] = nil
            sandbox.finish(exit)
        }
    }

    private func noteEnd(_ id: UInt32) {
        switch sandboxes[id] {
        case .some(let sandbox): sandbox.hasEnded = true
        case .none: earlyEnds.insert(id)
        }
    }

    // A table that comes before its sandbox is known is part of the next one.
    private func noteDenials(_ id: UInt32, _ table: [UInt8]) throws(LauncherError) {
        guard let sandbox = sandboxes[id] else { return }
        do throws(PlanError) { sandbox.denials = try DenialRow.rows(in: table) } catch {
            throw .protocolBroken(during: "count refused calls", detail: "\(error)")
        }
        guard sandbox.tellsDenials else { return }
        _ = loop.at(MonotonicTime.now) { [weak self] in self?.onDenied(sandbox) }
    }

    private func receiveExits() {
        do throws(SystemError) {
            let message = try channel.receive(isWaiting: false)
            guard !message.bytes.isEmpty else { return lose() }
            do throws(LauncherError) {
                switch try Self.decoded(message.bytes, "wait for sandboxes") {
                case .exited(let id, let exit): scheduleExit(id, exit)
                case .ended(let id): noteEnd(id)
                case .denied(let id, let table): try noteDenials(id, table)
                case .ready, .treeMade, .launched, .done, .refused: lose()
                }
            } catch {
                lose()
            }
        } catch {
            if !error.isWouldBlock { lose() }
        }
    }

    private func lose() {
        isLost = true
        loop.forget(token)
        token = nil
        onLost()
    }

    private func nextID() -> UInt32 {
        lastID += 1
        return lastID
    }
}
