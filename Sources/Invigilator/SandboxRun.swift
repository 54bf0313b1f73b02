internal import DenialEvents
internal import HostKernel
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
internal import Supervisor

/// Carries out one command with our own standard streams.
final class SandboxRun {
    private let site: SandboxSite
    private let plan: SandboxPlan
    private let compiled: CompiledPlan
    private let command: [String]

    // signal(7): HUP, INT, QUIT, TERM end the sandbox, WINCH changes its terminal's size.
    private static let windowChange: Int32 = 28
    private static let signals: [Int32] = [1, 2, 3, 15, windowChange]

    init(site: SandboxSite, plan: SandboxPlan, compiled: CompiledPlan, command: [String]) {
        self.site = site
        self.plan = plan
        self.compiled = compiled
        self.command = command
    }

    /// Launches, relays until the end, and leaves our terminal as it was.
    func carryOut() throws(SupervisorError) -> SandboxOutcome {
        let measured = try site.measure(under: compiled)
        try Assurance.require(measured, for: compiled)
        let trees = try site.makeTrees(for: plan)
        let signals = try kernel("watch signals", "SIGINT, SIGTERM") { () throws(SystemError) in
            try SignalDescriptor(Self.signals)
        }
        let sandbox = try launch(trees)
        let token = site.loop.watch(signals.descriptor, .readable) { [unowned self] _ in
            do throws(SystemError) {
                guard let signal = try signals.next() else { return }
                take(signal, sandbox)
            } catch {
                kill(sandbox)
            }
        }
        defer { site.loop.forget(token) }
        let exit = try relay(sandbox)
        var outcome = SandboxOutcome(
            plan: plan,
            digest: compiled.digest,
            level: measured.level,
            exit: exit,
            steps: sandbox.steps
        )
        outcome.denials = DenialEvent.events(in: sandbox.denials)
        if plan.landlock.isLogged {
            site.landlock?.settle(sandbox)
            outcome.denials += site.landlock?.events(of: sandbox) ?? []
            outcome.landlockLog = LandlockLog(
                gap: site.landlockGap,
                losses: site.landlock?.losses ?? 0
            )
        }
        return outcome
    }

    private func launch(_ trees: [SandboxTree]) throws(SupervisorError) -> RunningSandbox {
        let (input, output, errors) = try kernel("hand over standard streams", "launch") {
            () throws(SystemError) in
            (
                try Self.stream(0), try Self.stream(1), try Self.stream(2)
            )
        }
        let slots = try kernel("connect descriptors to nothing", "/dev/null") {
            () throws(SystemError) in
            Descriptor?.Box(try Descriptor.open("/dev/null", .readWrite))
        }
        guard let input = input.take(), let output = output.take(), let errors = errors.take(),
            let nothing = slots.take()
        else { fatalError("a box that was just filled is full") }
        var placements = DescriptorPlacements()
        placements.add(input)
        placements.add(output)
        placements.add(errors)
        for _ in plan.descriptors { placements.add(nothing) }
        do throws(LauncherError) {
            return try site.launcher.launch(
                compiled,
                trees: trees,
                command: command,
                window: window ?? WindowSize(),
                descriptors: placements,
                onExit: { _ in }
            )
        } catch {
            throw SupervisorError(error)
        }
    }

    // A stream that our caller closed is connected to nothing.
    private static func stream(_ number: Int32) throws(SystemError) -> Descriptor?.Box {
        do throws(SystemError) {
            return Descriptor?.Box(try Descriptor.copy(ofInherited: number))
        } catch {
            guard error.isNotOpen else { throw error }
            return Descriptor?.Box(try Descriptor.open("/dev/null", .readWrite))
        }
    }

    private func relay(_ sandbox: RunningSandbox) throws(SupervisorError) -> SandboxExit {
        guard plan.streams == .terminal, Console.isTerminal(0) else {
            return try site.wait(for: sandbox)
        }
        let raw = try kernel("put our terminal into raw mode", "standard input") {
            () throws(SystemError) in
            try RawTerminal(Descriptor.copy(ofInherited: 0))
        }
        let exit = try site.wait(for: sandbox)
        _ = consume raw
        return exit
    }

    // MARK: - signals

    private func take(_ signal: Int32, _ sandbox: RunningSandbox) {
        if signal == Self.windowChange { resize(sandbox) } else { kill(sandbox) }
    }

    // When the launcher is lost its sandboxes are dead; the waiting loop ends by itself.
    private func kill(_ sandbox: RunningSandbox) {
        do throws(LauncherError) { try sandbox.kill() } catch {}
    }

    // A size that cannot be set is a cosmetic loss.
    private func resize(_ sandbox: RunningSandbox) {
        guard let window else { return }
        do throws(LauncherError) { try sandbox.resize(window) } catch {}
    }

    /// The size of our caller's terminal, where the sandbox has one.
    private var window: WindowSize? {
        guard plan.streams == .terminal else { return nil }
        do throws(SystemError) {
            return PseudoTerminal.size(of: try Descriptor.copy(ofInherited: 0))
                .map { WindowSize(rows: $0.rows, columns: $0.columns) }
        } catch {
            return nil
        }
    }
}
