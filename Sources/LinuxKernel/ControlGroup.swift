internal import CLinux

/// Limits that a control group enforces.
public struct ControlGroupLimits: Sendable, Equatable {
    /// Bytes of memory; swap is refused.
    public let memory: UInt64
    /// Processes and threads.
    public let processes: UInt32
    /// Hundredths of one CPU.
    public let cpuPercent: UInt32

    /// Creates limits.
    public init(memory: UInt64, processes: UInt32, cpuPercent: UInt32) {
        self.memory = memory & ~0xfff  // as the kernel keeps it, in pages
        self.processes = processes
        self.cpuPercent = cpuPercent
    }
}

/// What a group counted since it was acquired.
public struct ControlGroupUsage: Sendable, Equatable {
    /// CPU time of every process, in microseconds.
    public let cpuMicroseconds: UInt64
    /// Processes killed for memory.
    public let memoryKills: UInt64
    /// Clones refused for the process limit.
    public let refusedProcesses: UInt64

    static let none = ControlGroupUsage(cpuMicroseconds: 0, memoryKills: 0, refusedProcesses: 0)

    // A counter that went back, as a leaf made anew has it, is no use at all.
    func since(_ earlier: ControlGroupUsage) -> ControlGroupUsage {
        func grown(_ now: UInt64, _ before: UInt64) -> UInt64 { now - min(before, now) }
        return ControlGroupUsage(
            cpuMicroseconds: grown(cpuMicroseconds, earlier.cpuMicroseconds),
            memoryKills: grown(memoryKills, earlier.memoryKills),
            refusedProcesses: grown(refusedProcesses, earlier.refusedProcesses)
        )
    }
}

/// One leaf of the pool: the same name in each hierarchy that the host's mode uses.
///
/// Leaves are numbered directories that are reused, because making and removing them costs more
/// than a launch. A lock on the directory marks a leaf as taken, so several launchers share a pool.
public final class ControlGroup {
    private let hierarchies: ControlGroupHierarchies
    private let slot: String
    private var leaves: [ControlGroupHierarchies.Controller: ControlGroupLeaf] = [:]
    // The leaf that freezes also holds the lock, because every mode has exactly one.
    private var anchor: ControlGroupLeaf?
    private var limits: ControlGroupLimits?
    /// Whether no process may be cloned into the leaf any more; it can only be removed.
    ///
    /// Since Linux 6.14 a clone3 with CLONE_INTO_CGROUP into a group that `cgroup.kill` was ever
    /// written to is killed at once: the kernel compares the group's kill count with that of the
    /// caller's group (kernel/cgroup/cgroup.c, cgroup_css_set_fork; seen on 6.18). This can go when
    /// a launch into a killed leaf succeeds on every kernel that we support.
    public private(set) var isSpent = false
    private var baseline = ControlGroupUsage.none
    private var latest = ControlGroupUsage.none

    /// The directory in each hierarchy that holds the pool.
    public static let poolName = "invigilator"
    private static let poolSize = 256
    // The mode of a spent leaf's directory, by which every launcher knows it.
    private static let spentMark: UInt32 = 0o700

    private init(hierarchies: ControlGroupHierarchies, slot: String) {
        self.hierarchies = hierarchies
        self.slot = slot
    }

    /// Stands for no group, where none can be made: limits nothing and counts nothing.
    public static var none: ControlGroup {
        ControlGroup(hierarchies: .init(mode: .v1, unified: nil, controllers: [:]), slot: "")
    }

    /// Whether there is no group.
    public var isNone: Bool { anchor == nil }

    /// Takes a free, empty leaf, making one if needed.
    ///
    /// - Throws: ``SystemError``; EBUSY when all leaves are taken.
    public static func acquire(
        from hierarchies: ControlGroupHierarchies
    ) throws(SystemError) -> ControlGroup {
        for number in 0..<poolSize {
            let group = ControlGroup(hierarchies: hierarchies, slot: String(number))
            do throws(SystemError) {
                if try group.take() { return group }
            } catch  where error.isMissing {
                // Somebody swept the leaf between our making and our locking it.
            }
        }
        throw SystemError("cgroup", "all \(poolSize) leaves are taken", number: EBUSY)
    }

    /// Removes every leaf that nobody holds, and kills what a dead launcher left in one.
    ///
    /// - Throws: ``SystemError``.
    public static func sweep(_ hierarchies: ControlGroupHierarchies) throws(SystemError) {
        for number in 0..<poolSize {
            let group = ControlGroup(hierarchies: hierarchies, slot: String(number))
            do throws(SystemError) {
                guard try group.open() else { continue }
                try group.kill()
                try group.waitUntilEmpty()
                try group.remove()
            } catch  where error.isMissing || error.isBusy {
                // There is no such leaf, another sweep was faster, or the kernel still counts
                // something in it; no launch takes a leaf before it is empty.
            }
        }
    }

    private func take() throws(SystemError) -> Bool {
        do throws(SystemError) {
            guard try open() else { return false }
        } catch  where error.isMissing {
            // The first launch of a slot, or of a boot.
            try make()
            guard try open() else { return false }
        }
        // A launcher that killed the leaf and died leaves it to us, but only to be swept.
        guard try anchor?.directory.status().permissions != Self.spentMark, try isEmpty()
        else { return false }
        // A launcher that was killed leaves its leaf as frozen as it was.
        try thaw()
        latest = try counters()
        baseline = latest
        return true
    }

    private func place(_ root: String) -> String { "\(root)/\(Self.poolName)/\(slot)" }

    // Locks the leaf and opens it in every hierarchy; false when somebody else holds it.
    private func open() throws(SystemError) -> Bool {
        let path = place(hierarchies.unified ?? hierarchies.controllers[.freezer] ?? "")
        let locked = try ControlGroupLeaf(path)
        guard try locked.directory.tryLock() else { return false }
        // Whoever removed the leaf in between held the lock that we just got.
        let named = try FileStatus(path: path)
        guard try locked.directory.status().inode == named.inode else { return false }
        for (controller, root) in hierarchies.controllers {
            leaves[controller] =
                hierarchies.unified == nil && controller == .freezer
                ? locked : try ControlGroupLeaf(place(root))
        }
        anchor = locked
        return true
    }

    private func make() throws(SystemError) {
        for root in hierarchies.places {
            let directory = try Descriptor.open(root, [.directory])
            try directory.makeDirectoryIfMissing(Self.poolName)
            let pool = try directory.openBeneath(Self.poolName, [.directory])
            // Whoever can open a leaf can hold its lock, and with it keep launchers from it.
            try pool.setPermissions(0o700)
            if hierarchies.mode == .v2 {
                for parent in [root, "\(root)/\(Self.poolName)"] {
                    try ControlGroupLeaf(parent).write(
                        "cgroup.subtree_control",
                        "+memory +pids +cpu"
                    )
                }
            }
            try pool.makeDirectoryIfMissing(slot)
        }
    }

    // MARK: - use

    /// The version 2 directory that a clone can begin in; -1 where there is none.
    var unifiedNumber: Int32 {
        hierarchies.unified == nil ? -1 : anchor?.directory.number ?? -1
    }

    /// Opens what a child needs to enter the version 1 leaves, before it is cloned.
    ///
    /// - Throws: ``SystemError``.
    public func prepareEntry() throws(SystemError) {
        for leaf in leaves.values { try leaf.openEntry() }
    }

    /// Moves the calling process into every version 1 leaf; for a child that was just cloned, and
    /// that has one thread.
    ///
    /// After ``prepareEntry()``, and before its control-group namespace is made, or the leaf's name
    /// would show inside.
    ///
    /// - Throws: ``SystemError``.
    public func enter() throws(SystemError) {
        for leaf in leaves.values { try leaf.enter() }
    }

    /// Sets limits, where they differ from what this leaf has.
    ///
    /// - Throws: ``SystemError``.
    public func set(_ wanted: ControlGroupLimits) throws(SystemError) {
        guard limits != wanted else { return }
        let settings = hierarchies.mode == .v2 ? wanted.unifiedSettings : wanted.settings
        do throws(SystemError) {
            try write(settings)
        } catch  where error.number == EINVAL {
            // memory.memsw may never be below memory: a lower limit goes in the other way round.
            try write(settings.reversed())
        }
        limits = wanted
    }

    private func write(_ settings: [ControlGroupSetting]) throws(SystemError) {
        for setting in settings {
            do throws(SystemError) {
                try leaf(setting.controller)?.limit(setting.file, to: setting.value)
            } catch  where error.isMissing && setting.isOptional {}
        }
    }

    private func leaf(_ controller: ControlGroupHierarchies.Controller) -> ControlGroupLeaf? {
        hierarchies.mode == .v2 ? anchor : leaves[controller]
    }

    /// Stops every process of the group and waits until it has stopped.
    ///
    /// - Throws: ``SystemError``; ETIMEDOUT after five seconds, EOPNOTSUPP where there is no group.
    public func freeze() throws(SystemError) {
        guard !isNone else { throw SystemError("cgroup", "no freezer", number: EOPNOTSUPP) }
        let (file, state, line) =
            hierarchies.unified == nil
            ? ("freezer.state", "freezer.state", "FROZEN")
            : ("cgroup.freeze", "cgroup.events", "frozen 1")
        try anchor?.write(file, hierarchies.unified == nil ? line : "1")
        try anchor?.wait(state) { $0.contains { $0.elementsEqual(line.utf8) } }
    }

    /// Lets every process run again.
    ///
    /// - Throws: ``SystemError``.
    public func thaw() throws(SystemError) {
        let isOld = hierarchies.unified == nil
        try anchor?.write(isOld ? "freezer.state" : "cgroup.freeze", isOld ? "THAWED" : "0")
    }

    /// Kills every process of the group, frozen or not.
    ///
    /// In version 1 a frozen process dies when it is thawed, so killing comes first. In version 2
    /// the leaf is spent afterwards, see ``isSpent``.
    ///
    /// - Throws: ``SystemError``.
    public func kill() throws(SystemError) {
        if hierarchies.unified != nil {
            isSpent = true
            try anchor?.directory.setPermissions(Self.spentMark)
            try anchor?.write("cgroup.kill", "1")
            return
        }
        let members = try anchor?.directory.contents(of: "cgroup.procs", limit: 1 << 20) ?? []
        for line in members.split(separator: UInt8(ascii: "\n")) {
            guard let pid = Int32(String(decoding: line, as: UTF8.self)) else { continue }
            do throws(SystemError) {
                try result("kill") { clx_kill(pid, SIGKILL) }
            } catch  where error.number == ESRCH {}
        }
        try thaw()
    }

    /// Whether no process is in the group.
    ///
    /// - Throws: ``SystemError``.
    public func isEmpty() throws(SystemError) -> Bool {
        Self.isEmpty(try anchor?.lines(populationFile) ?? [])
    }

    /// Waits until the last process is gone.
    ///
    /// - Throws: ``SystemError``; ETIMEDOUT after five seconds.
    public func waitUntilEmpty() throws(SystemError) {
        try anchor?.wait(populationFile, until: Self.isEmpty)
    }

    private var populationFile: String {
        hierarchies.unified == nil ? "cgroup.procs" : "cgroup.events"
    }

    // A file of processes has no line then, one of events says so.
    private static func isEmpty(_ lines: [ArraySlice<UInt8>]) -> Bool {
        lines.isEmpty || lines.contains { $0.elementsEqual("populated 0".utf8) }
    }

    /// What the group counted since it was acquired.
    ///
    /// - Throws: ``SystemError``.
    public func usage() throws(SystemError) -> ControlGroupUsage {
        latest = try counters()
        return latest.since(baseline)
    }

    /// Makes the leaf count from its last reading on, for its next sandbox.
    public func restartCounting() {
        baseline = latest
    }

    private func counters() throws(SystemError) -> ControlGroupUsage {
        let kills = hierarchies.mode == .v2 ? "memory.events" : "memory.oom_control"
        return ControlGroupUsage(
            cpuMicroseconds: hierarchies.unified == nil
                ? (try leaves[.cpuacct]?.value("", of: "cpuacct.usage") ?? 0) / 1000
                : try anchor?.value("usage_usec ", of: "cpu.stat") ?? 0,
            memoryKills: try leaf(.memory)?.value("oom_kill ", of: kills) ?? 0,
            refusedProcesses: try leaf(.pids)?.value("max ", of: "pids.events") ?? 0
        )
    }

    /// Removes the leaf from every hierarchy; it must be empty.
    ///
    /// - Throws: ``SystemError``.
    public func remove() throws(SystemError) {
        for root in hierarchies.places {
            let pool = try Descriptor.open("\(root)/\(Self.poolName)", [.directory])
            do throws(SystemError) { try pool.remove(slot, isDirectory: true) } catch
                where error.isMissing
            {}
        }
    }
}
