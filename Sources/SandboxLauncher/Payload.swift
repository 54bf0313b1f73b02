// The last process before the payload's program, already inside the new root.
//
// Order: session and terminal; descriptors and limits (before credentials, because a limit may be
// lowered only); id, capabilities, securebits, no_new_privs; reading all of it back; Landlock (needs
// to open paths); the filter; the program. Everything after the filter must be a call it allows.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

struct Payload {
    let plan: SandboxPlan
    let command: [String]
    let streams: [Held]
    let slots: [Held]
    /// Told when every step but the last is done, and what fails; closed by the exec.
    let report: Held
    /// Readable once init has written our id maps.
    let permission: Held
    /// A procfs that knows us; closed with every other descriptor before the program starts.
    let procfs: Held
    /// Whether a control group limits it.
    let hasGroup: Bool

    /// Carries the steps out; reports the first failure and exits.
    func run() -> Never {
        do throws(LaunchFailure) {
            try confineAndExecute()
        } catch {
            // If even the report cannot be written, init sees the exit and reports that.
            do throws(SystemError) {
                try report.descriptor.send(ControlRecord.failed(error).bytes)
            } catch {}
            CurrentProcess.exitNow(127)
        }
    }

    private func confineAndExecute() throws(LaunchFailure) -> Never {
        try attempt(.payload, "id maps of the payload") { () throws(SystemError) in
            _ = try permission.descriptor.receive()
            try CurrentProcess.startSession()
            if plan.streams == .terminal { try PseudoTerminal.control(streams[0].descriptor) }
        }
        let status = try attempt(.limits, "descriptors and limits") { () throws(SystemError) in
            let status = try ownStatus()
            try arrangeDescriptors(keeping: status)
            try setLimits()
            return status
        }
        try attempt(.credentials, "uid \(InsideIdentity.payload)") { () throws(SystemError) in
            try becomePayload()
        }
        try verifyCredentials(status)
        try restrictFiles()
        try attempt(.execution, command.first ?? "command") { () throws(SystemError) in
            try CurrentProcess.resetSignals()
            try loadFilter()
            try CurrentProcess.execute(
                command[0],
                arguments: command,
                environment: plan.environment.map { "\($0.name)=\($0.value)" }
            )
        }
        fatalError("execute returns only errors")
    }

    // The end of the report alone would not tell a program that runs from a process that died. A filter
    // that tells lets a message through, with which init gets its listener; ours is closed by the exec.
    private func loadFilter() throws(SystemError) {
        let isTelling = plan.filter.isTelling && !Layer.filter.isOmitted
        let word = ControlRecord.running([]).bytes
        if !isTelling { try report.descriptor.send(word) }
        guard !Layer.filter.isOmitted else { return }
        guard let listener = try SystemCallFilter.load(plan.filter.bytes, tells: isTelling)
        else { return }
        var handed = DescriptorPlacements()
        handed.add(listener)
        try report.descriptor.send(word, with: handed)
    }

    // Read when all is done; a file of procfs says what is true when it is read.
    private func ownStatus() throws(SystemError) -> Held {
        let status = try procfs.descriptor.openBeneath("\(CurrentProcess.pid)/status", [.read])
        return Held(try status.duplicate(atLeast: 64))
    }

    // The report and our status stay open above the slots, close-on-exec as every descriptor of ours is.
    private func arrangeDescriptors(keeping status: Held) throws(SystemError) {
        var placements = DescriptorPlacements()
        for (number, stream) in streams.enumerated() {
            placements.add(stream.descriptor, at: Int32(number))
        }
        for (slot, held) in zip(plan.descriptors, slots) {
            placements.add(held.descriptor, at: Int32(slot.number))
        }
        var kept = DescriptorPlacements()
        for held in [report, status] { kept.add(held.descriptor) }
        try DescriptorTable.arrange(
            placements,
            keeping: kept,
            closesOthers: !Layer.descriptors.isOmitted
        )
    }

    private func setLimits() throws(SystemError) {
        try ProcessLimit.core.set(0)
        try ProcessLimit.openFiles.set(UInt64(plan.limits.openFiles))
        try ProcessLimit.fileSize.set(plan.limits.fileSize.bytes)
        try ProcessLimit.lockedMemory.set(1 << 16)
        try ProcessLimit.messageQueues.set(0)
        if !Layer.limits.isOmitted {
            try ProcessLimit.pendingSignals.set(SandboxLimits.pendingSignals)
        }
        guard !hasGroup else { return }
        // A group counts init, too.
        try ProcessLimit.processes.set(UInt64(plan.limits.processes) - 1)
        try ProcessLimit.memory.set(plan.limits.memory.bytes)
        if let span = plan.limits.cpuTime {
            try ProcessLimit.cpuTime.set((span.count + 999) / 1000)
        }
    }

    private func becomePayload() throws(SystemError) {
        let uid = InsideIdentity.payload
        // In a user namespace of its own the payload keeps its capabilities when it changes user.
        let isOuter = Layer.payloadNamespace.isOmitted
        if !isOuter || Layer.capabilities.isOmitted {
            try Identity.become(uid: uid, gid: uid, dropsGroups: isOuter)
        }
        if Layer.capabilities.isOmitted {
            try Identity.setNoNewPrivileges()
        } else {
            try Identity.confine(keeping: [], becoming: isOuter ? uid : nil)
        }
        try CurrentProcess.setDumpable(false)
        try CurrentProcess.dieWithParent()
        CurrentProcess.setMask(0o022)
        try CurrentProcess.changeDirectory(plan.workingDirectory.text)
    }

    private func verifyCredentials(_ status: Held) throws(LaunchFailure) {
        guard !Layer.capabilities.isOmitted else { return }
        let uid = InsideIdentity.payload
        let facts = try attempt(.credentials, "reading back") { () throws(SystemError) in
            (
                isUser: try Identity.isExactly(uid: uid, gid: uid),
                missing: try Identity.missingWalls(in: status.descriptor),
                core: try ProcessLimit.core.get()
            )
        }
        guard facts.isUser, facts.missing.isEmpty, facts.core == 0 else {
            let remedy = "report this: the kernel did not do what it was asked"
            throw LaunchFailure("reading back", "\(facts)", remedy, at: .credentials)
        }
    }

    private func restrictFiles() throws(LaunchFailure) {
        guard !Layer.landlock.isOmitted else { return }
        try attempt(.landlock, "rules") { () throws(SystemError) in
            let wall = plan.landlock
            let ruleset = try LandlockRuleset(minimum: wall.minimumABI, allowsTCP: wall.allowsTCP)
            for rule in wall.rules {
                let path = try Descriptor.openWithoutLinks(rule.path.text, [.path])
                // Landlock says again what the mounts say; where their flags are left out, so is this.
                var access = rule.access.kernelAccess
                if Layer.readOnlyMounts.isOmitted { access.insert(.write) }
                try ruleset.allow(access, beneath: path)
            }
            try ruleset.restrict(isLogged: wall.isLogged)
        }
    }
}

extension LandlockAccess {
    fileprivate var kernelAccess: LandlockRuleset.Access {
        switch self {
        case .read: []
        case .readExecute: [.execute]
        case .readWrite: [.write]
        case .device: [.device]
        case .readWriteExecute: [.write, .execute]
        }
    }
}
