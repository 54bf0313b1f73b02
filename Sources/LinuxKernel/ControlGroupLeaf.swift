internal import CLinux

/// One file of a leaf with what a limit writes there, and whether a kernel may lack the file: where swap
/// accounting is off, there is no swap to use.
typealias ControlGroupSetting = (
    controller: ControlGroupHierarchies.Controller, file: String, value: String, isOptional: Bool
)

extension ControlGroupLimits {
    /// The files of version 2 (Documentation/admin-guide/cgroup-v2.rst).
    var unifiedSettings: [ControlGroupSetting] {
        [
            (.memory, "memory.max", "\(memory)", false),
            (.memory, "memory.swap.max", "0", true),
            (.pids, "pids.max", "\(processes)", false),
            (.cpu, "cpu.max", "\(UInt64(cpuPercent) * 1000) 100000", false),
        ]
    }

    /// The files of version 1 (Documentation/admin-guide/cgroup-v1).
    var settings: [ControlGroupSetting] {
        [
            (.memory, "memory.limit_in_bytes", "\(memory)", false),
            (.memory, "memory.memsw.limit_in_bytes", "\(memory)", true),
            (.pids, "pids.max", "\(processes)", false),
            (.cpu, "cpu.cfs_period_us", "100000", false),
            (.cpu, "cpu.cfs_quota_us", "\(UInt64(cpuPercent) * 1000)", false),
        ]
    }
}

/// A leaf's directory in one hierarchy, with the files open that every launch uses.
final class ControlGroupLeaf {
    let directory: Descriptor
    private var files: [String: SharedDescriptor] = [:]
    private var entry: SharedDescriptor?

    init(_ path: String) throws(SystemError) {
        directory = try Descriptor.open(path, [.directory])
    }

    /// Opens what ``enter()`` writes to, once.
    ///
    /// A write to `cgroup.procs` keeps every process of the host from cloning and ending meanwhile, and
    /// waits for a grace period of RCU first (kernel/cgroup/cgroup.c, cgroup_procs_write_start;
    /// percpu-rwsem.c): 11 ms where nobody moved anything in the last 20 ms. `tasks` moves one thread,
    /// which of a process with one thread is the same, and the kernel does without both where that
    /// thread is the caller.
    func openEntry() throws(SystemError) {
        if entry == nil {
            entry = SharedDescriptor(try directory.openBeneath("tasks", .write))
        }
    }

    /// Moves the calling process, which has one thread, into the leaf, whose entry is open.
    func enter() throws(SystemError) {
        try entry?.descriptor.writeAll(Array("0".utf8))
    }

    // A file that is read again and again stays open from its first reading on. Not so the processes:
    // version 1 answers from the list of the first reading as long as less than a second lies between
    // two readings of one open file (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start).
    private func held(_ name: String) throws(SystemError) -> SharedDescriptor {
        if name != "cgroup.procs", let file = files[name] { return file }
        let file = SharedDescriptor(try directory.openBeneath(name, .read))
        files[name] = file
        return file
    }

    func write(_ name: String, _ text: String) throws(SystemError) {
        do throws(SystemError) {
            try directory.openBeneath(name, .write).writeAll(Array(text.utf8))
        } catch {
            throw SystemError("cgroup", "\(name) \(text)", number: error.number)
        }
    }

    /// Writes a limit and asks the kernel what it became.
    func limit(_ name: String, to text: String) throws(SystemError) {
        let file = try directory.openBeneath(name, .readWrite)
        try file.writeAll(Array(text.utf8))
        let kept = try file.contents(limit: 64).prefix { $0 != 10 }
        guard kept.elementsEqual(text.utf8) else { throw SystemError("cgroup", name, number: EIO) }
    }

    /// The lines of a file as they are now; of a long one, those that one read gives.
    func lines(_ name: String) throws(SystemError) -> [ArraySlice<UInt8>] {
        try held(name).descriptor.contents(limit: 4096).split(separator: 10)
    }

    /// The number behind a key, or at the beginning where the key is empty; 0 where there is none.
    func value(_ key: String, of name: String) throws(SystemError) -> UInt64 {
        for line in try lines(name) where line.starts(with: key.utf8) {
            return UInt64(String(decoding: line.dropFirst(key.utf8.count), as: UTF8.self)) ?? 0
        }
        return 0
    }

    /// Waits until a file says what is wanted.
    ///
    /// Version 2 announces a change of its event files through poll(2) with POLLPRI, at most once in
    /// ten milliseconds; version 1 announces nothing. One millisecond bounds each wait.
    func wait(
        _ name: String,
        until isReached: ([ArraySlice<UInt8>]) -> Bool
    ) throws(SystemError) {
        let end = MonotonicTime.now.advanced(by: .milliseconds(5000))
        while try !isReached(lines(name)) {
            guard MonotonicTime.now < end else {
                throw SystemError("cgroup", name, number: ETIMEDOUT)
            }
            var watched = pollfd()
            watched.fd = try held(name).descriptor.number
            watched.events = Int16(POLLPRI)
            // Safety: the kernel reads and writes this one entry.
            try result("poll") { unsafe clx_poll(&watched, 1, 1) }
        }
    }
}
