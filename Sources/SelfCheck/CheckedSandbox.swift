internal import HostKernel
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// One sandbox with our program in it, and what it said so far.
final class CheckedSandbox {
    let plan: SandboxPlan
    private let loop: EventLoop
    private let reader: Descriptor
    private var writer: Descriptor?
    private var sandbox: RunningSandbox?
    private var token: EventLoop.Token?
    private var output: [UInt8] = []
    private var known: (count: Int, facts: SandboxFacts) = (0, SandboxFacts([]))
    private(set) var exit: SandboxExit?

    private static let mostOutput = 1 << 20

    /// Starts the program; descriptors above its standard streams are connected to nothing.
    ///
    /// - Throws: `LauncherError`; nothing is left then.
    init(
        _ plan: SandboxPlan,
        trees: [SandboxTree],
        command: [String],
        on launcher: LauncherClient
    ) throws(LauncherError) {
        self.plan = plan
        loop = launcher.loop
        let inside: InsideEnds
        do throws(SystemError) {
            var input = try DescriptorPair.pipe()
            var output = try DescriptorPair.pipe()
            let null = try Descriptor.open("/dev/null", .readWrite)
            reader = output.takeFirst()
            try reader.setNonBlocking(true)
            let ours = input.takeSecond()
            try ours.setNonBlocking(true)
            writer = consume ours
            let sink = output.takeSecond()
            // The launcher writes to it, and must not wait for us.
            try sink.setNonBlocking(true)
            inside = InsideEnds(source: input.takeFirst(), sink: sink, null: null)
        } catch {
            throw .host(during: "connect a quick probe", error)
        }
        var placements = DescriptorPlacements()
        placements.add(inside.source)
        placements.add(inside.sink)
        placements.add(inside.null)
        for _ in plan.descriptors { placements.add(inside.null) }
        sandbox = try launcher.launch(
            CompiledPlan(plan),
            trees: trees,
            command: command,
            descriptors: placements,
            onExit: { [weak self] exit in self?.ended(exit) }
        )
        // Trying what has to be refused is its work.
        sandbox?.tellsDenials = false
        token = loop.watch(reader, .readable) { [unowned self] _ in read() }
    }

    deinit { loop.forget(token) }

    private struct InsideEnds: ~Copyable {
        let source: Descriptor
        let sink: Descriptor
        let null: Descriptor
    }

    /// What it said so far.
    var facts: SandboxFacts {
        if known.count != output.count { known = (output.count, SandboxFacts(output)) }
        return known.facts
    }

    /// Whether it is gone and everything that it said was read.
    var isOver: Bool { exit != nil && token == nil }

    private func read() {
        var part: [UInt8] = []
        do throws(SystemError) { part = try reader.read(atMost: 1 << 16) } catch {
            // A pipe that breaks has ended, as far as its reader is concerned.
            if error.isWouldBlock { return }
        }
        if output.count < Self.mostOutput { output += part }
        guard part.isEmpty else { return }
        loop.forget(token)
        token = nil
    }

    private func ended(_ exit: SandboxExit) {
        self.exit = exit
        writer = nil
    }

    /// Asks for an answer.
    func ask() {
        // A program that does not read any more will not answer: that is what is looked at.
        do throws(SystemError) {
            switch writer {
            case .some(let descriptor): try descriptor.writeAll(Array("?\n".utf8))
            case .none: break
            }
        } catch {}
    }

    /// Ends its input, at which it ends by itself.
    func closeInput() { writer = nil }

    func freeze() throws(LauncherError) { try sandbox?.freeze() }
    func thaw() throws(LauncherError) { try sandbox?.thaw() }
    func kill() throws(LauncherError) { try sandbox?.kill() }
}
