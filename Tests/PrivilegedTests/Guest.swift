import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan

/// One sandbox with pipes to its standard streams and what came out of them.
final class Guest {
    private(set) var sandbox: RunningSandbox
    private(set) var exit: SandboxExit?
    private(set) var output: [UInt8] = []
    private(set) var errors: [UInt8] = []
    /// Our ends of what flows over the plan's slots, in order.
    private(set) var slots: [Slot] = []
    private let lab: Lab
    private var input: Descriptor?
    private var outputs: [Stream]
    private var openStreams = 0
    private var tokens: [EventLoop.Token?] = []

    /// One end of a descriptor that a payload received.
    final class Slot {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    private final class Stream {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    private final class Ending {
        var exit: SandboxExit?
    }

    private let ending = Ending()

    /// Starts a sandbox; without `collects`, its output stays in the pipes until ``collectNow()``.
    init(
        _ lab: Lab,
        _ plan: CompiledPlan,
        _ trees: [SandboxTree],
        _ words: [String],
        collects: Bool = true
    ) throws {
        self.lab = lab
        var inputs = try DescriptorPair.pipe()
        var outputPair = try DescriptorPair.pipe()
        var errorPair = try DescriptorPair.pipe()
        let payloadInput = inputs.takeFirst()
        let payloadOutput = outputPair.takeSecond()
        let payloadErrors = errorPair.takeSecond()
        var placements = DescriptorPlacements()
        placements.add(payloadInput)
        placements.add(payloadOutput)
        placements.add(payloadErrors)
        var ends: [Slot] = []
        for _ in (try? plan.plan().descriptors) ?? [] {
            var pair = try DescriptorPair.sockets(keepsMessages: false)
            slots.append(Slot(pair.takeFirst()))
            let end = Slot(pair.takeSecond())
            placements.add(end.descriptor)
            ends.append(end)
        }
        let ending = ending
        sandbox = try lab.client.launch(
            plan,
            trees: trees,
            command: words,
            descriptors: placements,
            onExit: { ending.exit = $0 }
        )
        input = inputs.takeSecond()
        outputs = [Stream(outputPair.takeFirst()), Stream(errorPair.takeFirst())]
        withExtendedLifetime(ends) {}
        if collects { collectNow() }
    }

    /// Begins to read both output streams.
    func collectNow() {
        for index in outputs.indices { collect(index) }
    }

    private func collect(_ index: Int) {
        openStreams += 1
        let token = lab.loop.watch(outputs[index].descriptor, .readable) { [unowned self] _ in
            let part = (try? outputs[index].descriptor.read(atMost: 1 << 16)) ?? []
            if index == 0 { output += part } else { errors += part }
            if part.isEmpty {
                openStreams -= 1
                lab.loop.forget(tokens[index])
            }
        }
        tokens.append(token)
    }

    deinit { for token in tokens { lab.loop.forget(token) } }

    var text: String { String(decoding: output, as: UTF8.self) }
    var facts: Facts { Facts(text) }

    func send(_ text: String) {
        // A payload that ended early does not read, which its exit says.
        switch input {
        case .some(let pipe): try? pipe.writeAll(Array(text.utf8))
        case .none: break
        }
    }

    func closeInput() { input = nil }

    /// Closes our ends of output and errors, which nobody may be collecting.
    func closeOutputs() { outputs = [] }

    /// Waits for the exit and for the end of both streams.
    func waitForEnd(seconds: Int = 60) throws {
        try lab.wait("the end of a sandbox", seconds: seconds) {
            ending.exit != nil && openStreams == 0
        }
        exit = ending.exit
    }

    /// Waits for the exit alone.
    func waitForExit(seconds: Int = 60) throws {
        try lab.wait("an exit", seconds: seconds) { ending.exit != nil }
        exit = ending.exit
    }

    /// Waits until the output holds a text; an end without it is an error at once.
    func waitFor(_ text: String, seconds: Int = 60) throws {
        let wanted = Array(text.utf8)
        var holds = false
        try lab.wait("\(text.debugDescription) in the output", seconds: seconds) {
            holds =
                output.count >= wanted.count
                && String(decoding: output, as: UTF8.self).contains(text)
            return holds || (ending.exit != nil && openStreams == 0)
        }
        guard !holds else { return }
        throw Lab.TimedOut(
            description: "\(text.debugDescription) never came: \(String(describing: ending.exit)) "
                + String(decoding: errors, as: UTF8.self)
        )
    }
}
