// The resident form: one thread serves one supervisor over one socket, and dies with it.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// Serves the requests of one supervisor until it goes away.
final class ResidentLauncher {
    private let channel: Held
    private let site: LaunchSite
    private var trees: [UInt32: HeldTree] = [:]
    private var sandboxes: [UInt32: Sandbox] = [:]
    // Gone, but for output that their clients have not taken yet.
    private var flushing: [Sandbox] = []
    // The newest table of refused calls that each sandbox told while the supervisor did not read.
    private var missed: [UInt32: [UInt8]] = [:]
    private var isDone = false

    // Sandboxes and trees, each.
    private static let maximum = 256
    /// The directory under which the trees hang in the launcher's own mount namespace, because Linux
    /// before 6.15 clones no mount that is attached nowhere: in sysfs, of which nothing is a source.
    static let yard = "/sys/kernel"

    init(channel: Held, site: LaunchSite) {
        self.channel = channel
        self.site = site
    }

    /// Runs until the supervisor closes the channel or a signal asks for the end; then kills every
    /// sandbox, waits until each is gone, and removes the groups.
    func serve() throws(SystemError) {
        // A session of its own: the key that interrupts a terminal's programs is the supervisor's to
        // answer, which ends the run in order and then the launcher by closing the channel.
        try CurrentProcess.startSession()
        let signals = try SignalDescriptor([1, 2, 15])  // SIGHUP, SIGINT, SIGTERM
        let signalToken = site.loop.watch(signals.descriptor, .readable) { [unowned self] _ in
            isDone = true
        }
        let channelToken = site.loop.watch(channel.descriptor, .readable) { [unowned self] _ in
            receive()
        }
        site.prepareNetwork()
        reply(.ready(hasLayerSwitches: LayerSwitches.exist))
        try site.loop.run(until: { isDone })
        site.loop.forget(channelToken)
        site.loop.forget(signalToken)
        for sandbox in sandboxes.values { sandbox.kill() }
        try site.loop.run(until: { sandboxes.isEmpty })
        try site.removeGroups()
    }

    private func receive() {
        do throws(SystemError) {
            var message = try channel.descriptor.receive(isWaiting: false)
            guard !message.bytes.isEmpty else {
                isDone = true
                return
            }
            var descriptors: [Held] = []
            while let descriptor = message.takeDescriptor() {
                descriptors.append(Held(descriptor))
            }
            answer(message.bytes, descriptors)
        } catch {
            if !error.isWouldBlock { isDone = true }
        }
    }

    private func answer(_ bytes: [UInt8], _ descriptors: [Held]) {
        do throws(LaunchFailure) {
            let request = try checking { () throws(PlanError) in
                try LauncherRequest(bytes: bytes)
            }
            perform(request, descriptors)
        } catch {
            reply(.refused(id: 0, error))
        }
    }

    private func perform(_ request: LauncherRequest, _ descriptors: [Held]) {
        switch request {
        case .makeTree(let id, let size, let inodes): makeTree(id, size, inodes)
        case .dropTree(let id): carryOut(id, .root) { () throws(SystemError) in try dropTree(id) }
        case .launch(let launch): start(launch, descriptors)
        case .freeze(let id): control(id) { sandbox throws(SystemError) in try sandbox.freeze() }
        case .thaw(let id): control(id) { sandbox throws(SystemError) in try sandbox.thaw() }
        case .kill(let id): control(id) { sandbox in sandbox.kill() }
        case .resize(let id, let window):
            control(id) { sandbox throws(SystemError) in try sandbox.resize(window) }
        }
    }

    // The tree belongs to the supervisor; inside it is shown as the sandbox's by an id-mapped mount.
    private func makeTree(_ id: UInt32, _ size: ByteCount, _ inodes: UInt32) {
        do throws(LaunchFailure) {
            guard trees[id] == nil, trees.count < Self.maximum else {
                throw LaunchFailure("tree \(id)", "it exists, or there are too many", "drop some")
            }
            let owner = "\(site.supervisor)"
            let (tree, directory) = try attempt(.root, "tree \(id)") { () throws(SystemError) in
                let tree = HeldTree(
                    try MountTree.make(
                        "tmpfs",
                        [
                            ("size", "\(size.bytes)"), ("nr_inodes", "\(inodes)"),
                            ("mode", "0755"), ("uid", owner), ("gid", owner),
                        ],
                        [.noSetUID, .noDevices]
                    )
                )
                let yard = try Descriptor.open(Self.yard, [.directory])
                try yard.makeDirectory("\(id)")
                try tree.tree.attach(to: "\(id)", in: yard)
                return (tree, Held(try tree.tree.root.openInside("/", [.directory])))
            }
            trees[id] = tree
            reply(.treeMade(id: id), with: directory)
        } catch {
            reply(.refused(id: id, error))
        }
    }

    private func dropTree(_ id: UInt32) throws(SystemError) {
        guard trees.removeValue(forKey: id) != nil else { return }
        try MountNamespace.detach("\(Self.yard)/\(id)")
        try Descriptor.open(Self.yard, [.directory]).remove("\(id)", isDirectory: true)
    }

    private func start(_ request: LaunchRequest, _ descriptors: [Held]) {
        do throws(LaunchFailure) {
            guard sandboxes[request.id] == nil, sandboxes.count < Self.maximum else {
                let place = "sandbox \(request.id)"
                throw LaunchFailure(place, "it exists, or there are too many", "wait for an end")
            }
            let named = try request.trees.map { id throws(LaunchFailure) in
                guard let tree = trees[id] else {
                    throw LaunchFailure("tree \(id)", "there is none", "make the tree first")
                }
                return tree
            }
            var launch = Launch(site: site, request: request, trees: named, client: descriptors)
            let running = try launch.run { [unowned self] sandbox, exit in gone(sandbox, exit) }
            sandboxes[request.id] = running.sandbox
            running.sandbox.onDenied = { [unowned self] in tell(request.id, $0) }
            running.sandbox.onEnded = { [unowned self] in reply(.ended(id: request.id)) }
            let (user, steps) = (running.sandbox.user, running.steps)
            reply(.launched(id: request.id, user: user, steps: steps), with: launch.endpoint)
            // While the sandbox runs and nobody waits for us.
            site.prepareNetwork()
        } catch {
            site.prepareNetwork()
            reply(.refused(id: request.id, error))
        }
    }

    private func gone(_ sandbox: Sandbox, _ exit: SandboxExit) {
        sandboxes[sandbox.id] = nil
        flushing.removeAll { $0.isFlushed }
        if !sandbox.isFlushed { flushing.append(sandbox) }
        site.giveBack(sandbox.group)
        if let table = missed.removeValue(forKey: sandbox.id) {
            reply(.denied(id: sandbox.id, table))
        }
        reply(.exited(id: sandbox.id, exit))
    }

    // Payloads send tables of refused calls as long as they like, and must not have us wait for a
    // supervisor that does not read: it misses some, of which the next holds all, and the last comes with
    // the sandbox's end.
    private func tell(_ id: UInt32, _ table: [UInt8]) {
        let hasRoom = channel.descriptor.hasRoom
        missed[id] = hasRoom ? nil : table
        if hasRoom { reply(.denied(id: id, table)) }
    }

    private func control(_ id: UInt32, _ body: (Sandbox) throws(SystemError) -> Void) {
        carryOut(id, .group) { () throws(SystemError) in
            // Where it has just ended, its exit is on the way, and there is nothing left to act on.
            if let sandbox = sandboxes[id] { try body(sandbox) }
        }
    }

    private func carryOut(_ id: UInt32, _ step: SetupStep, _ body: () throws(SystemError) -> Void) {
        do throws(LaunchFailure) {
            try attempt(step, "\(id)", body)
            reply(.done(id: id))
        } catch {
            reply(.refused(id: id, error))
        }
    }

    private func reply(_ reply: LauncherReply, with descriptor: Held? = nil) {
        var placements = DescriptorPlacements()
        if let descriptor { placements.add(descriptor.descriptor) }
        // A supervisor that cannot be told is gone; the loop ends and takes every sandbox along.
        do throws(SystemError) {
            try channel.descriptor.send(reply.bytes, with: placements)
        } catch {
            isDone = true
        }
    }
}
