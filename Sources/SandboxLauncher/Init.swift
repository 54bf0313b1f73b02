// PID 1 of a sandbox: builds what the payload will see, starts it, reaps, reports.
//
// Order: group (before the control-group namespace, or the group's name would show inside); every
// descriptor that this sandbox does not need is closed (the launcher's copy has those of other
// sandboxes); the model's socket in the sandbox's `/dev`; the id maps; loopback and host name; the root; pivot; reading back; the payload; and
// then no capability. Init is static code of ours that reads nothing from the payload.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// What init inherits from the launcher through the clone.
struct InitContext {
    let plan: SandboxPlan
    let command: [String]
    let window: WindowSize
    let group: ControlGroup
    let rootTree: HeldTree?
    let sources: [HeldTree?]
    let devices: HeldTree
    /// Our end of the private socket to the launcher.
    let control: Held
    /// Standard streams, unless a terminal is made inside.
    let streams: [Held]
    let slots: [Held]
    /// Whether the network namespace was made ahead, with its loopback up.
    let hasNetwork: Bool
    /// The launcher's; below `delegated` init and payload are one user, and there is no group.
    let level: AssuranceLevel

    /// Runs as PID 1; never returns into the launcher's code.
    func run() -> Never {
        var clock = StepClock()
        do throws(LaunchFailure) {
            try enterGroup()
            let socket = try openModelSocket()
            try takeIdentity(&clock)
            let (procfs, master) = try buildRoot(&clock)
            try superviseInside(procfs, master, socket, &clock)
        } catch {
            // The launcher sees the closed socket if even this cannot be said.
            do throws(SystemError) {
                try control.descriptor.send(ControlRecord.failed(error).bytes)
            } catch {}
        }
        CurrentProcess.exitNow(1)
    }

    private func enterGroup() throws(LaunchFailure) {
        try attempt(.group, "joining the control group") { () throws(SystemError) in
            if !Layer.limits.isOmitted { try group.enter() }
            try CurrentProcess.unshare([.controlGroup])
            var kept = DescriptorPlacements()
            kept.add(control.descriptor)
            kept.add(devices.tree.root)
            for held in streams + slots { kept.add(held.descriptor) }
            if let rootTree { kept.add(rootTree.tree.root) }
            for source in sources { if let source { kept.add(source.tree.root) } }
            if !Layer.descriptors.isOmitted { try DescriptorTable.closeAll(but: kept) }
        }
    }

    // While we are still the launcher's user, who made the sandbox's `/dev` and owns it.
    private func openModelSocket() throws(LaunchFailure) -> Held? {
        guard plan.network == .modelSocket else { return nil }
        return try attempt(.devices, "/dev/\(NetworkView.socketName)") { () throws(SystemError) in
            Held(try devices.tree.root.listen(at: NetworkView.socketName))
        }
    }

    private func takeIdentity(_ clock: inout StepClock) throws(LaunchFailure) {
        try attempt(.identity, "id maps") { () throws(SystemError) in
            try awaitPermission()
            let isOne = level < .delegated
            let user = isOne ? InsideIdentity.payload : InsideIdentity.initial
            try Identity.become(uid: user, gid: user, dropsGroups: !isOne)
            try CurrentProcess.dieWithParent()
            if !Layer.network.isOmitted, !hasNetwork {
                if level == .delegated { try CurrentProcess.unshare([.network]) }
                try CurrentProcess.bringLoopbackUp()
            }
            try CurrentProcess.setHostName("sandbox")
        }
        // Made after the id maps, its files are ours, and the payload is another user.
        if level == .delegated, !hasNetwork, !Layer.network.isOmitted {
            let files = try attempt(.proc, "/proc/self/net") { () throws(SystemError) in
                try NetworkFiles(in: "/proc/self/net")
            }
            try files.close()
        }
        clock.finish(.identity)
    }

    // The launcher's word; without one it has failed, or is gone.
    private func awaitPermission() throws(SystemError) {
        guard try !control.descriptor.receive().bytes.isEmpty else { CurrentProcess.exitNow(1) }
    }

    private func buildRoot(
        _ clock: inout StepClock
    ) throws(LaunchFailure) -> (procfs: Held, master: Held?) {
        let builder = try attempt(.root, "root") { () throws(SystemError) in
            try MountNamespace.makePrivate()
            let builder = try RootBuilder(self)
            try builder.fillSkeleton()
            return builder
        }
        clock.finish(.root)
        try builder.attachMounts()
        clock.finish(.mounts)
        let procfs = try attempt(.proc, "procfs") { () throws(SystemError) in
            try builder.mountProc()
        }
        clock.finish(.proc)
        let master = try attempt(.devices, "devices") { () throws(SystemError) in
            let master = try builder.mountDevices()
            try builder.seal()
            return master
        }
        clock.finish(.devices)
        try attempt(.pivot, "new root") { () throws(SystemError) in
            try MountNamespace.pivot(into: builder.root.descriptor)
        }
        clock.finish(.pivot)
        try verifyMounts()
        clock.finish(.verification)
        return (procfs, master)
    }

    // Asks the kernel what each mount became, by the path the payload will use.
    private func verifyMounts() throws(LaunchFailure) {
        guard !Layer.readOnlyMounts.isOmitted else { return }
        try verify("/", isReadOnly: true, isExecutable: true)
        if plan.proc != .none { try verify("/proc", isReadOnly: false, isExecutable: false) }
        for mount in plan.mounts {
            try verify(
                mount.target.text,
                isReadOnly: mount.access == .readOnly,
                isExecutable: mount.isExecutable
            )
        }
        guard case .masked = plan.proc, !Layer.pid.isOmitted else { return }
        let places = try attempt(.verification, "/proc") { () throws(SystemError) in
            try RootBuilder.hostPlaces(in: .openWithoutLinks("/proc", [.read, .directory]))
        }
        // Procfs itself is writable: only a cover is read-only.
        for place in places {
            try verify("/proc/\(place.name)", isReadOnly: true, isExecutable: false)
        }
    }

    private func verify(
        _ path: String,
        isReadOnly: Bool,
        isExecutable: Bool
    ) throws(LaunchFailure) {
        let status = try attempt(.verification, path) { () throws(SystemError) in
            try MountStatus(of: Descriptor.openWithoutLinks(path, [.path]))
        }
        guard status.ignoresSetUID, status.refusesDevices, status.isReadOnly || !isReadOnly,
            status.refusesExecution || isExecutable
        else {
            let remedy = "report this: a mount has not the flags that were set"
            throw LaunchFailure(path, "the kernel reports \(status)", remedy, at: .verification)
        }
    }

    private func superviseInside(
        _ procfs: Held,
        _ master: Held?,
        _ socket: Held?,
        _ clock: inout StepClock
    ) throws(LaunchFailure) {
        try attempt(.payload, "files of the network") { () throws(SystemError) in
            try awaitPermission()
        }
        // Before the payload, which could take its port. Only root's launcher comes back from a network
        // that it entered, and opens the endpoint itself.
        let endpoint = try attempt(.payload, "endpoint") { () throws(SystemError) in
            socket != nil || level == .full ? socket : try openEndpoint(of: plan)
        }
        let start = try attempt(.payload, "payload") { () throws(SystemError) in
            try startPayload(procfs, master)
        }
        clock.finish(.payload)
        try attempt(.payload, "descriptors of init") { () throws(SystemError) in
            var kept = DescriptorPlacements()
            kept.add(control.descriptor)
            kept.add(start.report.descriptor)
            for held in [master, endpoint] { if let held { kept.add(held.descriptor) } }
            try DescriptorTable.closeAll(but: kept)
        }
        let listener = try check(start.report)
        clock.finish(.execution)
        let steps = clock.times
        let end = try attempt(.execution, "supervision") { () throws(SystemError) in
            var message = DescriptorPlacements()
            for held in [master, endpoint] { if let held { message.add(held.descriptor) } }
            try control.descriptor.send(ControlRecord.running(steps).bytes, with: message)
            withExtendedLifetime(endpoint) {}
            return try reap(start.pid, CallListener(plan, listener, control))
        }
        try attempt(.execution, "report") { () throws(SystemError) in
            try control.descriptor.send(ControlRecord.ended(end).bytes)
        }
        CurrentProcess.exitNow(0)
    }

    // The payload says that it is about to start its program, which closes its end of the report; the
    // listener of a filter that tells comes along.
    private func check(_ report: Held) throws(LaunchFailure) -> Held? {
        let (listener, records) = try attempt(.payload, "report") { () throws(SystemError) in
            var first = try report.descriptor.receive()
            let word = ControlRecord.read(first.bytes)
            var listener: Held?
            if let handed = first.takeDescriptor() { listener = Held(handed) }
            return (listener, (word, ControlRecord.read(try report.descriptor.receive().bytes)))
        }
        switch records {
        case (.running, nil): return listener
        case (.failed(let failure), _), (_, .failed(let failure)): throw failure
        default: throw .endedUnsaid(.payload, "payload")
        }
    }

    private func startPayload(
        _ procfs: Held,
        _ master: Held?
    ) throws(SystemError) -> (pid: Int32, report: Held) {
        let reports = try SharedPair.messageSockets()
        let permissions = try SharedPair.messageSockets()
        let payload = Payload(
            plan: plan,
            command: command,
            streams: try payloadStreams(master),
            slots: slots,
            report: Held(try reports.second.descriptor.duplicate(atLeast: 64)),
            permission: permissions.second,
            procfs: procfs,
            hasGroup: level >= .delegated
        )
        // A process that changed its uid is not dumpable, its /proc files belong to the host's root,
        // and we could not write our child's id maps (proc(5), /proc/PID).
        try CurrentProcess.setDumpable(true)
        let namespaces: NamespaceKinds = Layer.payloadNamespace.isOmitted ? [] : [.user, .mount]
        switch try ChildProcess.clone(namespaces) {
        case .child:
            payload.run()
        case .parent(let child):
            if !Layer.payloadNamespace.isOmitted {
                let uid = InsideIdentity.payload
                try Identity.writeMaps(
                    of: child.pid,
                    [(inside: uid, outside: uid)],
                    in: procfs.descriptor
                )
            }
            try CurrentProcess.setDumpable(false)
            try Identity.confine(keeping: [], emptiesBounding: false)
            try permissions.first.descriptor.send([1])
            return (child.pid, reports.first)
        }
    }

    private func payloadStreams(_ master: Held?) throws(SystemError) -> [Held] {
        guard let master else { return streams }
        // Now, because the payload may ask for it first thing.
        try window.set(on: master)
        let terminal = Held(try PseudoTerminal.openPeer(of: master.descriptor))
        return [terminal, terminal, terminal]
    }

    // Orphans come to us; the payload's own end is what counts. When we exit, the kernel kills the rest.
    private func reap(_ payload: Int32, _ calls: CallListener) throws(SystemError) -> ProcessEnd {
        let signals = try SignalDescriptor([17])  // SIGCHLD
        // Read before the children, of which several may have ended for one signal.
        _ = calls.loop.watch(signals.descriptor, .readable) { _ in }
        while true {
            _ = try signals.next()
            while case let end = try ProcessEnd.wait(for: -1, once: true), end.pid != 0 {
                guard end.pid == payload else { continue }
                calls.tell()
                return end
            }
            try calls.loop.turn(atMost: nil)
        }
    }
}
