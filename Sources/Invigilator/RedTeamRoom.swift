internal import HostKernel
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import Supervisor

/// The sandboxes of one role, with the programs that the red team starts in them.
final class RedTeamRoom {
    let role: SandboxRole
    let plan: SandboxPlan
    private let site: SandboxSite
    private let trees: [SandboxTree]
    private let python: String

    static let probeName = "invigilator-probe"
    static let honestName = "honest.py"

    /// Makes the trees of a role and puts the programs into them.
    init(
        _ plan: SandboxPlan,
        probe: [UInt8],
        python: String,
        on site: SandboxSite
    ) throws(SupervisorError) {
        // Attacks find out where they are from a procfs, and some are made on one; they get the most that a
        // policy can give them.
        var plan = plan
        if plan.proc == .none { plan.proc = .pidOnly }
        self.plan = plan
        self.site = site
        self.python = python
        role = plan.role
        trees = try site.makeTrees(for: plan)
        let programs = plan.role == .coding ? "" : "usr/bin/"
        let honest = plan.role == .coding ? "" : Self.view(of: plan.role).dropFirst() + "/"
        try place(probe, programs + Self.probeName, permissions: 0o755)
        try place(Array(HonestProgram.text.utf8), honest + Self.honestName, permissions: 0o644)
    }

    /// Puts a file into the room's first tree, at a path from its root.
    func place(
        _ bytes: [UInt8],
        _ path: String,
        permissions: UInt32
    ) throws(SupervisorError) {
        let tree = trees[0]
        let parts = path.split(separator: "/").map(String.init)
        let folder = parts.dropLast().joined(separator: "/")
        if folder.isEmpty {
            return try kernel("fill a tree", path) { () throws(SystemError) in
                try tree.directory.replace(path, with: bytes, permissions: permissions)
            }
        }
        try site.place(bytes, at: path, in: tree)
        try kernel("fill a tree", path) { () throws(SystemError) in
            try tree.directory.openBeneath(path, .read).setPermissions(permissions)
        }
    }

    /// Puts the names of a channel into the room's view.
    func placeNames() throws(SupervisorError) {
        let view = role == .coding ? "" : Self.view(of: role).dropFirst() + "/"
        for number in 0..<PairChannel.bitsAtOnce {
            try place([], view + "present/\(number)", permissions: 0o644)
        }
    }

    private static func view(of role: SandboxRole) -> String {
        switch role {
        case .coding: "/work"
        case .candidate: "/candidate"
        case .examiner: "/examiner"
        case .broker: fatalError("no attack is made in the broker's sandbox")
        }
    }

    private static func program(of role: SandboxRole) -> String {
        (role == .coding ? "/work/" : "/usr/bin/") + Self.probeName
    }

    // MARK: - what is started

    /// One sandbox that runs, and what came out of it.
    final class Guest {
        fileprivate(set) var output: [UInt8] = []
        fileprivate(set) var exit: SandboxExit?
        fileprivate var isOpen = true
        fileprivate(set) var sandbox: RunningSandbox?
        fileprivate var token: EventLoop.Token?
        private let reader: Descriptor

        fileprivate init(_ reader: consuming Descriptor, on loop: EventLoop) {
            self.reader = reader
            token = loop.watch(self.reader, .readable) { [unowned self] _ in read(loop) }
        }

        private func read(_ loop: EventLoop) {
            var part: [UInt8] = []
            // A pipe that breaks has ended, as far as its reader is concerned.
            do throws(SystemError) { part = try reader.read(atMost: 1 << 16) } catch {}
            // More than any answer needs is a sandbox that floods us.
            if output.count < 8 << 20 { output += part }
            if part.isEmpty {
                isOpen = false
                loop.forget(token)
                token = nil
            }
        }

        /// Stops it, as a coding agent is stopped during a sealed exam.
        func freeze() throws(SupervisorError) {
            guard !isOver else { return }
            do throws(LauncherError) { try sandbox?.freeze() } catch {
                throw SupervisorError(error)
            }
        }

        /// Lets it go on.
        func thaw() throws(SupervisorError) {
            guard !isOver else { return }
            do throws(LauncherError) { try sandbox?.thaw() } catch { throw SupervisorError(error) }
        }

        /// Whether it is gone and everything it printed has been read.
        var isOver: Bool { exit != nil && !isOpen }
    }

    /// Starts a command in a sandbox of this role.
    func start(
        _ words: [String],
        _ change: (inout SandboxPlan) -> Void = { _ in }
    ) throws(SupervisorError) -> Guest {
        do throws(LauncherError) { return try launch(words, change) } catch {
            throw SupervisorError(error)
        }
    }

    private func launch(
        _ words: [String],
        _ change: (inout SandboxPlan) -> Void
    ) throws(LauncherError) -> Guest {
        var plan = plan
        plan.streams = .pipes
        change(&plan)
        let ends = try Self.ends()
        guard let null = ends.null.take(), let writer = ends.writer.take(),
            let reader = ends.reader.take()
        else { fatalError("boxes that were just filled are full") }
        let guest = Guest(reader, on: site.loop)
        var placements = DescriptorPlacements()
        placements.add(null)
        placements.add(writer)
        placements.add(null)
        for _ in plan.descriptors { placements.add(null) }
        do throws(LauncherError) {
            guest.sandbox = try site.launcher.launch(
                CompiledPlan(plan),
                trees: trees,
                command: words,
                descriptors: placements,
                onExit: { guest.exit = $0 }
            )
        } catch {
            site.loop.forget(guest.token)
            throw error
        }
        return guest
    }

    private struct Ends {
        let null: Descriptor?.Box
        let reader: Descriptor?.Box
        let writer: Descriptor?.Box
    }

    private static func ends() throws(LauncherError) -> Ends {
        do throws(SystemError) {
            var pair = try DescriptorPair.pipe()
            return Ends(
                null: Descriptor?.Box(try Descriptor.open("/dev/null", .readWrite)),
                reader: Descriptor?.Box(pair.takeFirst()),
                writer: Descriptor?.Box(pair.takeSecond())
            )
        } catch {
            throw .host(during: "connect a sandbox", error)
        }
    }

    /// Starts attacks; at most ``wordsALaunch`` words.
    func attack(_ words: [String], _ settings: [String: String]) throws(SupervisorError) -> Guest {
        let own = Self.settings(settings, in: plan)
        let told = own.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try start([Self.program(of: role), "run"] + Self.leniency + told + words) { plan in
            // Some hundred attacks share one sandbox, and one of them tries every port.
            if plan.limits.objects > 0 { plan.limits.objects = CountedCalls.most }
        }
    }

    /// A sandbox that is given no more words than a plan allows.
    static let wordsALaunch = 180

    /// Starts a program that needs a launch of its own.
    func attack(_ load: Load, wall: Milliseconds?) throws(SupervisorError) -> Guest {
        let number = number(of: load, wall: wall)
        let words =
            [Self.program(of: role), "load"] + Self.leniency + [load.rawValue, "\(number)"]
        return try start(words) { plan in
            if let wall { plan.limits.wallClock = wall }
        }
    }

    /// Starts one end of a channel.
    func pair(
        _ words: [String],
        _ settings: [String: String]
    ) throws(SupervisorError) -> Guest {
        var own = Self.settings(settings, in: plan)
        (own["library"], own["pages"]) = (python, python)
        let told = own.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try start([Self.program(of: role), "pair"] + Self.leniency + told + words)
    }

    /// Starts one attack with a mount whose source is being swapped; nothing where the launch is refused.
    func race(
        _ word: String,
        _ settings: [String: String]
    ) throws(SupervisorError) -> Guest? {
        guard let path = settings["race"],
            let device = settings["race-device"].flatMap(UInt64.init),
            let inode = settings["race-inode"].flatMap(UInt64.init)
        else { fatalError("the victims announce a race") }
        let source = PinnedSource(
            path: path + "/data",
            device: device,
            inode: inode,
            isDirectory: true
        )
        let target: InsidePath
        do throws(PlanError) { target = try InsidePath("/race") } catch {
            throw SupervisorError(.hostFailed, error)
        }
        let told = ["role=\(role.label)", "word=\(settings["word"] ?? "")"]
        do throws(LauncherError) {
            return try launch([Self.program(of: role), "run"] + Self.leniency + told + [word]) {
                plan in
                plan.mounts.append(
                    PlannedMount(
                        target: target,
                        source: .host(source),
                        access: .readOnly,
                        isExecutable: false
                    )
                )
                plan.landlock.rules.append(LandlockRule(path: target, access: .read))
            }
        } catch {
            guard case .refused = error else { throw SupervisorError(error) }
            return nil
        }
    }

    /// Starts the honest program.
    func honest() throws(SupervisorError) -> Guest {
        try start([python, "-I", "-S", "-B", "\(Self.view(of: role))/\(Self.honestName)"])
    }

    /// Puts a program of Python's where this role's programs lie.
    func place(program: [UInt8], named name: String) throws(SupervisorError) {
        let folder = role == .coding ? "" : Self.view(of: role).dropFirst() + "/"
        try place(program, folder + name, permissions: 0o644)
    }

    /// Puts a program of Python's where this role's programs lie, and starts it.
    func run(
        _ program: [UInt8],
        named name: String,
        _ words: [String],
        _ change: (inout SandboxPlan) -> Void = { _ in }
    ) throws(SupervisorError) -> Guest {
        try place(program: program, named: name)
        let start = [python, "-I", "-S", "-B", "\(Self.view(of: role))/\(name)"]
        return try self.start(start + words, change)
    }

    // A test-only build that leaves the filter out must say so, or the attacks refuse to start.
    private static var leniency: [String] { Layer.filter.isOmitted ? ["--without-filter"] : [] }

    // MARK: - what attacks are told

    /// How much of something a program takes: a little more than the plan allows.
    func number(of load: Load, wall: Milliseconds?) -> Int {
        let limits = plan.limits
        return switch load {
        case .eat: Int(limits.memory.bytes >> 20) + 64
        case .print: Int(limits.output.bytes >> 20) + 1
        case .takeObjects: Int(limits.objects) + 16
        case .swallowSignals, .stopItself: Int(wall?.count ?? 1000) + 300
        case .leaveDaemon: 300
        }
    }

    /// Everything that attacks are told in a sandbox of this plan.
    static func settings(
        _ settings: [String: String],
        in plan: SandboxPlan
    ) -> [String: String] {
        places(in: plan).merging(settings) { own, _ in own }
    }

    private static func places(in plan: SandboxPlan) -> [String: String] {
        let (role, view) = (plan.role, view(of: plan.role))
        let limits = plan.limits
        let scratch = plan.mounts.first { $0.target.text == "/tmp" }
        var (mebibytes, inodes) = (0, 0)
        if case .tmpfs(let size, let count) = scratch?.source {
            (mebibytes, inodes) = (Int(size.bytes >> 20), Int(count))
        }
        return [
            "role": role.label, "writable": "/tmp", "root-dir": "/", "view-dir": view,
            "program-dir": "/usr/bin", "program": program(of: role),
            "given": "\(view)/\(honestName)",
            "listed": "\(2 + plan.descriptors.count)",
            "most-processes": "\(limits.processes + 64)", "most-disk": "\(mebibytes + 8)",
            "most-inodes": "\(inodes + 64)", "most-files": "\(limits.openFiles + 16)",
            "most-length": "\(limits.fileSize.bytes >> 20 + 64)",
        ]
    }
}

/// What every sandbox must let a program do: compute, write to its scratch space, use threads and
/// children.
enum HonestProgram {
    static let text = """
        import os, subprocess, sys, tempfile, threading
        total = sum(n * n for n in range(1000))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "note")
            with open(path, "w") as file:
                file.write("x" * 4096)
            size = os.stat(path).st_size
        seen = []
        thread = threading.Thread(target=lambda: seen.append(1))
        thread.start()
        thread.join()
        words = [sys.executable, "-I", "-S", "-B", "-c", "print(6 * 7)"]
        answer = subprocess.run(words, capture_output=True, text=True).stdout.strip()
        good = total == 332833500 and size == 4096 and seen == [1] and answer == "42"
        print("honest" if good else f"failed: {total} {size} {seen} {answer}")
        """ + "\n"

    /// What it prints when everything works.
    static let good = "honest\n"
}
