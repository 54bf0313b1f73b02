// The launcher's side of one launch, in the order of the steps; everything is decided by the plan.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// User and group ids of a sandbox, as its first user namespace knows them and as we do.
typealias SandboxUsers = [(inside: UInt32, outside: UInt32)]

/// What one launcher has for all its launches.
final class LaunchSite {
    let loop: EventLoop
    let protected: ProtectedDirectories
    /// What our sandboxes can be at the most: `full` for the host's root; `delegated` for the root of a
    /// user namespace with control groups and users to give away; `single-uid` for anybody else.
    let level: AssuranceLevel
    let hierarchies: ControlGroupHierarchies?
    let supervisor: UInt32
    private var freeGroups: [ControlGroup] = []
    private var network: Held?
    private var ownNetwork: Held?
    private var nextUser: UInt32
    private var trustedPlans: [SHA256Digest] = []

    // Two ids a sandbox: of the host's out of a range that no distribution assigns (systemd, UIDS-GIDS.md),
    // of a user namespace's all but root and those of the host that it does not know (subuid(5)).
    private let users: Range<UInt32>

    init(
        loop: EventLoop,
        protected: ProtectedDirectories,
        supervisor: UInt32
    ) throws(SystemError) {
        self.loop = loop
        self.protected = protected
        let isOrdinary = Identity.effectiveUser != 0
        level = isOrdinary ? .singleUID : try Identity.isHostsNamespace() ? .full : .delegated
        self.supervisor = level == .full ? supervisor : Identity.effectiveUser
        hierarchies = isOrdinary ? nil : try ControlGroupHierarchies.detect()
        users = level == .full ? 0x7010_0000..<0x7ff0_0000 : 2..<0x1_0000
        let offset = try KernelRandom.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        nextUser = offset % UInt32(users.count) & ~1
    }

    /// Two fresh host uids, for init and the payload; the one there is where we are not root.
    func takeUsers() -> SandboxUsers {
        if level < .delegated { return [(inside: InsideIdentity.payload, outside: supervisor)] }
        defer { nextUser = (nextUser + 2) % UInt32(users.count) }
        let first = users.lowerBound + nextUser
        return [(InsideIdentity.initial, first), (InsideIdentity.payload, first + 1)]
    }

    /// Makes the network namespace of the next launch, with its loopback up; one that fails to be made
    /// is made by that launch, which says why it fails.
    func prepareNetwork() {
        guard level == .full, network == nil, !Layer.network.isOmitted else { return }
        do throws(SystemError) {
            if ownNetwork == nil {
                ownNetwork = Held(try Descriptor.openNamespace("net", of: CurrentProcess.pid))
            }
            network = try NewNamespace.make(
                [.user, .network],
                opening: "net",
                inside: CurrentProcess.bringLoopbackUp
            )
        } catch {}
    }

    /// Calls a body in the network namespace that was made ahead, used once, with the plan's endpoint
    /// open in it, or where there is none asks the body to make one; in the host's for a broker.
    func inNetwork<Answer>(
        of plan: SandboxPlan,
        _ body: (_ isReady: Bool, _ endpoint: Held?) throws(SystemError) -> Answer
    ) throws(SystemError) -> Answer {
        guard plan.network != .host else { return try body(true, nil) }
        guard let ready = network, let own = ownNetwork else { return try body(false, nil) }
        network = nil
        try CurrentProcess.enter(ready.descriptor)
        let outcome = Result { () throws(SystemError) in
            try body(true, openEndpoint(of: plan))
        }
        do throws(SystemError) { try CurrentProcess.enter(own.descriptor) } catch {
            // Whoever is in a sandbox's network serves nobody: everything ends with the launcher.
            printError("invigilator-launcher: leave a sandbox's network namespace: \(error)")
            CurrentProcess.exitNow(OneShot.hostFailed)
        }
        return try outcome.get()
    }

    func takeGroup() throws(SystemError) -> ControlGroup {
        guard let hierarchies else { return .none }
        guard let group = freeGroups.popLast() else { return try .acquire(from: hierarchies) }
        group.restartCounting()
        return group
    }

    /// Keeps a leaf for the next launch, or removes it where nothing can be launched into it.
    func giveBack(_ group: ControlGroup) {
        guard group.isSpent || group.isNone else { return freeGroups.append(group) }
        // A leaf that will not go is swept by the next launcher; no launch of ours takes it again.
        do throws(SystemError) { try group.remove() } catch {}
    }

    /// Removes every leaf of ours.
    func removeGroups() throws(SystemError) {
        for group in freeGroups {
            // What the kernel still counts in a leaf is gone soon; the next sweep removes it.
            do throws(SystemError) { try group.remove() } catch  where error.isBusy {}
        }
        freeGroups = []
    }

    /// Decodes a plan and checks every compiled-in rule, once for each plan, and that the kernel is new
    /// enough for it: before anything is made, because an older one lacks more than Landlock.
    func checked(_ compiled: CompiledPlan) throws(LaunchFailure) -> SandboxPlan {
        let plan = try checking { () throws(PlanError) in
            let plan = try compiled.plan()
            guard !trustedPlans.contains(compiled.digest) else { return plan }
            try PlanInvariants.check(plan)
            trustedPlans.append(compiled.digest)
            return plan
        }
        guard plan.demandedLevel <= level else {
            let reason = "this launcher reaches \(level.name): it is not started by the host's root"
            let cure = "run as root, or demand less in the policy, to train and demonstrate only"
            throw LaunchFailure("assurance \(plan.demandedLevel.name)", reason, cure)
        }
        guard LandlockRuleset.version >= Int(plan.landlock.minimumABI) else {
            let place = "minimum ABI \(plan.landlock.minimumABI)"
            let reason = "this kernel has Landlock ABI \(LandlockRuleset.kernelVersion)"
            let remedy = "use a newer kernel, or lower landlock.minimum-abi in the policy"
            throw LaunchFailure(place, reason, remedy, at: .landlock)
        }
        return plan
    }
}

/// One launch from request to running payload.
struct Launch {
    let site: LaunchSite
    let request: LaunchRequest
    let trees: [HeldTree]
    /// Standard input, output and error of the client, then the slots.
    let client: [Held]
    /// Times the steps.
    var clock = StepClock()
    /// The plan's endpoint, once it was opened; a launcher of one sandbox opens none, because nobody
    /// would answer.
    private(set) var endpoint: Held?

    /// Carries the launch out.
    ///
    /// - Parameter onGone: called once, when every process of the sandbox is gone.
    /// - Returns: the running sandbox and how long each step took.
    /// - Throws: `LaunchFailure` naming the step; nothing is left of the sandbox then.
    mutating func run(
        onGone: @escaping (Sandbox, SandboxExit) -> Void
    ) throws(LaunchFailure) -> (sandbox: Sandbox, steps: [StepTime]) {
        let plan = try site.checked(request.plan)
        let command = try chosenCommand(plan)
        guard client.count == 3 + plan.descriptors.count else {
            let reason = "\(client.count) came, the plan lists 3 and \(plan.descriptors.count)"
            let cure = "send standard streams and one descriptor for each slot"
            throw LaunchFailure("descriptors", reason, cure)
        }
        try claimTrees(for: plan.role)
        clock.finish(.check)
        let group = try attempt(.group, "control group") { () throws(SystemError) in
            try site.takeGroup()
        }
        do throws(LaunchFailure) {
            try attempt(.group, "limits") { () throws(SystemError) in
                if !Layer.limits.isOmitted { try group.set(ControlGroupLimits(plan.limits)) }
                try group.prepareEntry()
            }
            clock.finish(.group)
            let outputs = try attempt(.clone, "client's streams") { () throws(SystemError) in
                try client[1..<3].map { end throws(SystemError) in
                    Held(try end.descriptor.writerThatNeverWaits())
                }
            }
            let users = site.takeUsers()
            let started = try clone(plan, command, group, users)
            started.user = users[users.count - 1].outside
            let steps = try confirm(started, plan, users, group)
            endpoint = endpoint ?? started.endpoint
            let sandbox = Sandbox(request.id, site.loop, plan, started, group, onGone)
            sandbox.watch(input: client[0], outputs: outputs)
            return (sandbox, clock.times + steps)
        } catch {
            site.giveBack(group)
            throw error
        }
    }

    // One superblock for two roles would be a channel between them, and one tree under two targets
    // would make a read-only one writable.
    private func claimTrees(for role: SandboxRole) throws(LaunchFailure) {
        for (index, tree) in trees.enumerated() {
            guard tree.role ?? role == role, !trees[..<index].contains(where: { $0 === tree })
            else {
                let reason = "it was shown to another role, or is named twice"
                throw LaunchFailure("tree \(index)", reason, "make one for each role and mount")
            }
        }
        for tree in trees { tree.role = role }
    }

    private func chosenCommand(_ plan: SandboxPlan) throws(LaunchFailure) -> [String] {
        guard plan.command.isEmpty != request.command.isEmpty else {
            let reason = plan.command.isEmpty ? "there is none" : "the plan fixes it"
            let cure = "name a program where the plan leaves it open, and only there"
            throw LaunchFailure("command", reason, cure)
        }
        let command = plan.command + request.command
        guard command[0].hasPrefix("/") else {
            throw LaunchFailure("command", "\(command[0]) is not absolute", "write its path inside")
        }
        return command
    }

    // Every end that belongs to the child dies with this function's locals, so that the launcher
    // sees an end of file when the child is gone.
    private mutating func clone(
        _ plan: SandboxPlan,
        _ command: [String],
        _ group: ControlGroup,
        _ users: SandboxUsers
    ) throws(LaunchFailure) -> StartedInit {
        let map = users.count > 1 ? OwnerMap(from: site.supervisor, to: users[1].outside) : nil
        let opener = SourceOpener(site: site, trees: trees, ownerMap: map)
        let rootTree = try opener.openRoot(plan)
        var sources = try opener.openMounts(plan)
        var plan = plan
        #if LayerSwitches
        try opener.expose(in: &plan, &sources)
        #endif
        clock.finish(.sources)
        let slots = Array(client.dropFirst(3))
        let site = site
        let started = try attempt(.clone, "namespaces") { () throws(SystemError) in
            let ends = try StreamEnds(plan.streams)
            let devices = try HeldTree.devices(of: plan, at: site.level)
            let control = try SharedPair.messageSockets()
            return try site.inNetwork(of: plan) { isReady, endpoint throws(SystemError) in
                self.endpoint = endpoint
                let context = InitContext(
                    plan: plan,
                    command: command,
                    window: request.window,
                    group: group,
                    rootTree: rootTree,
                    sources: sources,
                    devices: devices,
                    control: control.second,
                    streams: ends.inside,
                    slots: slots,
                    hasNetwork: isReady,
                    level: site.level
                )
                switch try ChildProcess.clone(Self.namespaces(isReady, site.level), into: group) {
                case .child: context.run()
                case .parent(let child):
                    return StartedInit(child: child, control: control.first, streams: ends.outside)
                }
            }
        }
        clock.finish(.clone)
        return started
    }

    private static func namespaces(
        _ hasNetwork: Bool,
        _ level: AssuranceLevel
    ) -> NamespaceKinds {
        var kinds: NamespaceKinds = [.user, .mount, .hostName]
        if !Layer.pid.isOmitted { kinds.insert(.pid) }
        // In a user namespace init makes it, which owns its files then.
        if !Layer.network.isOmitted, !hasNetwork, level != .delegated { kinds.insert(.network) }
        if !Layer.ipc.isOmitted { kinds.insert(.ipc) }
        return kinds
    }

    // Writes the id maps, lets init go on, and waits for its word that the program runs. Where there
    // is no such word, nothing of the sandbox stays.
    private func confirm(
        _ started: StartedInit,
        _ plan: SandboxPlan,
        _ users: SandboxUsers,
        _ group: ControlGroup
    ) throws(LaunchFailure) -> [StepTime] {
        do throws(LaunchFailure) {
            let files = try attempt(.identity, "id maps") { () throws(SystemError) in
                try Identity.writeMaps(of: started.child.pid, users)
                let files = try networkFiles(started, plan)
                try started.letGoOn()
                return files
            }
            // Init builds the root meanwhile.
            if let files { try close(files, of: started) }
            let bytes = try attempt(.identity, "id maps") { () throws(SystemError) in
                try started.letGoOn()
                return try started.awaitRecord()
            }
            switch ControlRecord.read(bytes) {
            case .running(let steps): return steps
            case .failed(let failure): throw failure
            case .ended, .denied, nil: throw .endedUnsaid(.clone, "init")
            }
        } catch {
            try attempt(.clone, "removal of a failed sandbox") { () throws(SystemError) in
                try started.child.kill()
                _ = try started.child.wait()
                try group.waitUntilEmpty()
            }
            throw error
        }
    }

    // Through our procfs: the files belong to the host's root, whom no sandbox knows. In a user namespace
    // init makes the network and closes them itself; with one user the payload would be their owner.
    private func networkFiles(
        _ started: StartedInit,
        _ plan: SandboxPlan
    ) throws(SystemError) -> NetworkFiles? {
        guard site.level == .full, plan.network != .host, !Layer.network.isOmitted else {
            return nil
        }
        return try NetworkFiles(of: started.child.pid)
    }

    private func close(
        _ files: NetworkFiles,
        of started: StartedInit
    ) throws(LaunchFailure) {
        do throws(LaunchFailure) { try files.close() } catch {
            // An init that ended has no network any more, and has said why it ended.
            if case .failed(let first) = started.lastWord() { throw first }
            throw error
        }
    }
}

/// A cloned init with our ends of what connects us to it.
final class StartedInit {
    let child: ChildProcess
    let control: Held
    let beginning = MonotonicTime.now
    private var streams: Sandbox.Streams?
    /// The host's user that the payload is.
    var user: UInt32 = 0
    /// The plan's endpoint, where init opened it: as a Unix socket always, on TCP where we cannot.
    private(set) var endpoint: Held?

    init(child: consuming ChildProcess, control: Held, streams: Sandbox.Streams?) {
        self.child = child
        self.control = control
        self.streams = streams
    }

    /// Hands the streams over, so that the payload's input ends when its new owner closes it.
    func takeStreams() -> Sandbox.Streams? {
        streams.take()
    }

    // Ten seconds: a launch takes milliseconds, and a stuck one must not stop the others for ever.
    private static let patience = Nanoseconds.milliseconds(10_000)

    /// Lets init go on to where it waits next: for its id maps, and before the payload for its network.
    func letGoOn() throws(SystemError) {
        // An init that has failed already closed its end; what it said is still to be read.
        do throws(SystemError) { try control.descriptor.send([1]) } catch
            where error.isDisconnected
        {}
    }

    /// What an init said that goes no further, if it did.
    func lastWord() -> ControlRecord? {
        do throws(SystemError) { return ControlRecord.read(try received().bytes) } catch {
            return nil
        }
    }

    /// The first record of init, with the master of a terminal; empty if init ended without one.
    func awaitRecord() throws(SystemError) -> [UInt8] {
        let loop = EventLoop()
        var isReady = false
        let token = loop.watch(control.descriptor, .readable) { _ in isReady = true }
        try loop.turn(atMost: Self.patience)
        loop.forget(token)
        guard isReady else { return [] }
        var message = try received()
        let bytes = message.bytes
        if streams == nil, let master = message.takeDescriptor() {
            try master.setNonBlocking(true)
            let held = Held(master)
            streams = Sandbox.Streams(input: held, output: held, errors: nil, isTerminal: true)
        }
        if let listener = message.takeDescriptor() { endpoint = Held(listener) }
        return bytes
    }

    // An end that closed with our message unread reports that once, before what it had sent itself
    // (unix(7), ECONNRESET).
    private func received() throws(SystemError) -> ReceivedMessage {
        do throws(SystemError) {
            return try control.descriptor.receive(isWaiting: false)
        } catch  where error.isDisconnected {
            return try control.descriptor.receive(isWaiting: false)
        }
    }
}

extension ControlGroupLimits {
    init(_ limits: SandboxLimits) {
        self.init(
            memory: limits.memory.bytes,
            processes: limits.processes,
            cpuPercent: limits.cpuPercent
        )
    }
}
