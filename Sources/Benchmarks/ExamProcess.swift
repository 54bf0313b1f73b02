internal import HostKernel
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// One sandbox of an exam with our ends of its descriptors.
final class ExamProcess {
    /// What is started, and what is kept of it.
    struct Description {
        let plan: CompiledPlan
        let tree: SandboxTree
        let command: [String]
        /// Whether descriptor 4 carries verdicts.
        let hasVerdicts: Bool
        /// Whether the last words of its standard error are kept; never of a sealed exam.
        let keepsErrors: Bool
        /// The most bytes that may wait to be read by it.
        let queueBytes: Int
    }

    /// Whom to tell.
    struct Listeners {
        let onFrames: (ByteChannel.Arrival) -> Void
        var onVerdicts: (ByteChannel.Arrival) -> Void = { _ in }
        /// Called once, from the loop, when every process of the sandbox is gone.
        let onExit: (SandboxExit) -> Void
    }

    /// Our end of descriptor 3.
    let frames: ByteChannel
    /// Our end of descriptor 4.
    let verdicts: ByteChannel?
    private let errors: OutputTail?
    private let sandbox: RunningSandbox
    private var leave: ExamModels.Leave?
    /// Whether ``kill()`` was called.
    private(set) var isKilled = false

    /// Starts a sandbox.
    ///
    /// Our ends are made before it, so that nothing can fail once it runs.
    ///
    /// - Throws: ``ExamBreak``; nothing is left of the attempt.
    init(
        _ description: Description,
        on launcher: LauncherClient,
        _ listeners: Listeners
    ) throws(ExamBreak) {
        let loop = launcher.loop
        let launching: Result<RunningSandbox, LauncherError>
        do throws(SystemError) {
            var inside = try InsideEnds()
            frames = try ByteChannel(
                inside.connectFrames(),
                on: loop,
                queueBytes: description.queueBytes,
                onArrival: listeners.onFrames
            )
            verdicts =
                description.hasVerdicts
                ? try ByteChannel(
                    inside.connectVerdicts(),
                    on: loop,
                    queueBytes: 0,
                    onArrival: listeners.onVerdicts
                ) : nil
            errors =
                description.keepsErrors ? try OutputTail(inside.connectErrors(), on: loop) : nil
            launching = inside.launch(description, on: launcher, listeners.onExit)
        } catch {
            throw ExamBreak(error, during: "connect a sandbox")
        }
        switch launching {
        case .success(let started): sandbox = started
        case .failure(let error): throw ExamBreak(error)
        }
    }

    /// Kills every process of the sandbox; its exit follows.
    ///
    /// - Throws: ``ExamBreak``.
    func kill() throws(ExamBreak) {
        guard !isKilled else { return }
        isKilled = true
        do throws(LauncherError) {
            try sandbox.kill()
        } catch {
            throw ExamBreak(error)
        }
    }

    /// Has the sandbox served with models where its side has one; otherwise its endpoint is closed, so
    /// that whoever asks there is refused at once.
    ///
    /// - Throws: ``ExamBreak``; the sandbox runs on.
    func join(_ models: ExamModels?, as side: ExamSide, isSealed: Bool) throws(ExamBreak) {
        do throws(ExamModelFault) { leave = try models?.serve(sandbox, side, isSealed) } catch {
            throw ExamBreak(error)
        }
        if leave == nil { _ = sandbox.endpoint?.take() }
    }

    /// Ends its service, before its sandbox counts as gone.
    ///
    /// - Returns: what was said to models; empty where nothing of it is kept.
    /// - Throws: ``ExamBreak``.
    func leaveModels() throws(ExamBreak) -> [UInt8] {
        guard let leave else { return [] }
        self.leave = nil
        do throws(ExamModelFault) { return try leave() } catch { throw ExamBreak(error) }
    }

    /// The last words of its standard error, read to the end; empty where they are not kept.
    func lastWords() -> String {
        errors?.finish() ?? ""
    }
}

/// The ends that a sandbox gets; ours close with this value, once it has its own.
private struct InsideEnds: ~Copyable {
    private let null: Descriptor
    private var frames: Descriptor?
    private var verdicts: Descriptor?
    private var errors: Descriptor?

    init() throws(SystemError) {
        null = try Descriptor.open("/dev/null", .readWrite)
    }

    mutating func connectFrames() throws(SystemError) -> Descriptor {
        var pair = try DescriptorPair.sockets(keepsMessages: false)
        frames = pair.takeSecond()
        let ours = pair.takeFirst()
        try ours.refuseDescriptors()
        return ours
    }

    mutating func connectVerdicts() throws(SystemError) -> Descriptor {
        var pair = try DescriptorPair.pipe()
        verdicts = pair.takeSecond()
        return pair.takeFirst()
    }

    mutating func connectErrors() throws(SystemError) -> Descriptor {
        var pair = try DescriptorPair.pipe()
        let writer = pair.takeSecond()
        // The launcher writes to it, and must not wait for us.
        try writer.setNonBlocking(true)
        errors = consume writer
        return pair.takeFirst()
    }

    consuming func launch(
        _ description: ExamProcess.Description,
        on launcher: LauncherClient,
        _ onExit: @escaping (SandboxExit) -> Void
    ) -> Result<RunningSandbox, LauncherError> {
        var placements = DescriptorPlacements()
        placements.add(null)
        placements.add(null)
        switch errors {
        case .some(let writer): placements.add(writer)
        case .none: placements.add(null)
        }
        switch frames {
        case .some(let end): placements.add(end)
        case .none: break
        }
        switch verdicts {
        case .some(let end): placements.add(end)
        case .none: break
        }
        do throws(LauncherError) {
            return .success(
                try launcher.launch(
                    description.plan,
                    trees: [description.tree],
                    command: description.command,
                    descriptors: placements,
                    onExit: onExit
                )
            )
        } catch {
            return .failure(error)
        }
    }
}
