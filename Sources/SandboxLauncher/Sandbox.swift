internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// One running sandbox, watched from outside: limits, streams, end.
final class Sandbox {
    let id: UInt32
    private let loop: EventLoop
    private let plan: SandboxPlan
    private let started: StartedInit
    /// The host's user that the payload is.
    var user: UInt32 { started.user }
    let group: ControlGroup
    private let budget: OutputBudget
    private let onGone: (Sandbox, SandboxExit) -> Void
    /// Called when the payload has ended, before its sandbox is gone.
    var onEnded: () -> Void = {}
    /// Called with the table of refused calls, some times a second and before the end.
    var onDenied: ([UInt8]) -> Void = { _ in }
    private var pumps: [StreamPump] = []
    private var input: StreamPump?
    private var terminal: Held?
    private var ended: MonotonicTime?
    private var end: ProcessEnd?
    private var reason: ExitKind?
    private var wasRequested = false
    private(set) var isFrozen = false
    private var frozenSince: MonotonicTime?
    // When its time is over, unless it is frozen before.
    private var wallEnd: MonotonicTime
    private var tokens: [EventLoop.Token] = []
    // The next look at each limit that is looked at again and again.
    private var checks: [ExitKind: EventLoop.Token] = [:]

    /// Streams of the payload on our side, or the master of its terminal.
    struct Streams {
        let input: Held
        let output: Held
        let errors: Held?
        let isTerminal: Bool
    }

    init(
        _ id: UInt32,
        _ loop: EventLoop,
        _ plan: SandboxPlan,
        _ started: StartedInit,
        _ group: ControlGroup,
        _ onGone: @escaping (Sandbox, SandboxExit) -> Void
    ) {
        self.id = id
        self.loop = loop
        self.plan = plan
        self.started = started
        self.group = group
        self.onGone = onGone
        budget = OutputBudget(cap: plan.limits.output.bytes)
        wallEnd = started.beginning.advanced(by: .milliseconds(plan.limits.wallClock.count))
    }

    /// Begins to watch: the private socket, the process, streams to the client's ends, the limits.
    func watch(input client: Held, outputs: [Held]) {
        tokens.append(
            loop.watch(started.control.descriptor, .readable) { [unowned self] _ in readRecord() }
        )
        tokens.append(loop.watch(started.child.handle, .readable) { [unowned self] _ in finish() })
        guard let streams = started.takeStreams() else { return stop(for: .setup) }
        let sources = [streams.output] + (streams.errors.map { [$0] } ?? [])
        pumps = zip(sources, outputs).map { source, sink in
            StreamPump(loop, from: source, to: sink, budget: budget)
        }
        input = StreamPump(loop, from: client, to: streams.input, budget: nil)
        if streams.isTerminal { terminal = streams.output }
        budget.onExcess = { [unowned self] in
            if plan.limits.killsOnOutput { stop(for: .output) }
        }
        watchWallClock()
        watchUse()
        watchIdleness()
    }

    // MARK: - requests

    func freeze() throws(SystemError) {
        guard !Layer.freeze.isOmitted else { return }
        // Before it is so: a group whose processes resist is thawed again when it is given back.
        isFrozen = true
        frozenSince = frozenSince ?? .now
        try group.freeze()
    }

    func thaw() throws(SystemError) {
        try group.thaw()
        isFrozen = false
        budget.lastOutput = .now  // nobody can print while frozen
        // Nor use the time.
        if let since = frozenSince {
            wallEnd = wallEnd.advanced(by: MonotonicTime.now.since(since))
        }
        frozenSince = nil
        watchWallClock()
    }

    func resize(_ window: WindowSize) throws(SystemError) {
        guard let terminal else { return }
        try window.set(on: terminal)
    }

    /// Kills the sandbox because the client asked.
    func kill() {
        wasRequested = true
        stop(for: .signalled)
    }

    // MARK: - limits

    private func stop(for reason: ExitKind) {
        if self.reason == nil, end == nil { self.reason = reason }
        // A pid namespace dies with its init, whatever its processes do with signals. The group is
        // killed only where that is not enough, because its leaf is spent afterwards: for frozen
        // processes, which version 1 does not let die. Failing both ways leaves nothing better.
        do throws(SystemError) {
            try started.child.kill()
            if isFrozen { try group.kill() }
        } catch {
            do throws(SystemError) { try group.kill() } catch {}
        }
    }

    // The kernel kills one process for memory and then the next, each with lines in its log. A coding
    // agent outlives some greedy tools in its night; nobody else outlives one.
    private var survivableKills: UInt64 { plan.role == .coding ? 64 : 0 }

    // A second look ends the sandbox: by then init has told the end of a payload that was killed itself.
    private func watchUse(hasKilled: Bool = false) {
        checks[.cpuTime] = loop.at(.now.advanced(by: .milliseconds(100))) { [unowned self] in
            do throws(SystemError) {
                let usage = try group.usage()
                if hasKilled { return stop(for: .outOfMemory) }
                let limit = plan.limits.cpuTime?.count ?? .max
                if usage.cpuMicroseconds / 1000 >= limit { return stop(for: .cpuTime) }
                watchUse(hasKilled: usage.memoryKills > survivableKills)
            } catch {
                stop(for: .setup)
            }
        }
    }

    private func watchWallClock() {
        guard !tokens.isEmpty else { return }  // it has ended
        loop.forget(checks[.wallClock])
        checks[.wallClock] = loop.at(wallEnd) { [unowned self] in
            // It goes on when it is thawed.
            if !isFrozen { stop(for: .wallClock) }
        }
    }

    private func watchIdleness() {
        guard let limit = plan.limits.idle else { return }
        let deadline = budget.lastOutput.advanced(by: .milliseconds(limit.count))
        guard MonotonicTime.now < deadline || isFrozen else { return stop(for: .idle) }
        let next = isFrozen ? .now.advanced(by: .milliseconds(limit.count)) : deadline
        checks[.idle] = loop.at(next) { [unowned self] in watchIdleness() }
    }

    // MARK: - end

    private func readRecord() {
        do throws(SystemError) {
            let bytes = try started.control.descriptor.receive(isWaiting: false).bytes
            if bytes.isEmpty { return loop.change(tokens.first, to: []) }
            switch ControlRecord.read(bytes) {
            case .denied(let table):
                onDenied(table)
                readRecord()
            case .ended(let end):
                self.end = end
                ended = .now
                onEnded()
            default: stop(for: .setup)
            }
        } catch {
            if !error.isWouldBlock { loop.change(tokens.first, to: []) }
        }
    }

    // Init is dead, so every process of its pid namespace is; reap it.
    private func finish() {
        readRecord()
        for token in tokens + checks.values { loop.forget(token) }
        (tokens, checks) = ([], [:])
        input?.stop()
        for pump in pumps { pump.drain() }
        do throws(SystemError) {
            _ = try started.child.wait()
            if isFrozen { try thaw() }
            if Layer.pid.isOmitted { try group.kill() }
            conclude(before: MonotonicTime.now.advanced(by: .milliseconds(5000)))
        } catch {
            gone(nil)
        }
    }

    // The kernel may need a moment to take the last process out of the group; nobody waits for it.
    private func conclude(before deadline: MonotonicTime) {
        do throws(SystemError) {
            if try group.isEmpty() { return gone(try group.usage()) }
            guard MonotonicTime.now < deadline else { return gone(nil) }
            _ = loop.at(MonotonicTime.now.advanced(by: .milliseconds(1))) { [self] in
                conclude(before: deadline)
            }
        } catch {
            gone(nil)
        }
    }

    private func gone(_ usage: ControlGroupUsage?) {
        var exit = usage.map(describe) ?? SandboxExit(kind: .setup)
        exit.wasRequested = wasRequested
        onGone(self, exit)
    }

    private func describe(_ usage: ControlGroupUsage) -> SandboxExit {
        var exit = SandboxExit(kind: kind(usage))
        exit.code = end?.exitCode
        exit.signal = end?.signal
        exit.cpuMicroseconds = usage.cpuMicroseconds
        exit.userMicroseconds = end?.userMicroseconds ?? 0
        exit.systemMicroseconds = end?.systemMicroseconds ?? 0
        exit.peakResidentKiB = end?.peakResidentKiB ?? 0
        exit.wallMicroseconds = UInt64((ended ?? .now).since(started.beginning).count / 1000)
        exit.outputBytes = budget.total
        exit.isTruncated = budget.isTruncated
        exit.memoryKills = usage.memoryKills
        exit.refusedProcesses = usage.refusedProcesses
        return exit
    }

    private func kind(_ usage: ControlGroupUsage) -> ExitKind {
        if let reason { return reason }
        let didFail = end?.exitCode != 0
        if usage.memoryKills > (didFail ? 0 : survivableKills) { return .outOfMemory }
        guard let end else { return .setup }
        if end.signal == Self.badSystemCall { return .violation }
        if didFail, usage.refusedProcesses > 0 { return .processes }
        return end.signal == nil ? .exited : .signalled
    }

    // SIGSYS of signal(7): what a filter's kill action shows as.
    private static let badSystemCall: Int32 = 31

    /// Whether the client has taken everything that was read.
    var isFlushed: Bool { pumps.allSatisfy(\.isFlushed) }
}

extension WindowSize {
    /// Gives a terminal this window; a program on it is told.
    func set(on terminal: Held) throws(SystemError) {
        try PseudoTerminal.resize(terminal.descriptor, rows: rows, columns: columns)
    }
}
