internal import HostKernel
internal import Benchmarks
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import StrictJSON
internal import Supervisor

/// Candidates that break the rules on purpose, each in its own way.
enum HostileProgram: CaseIterable {
    case exits, talksRubbish, talksOutOfTurn, sometimesExits

    /// Where the program lies below `/candidate`.
    static let file = "hostile.py"

    /// What it does, in words.
    var deed: String {
        switch self {
        case .exits: "exits at once"
        case .talksRubbish: "talks rubbish"
        case .talksOutOfTurn: "answers out of turn"
        case .sometimesExits: "exits at once in every second session"
        }
    }

    /// The command that starts it in the place of the benchmark's own.
    func command(before own: [String]) -> [String] {
        ["/usr/bin/python3", "-I", "-S", "-B", "/candidate/\(Self.file)"] + own
    }

    /// The program; frames are on descriptor 3 in every candidate sandbox.
    var bytes: [UInt8] {
        let text =
            switch self {
            case .exits: "raise SystemExit(0)\n"
            case .talksRubbish:
                "import os\nos.write(3, b'\\0\\0\\0\\5hello')\nos.read(3, 65536)\n"
            case .talksOutOfTurn:
                "import os\nbody = b'{\"text\":\"hello\",\"type\":\"reply\"}'\n"
                    + "os.write(3, len(body).to_bytes(4, 'big') + body)\nos.read(3, 65536)\n"
            case .sometimesExits:
                "import os, sys\nif os.urandom(1)[0] & 1:\n    os._exit(0)\n"
                    + "os.execv(sys.argv[1], sys.argv[1:])\n"
            }
        return Array(text.utf8)
    }
}

/// A conversation with an examiner that no exam would have, to see what it does.
final class ExaminerTalk {
    private let site: SandboxSite
    private let sandbox: RunningSandbox
    private let tree: SandboxTree
    private let frames: Descriptor
    private let verdicts: Descriptor
    private var decoder = FrameDecoder(limits: .examiner(sessions: 2))
    private var received: [JSONValue] = []
    private var hasVerdict = false
    private var fault: String?

    private static let patience = Nanoseconds.milliseconds(30_000)
    private static let unknown = SessionID(random: 0x0123_4567_89ab_cdef)

    /// Starts an examiner, with its packages where it has some.
    init(
        plan: CompiledPlan,
        program: ExamProgram,
        packages: AddedFiles?,
        on site: SandboxSite
    ) throws(SupervisorError) {
        self.site = site
        let decoded: SandboxPlan
        do throws(PlanError) { decoded = try plan.plan() } catch {
            throw SupervisorError(.usage, error)
        }
        let tree = try site.makeTrees(for: decoded)[0]
        self.tree = tree
        if let packages {
            try kernel("lay packages over the image", "examiner") { () throws(SystemError) in
                try packages.copy(tree.directory)
            }
        }
        for file in program.files {
            try site.place(file.bytes, at: "examiner/\(file.path)", in: tree)
        }
        var conversation = try kernel("connect the examiner", "descriptor 3") {
            () throws(SystemError) in
            try DescriptorPair.sockets(keepsMessages: false)
        }
        var judgement = try kernel("connect the examiner", "descriptor 4") {
            () throws(SystemError) in
            try DescriptorPair.pipe()
        }
        frames = try kernel("connect the examiner", "descriptor 3") { () throws(SystemError) in
            let ours = conversation.takeFirst()
            try ours.refuseDescriptors()
            return ours
        }
        verdicts = judgement.takeFirst()
        sandbox = try Self.launch(
            (plan, tree),
            program.command,
            frames: conversation.takeSecond(),
            verdicts: judgement.takeSecond(),
            on: site.launcher
        )
    }

    // Its ends close with this function, so that ours see the end of a process that is gone.
    private static func launch(
        _ box: (plan: CompiledPlan, tree: SandboxTree),
        _ command: [String],
        frames: consuming Descriptor,
        verdicts: consuming Descriptor,
        on launcher: LauncherClient
    ) throws(SupervisorError) -> RunningSandbox {
        let nothing = try kernel("connect the examiner", "/dev/null") { () throws(SystemError) in
            try Descriptor.open("/dev/null", .readWrite)
        }
        var placements = DescriptorPlacements()
        for _ in 0..<3 { placements.add(nothing) }
        placements.add(frames)
        placements.add(verdicts)
        do throws(LauncherError) {
            return try launcher.launch(
                box.plan,
                trees: [box.tree],
                command: command,
                descriptors: placements,
                onExit: { _ in }
            )
        } catch {
            throw SupervisorError(error)
        }
    }

    /// What the examiner is told of a session that was never begun.
    enum Topic: CaseIterable {
        /// Its candidate is gone, which may be said of a session that the examiner has forgotten.
        case gone
        /// Its candidate replies, which no supervisor says: the examiner may ignore it or end.
        case reply
    }

    /// Waits for its greeting, speaks of a session that was never begun, and asks it to finish.
    ///
    /// - Returns: what is wrong with its conduct; nothing when it is as it must be.
    func problem(
        _ topic: Topic,
        benchmark: String,
        version: Int
    ) throws(SupervisorError) -> String? {
        try kernel("talk to the examiner", "descriptors 3 and 4") { () throws(SystemError) in
            try frames.setNonBlocking(true)
            try verdicts.setNonBlocking(true)
        }
        let tokens = [
            site.loop.watch(frames, .readable) { [unowned self] _ in readFrames() },
            site.loop.watch(verdicts, .readable) { [unowned self] _ in readVerdicts() },
        ]
        defer { for token in tokens { site.loop.forget(token) } }
        let isGreeted = try wait { !received.isEmpty }
        var problem = isGreeted ? greetingProblem(benchmark, version) : "it says no hello"
        if problem == nil {
            switch topic {
            case .gone: try send([.gone(Self.unknown, .fault), .finish])
            case .reply: try send([.reply(Self.unknown, .text("hello")), .finish])
            }
            let hasEnded = try wait { sandbox.exit != nil }
            problem = hasEnded ? endProblem(topic) : "it does not end after finish"
        }
        try remove()
        return problem
    }

    // MARK: - judging

    private func greetingProblem(_ benchmark: String, _ version: Int) -> String? {
        let hello: JSONValue = [
            "type": "hello", "benchmark": .string(benchmark), "version": JSONValue(version),
        ]
        guard received.first != hello else { return nil }
        let said = String(decoding: (received.first ?? .null).canonicalBytes, as: UTF8.self)
        return "its first frame is \(SafeText.cleaned(said, atMost: 120)), not hello of "
            + "\(benchmark) version \(version)"
    }

    private func endProblem(_ topic: Topic) -> String? {
        if let fault { return fault }
        if hasVerdict { return "it gives a verdict on a session that was never begun" }
        if received.count > 1 { return "it answers a session that was never begun" }
        guard let exit = sandbox.exit, exit.kind == .exited, topic == .reply || exit.code == 0
        else {
            return "it does not end with 0 after finish"
                + (sandbox.exit.map { " (\($0.kind.name) \($0.code ?? -1))" } ?? "")
        }
        return nil
    }

    // MARK: - bytes

    private func readFrames() {
        do throws(SystemError) {
            let part = try frames.read(atMost: 65_536)
            guard !part.isEmpty else { return }
            do throws(FrameError) {
                try decoder.append(part)
                while let frame = try decoder.next() { received.append(frame) }
            } catch {
                fault = "it sends a malformed frame: \(error)"
            }
        } catch {
            if !error.isWouldBlock { fault = fault ?? "its channel broke: \(error)" }
        }
    }

    private func readVerdicts() {
        do throws(SystemError) {
            if try !verdicts.read(atMost: 65_536).isEmpty { hasVerdict = true }
        } catch {
            if !error.isWouldBlock { fault = fault ?? "its verdicts broke: \(error)" }
        }
    }

    private func send(_ messages: [ExaminerMessage]) throws(SupervisorError) {
        for message in messages {
            let bytes: [UInt8]
            do throws(FrameError) { bytes = try FrameEncoder.frame(message.json) } catch {
                fatalError("these frames are short")
            }
            do throws(SystemError) { try frames.writeAll(bytes) } catch {
                // It ended: how is told by its exit.
                guard error.isDisconnected else {
                    throw SupervisorError(error, "talk to the examiner", "descriptor 3")
                }
                return
            }
        }
    }

    // An end of a channel keeps it readable for ever: the process's end is what is waited for.
    private func wait(until condition: () -> Bool) throws(SupervisorError) -> Bool {
        var isLate = false
        let token = site.loop.at(MonotonicTime.now.advanced(by: Self.patience)) { isLate = true }
        defer { site.loop.forget(token) }
        try kernel("wait for the examiner", "event loop") { () throws(SystemError) in
            try site.loop.run(until: { isLate || condition() || sandbox.exit != nil })
        }
        return condition()
    }

    private func remove() throws(SupervisorError) {
        do throws(LauncherError) {
            try sandbox.kill()
        } catch {
            throw SupervisorError(error)
        }
        _ = try site.wait(for: sandbox)
        do throws(LauncherError) { try site.launcher.drop(tree) } catch {
            throw SupervisorError(error)
        }
    }
}
