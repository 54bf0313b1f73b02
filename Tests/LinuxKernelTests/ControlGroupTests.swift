import LinuxKernel
import Testing

@Suite("ControlGroup")
struct ControlGroupTests {
    /// A control-group tree of plain files.
    private final class FakeTree {
        let scratch: Scratch
        let hierarchies: ControlGroupHierarchies

        static let unifiedFiles = [
            "cgroup.procs": "", "cgroup.events": "populated 0\nfrozen 0\n", "cgroup.kill": "",
            "cgroup.freeze": "", "memory.max": "", "memory.swap.max": "",
            "pids.max": "", "cpu.max": "", "memory.events": "low 0\nmax 9\noom 5\noom_kill 3\n",
            "pids.events": "max 4\n", "cpu.stat": "usage_usec 1000\nuser_usec 600\n",
        ]
        static let legacyFiles: [ControlGroupHierarchies.Controller: [String: String]] = [
            .memory: [
                "tasks": "", "cgroup.procs": "", "memory.limit_in_bytes": "",
                "memory.memsw.limit_in_bytes": "",
                "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            ],
            .pids: ["tasks": "", "cgroup.procs": "", "pids.max": "", "pids.events": "max 1\n"],
            .cpu: [
                "tasks": "", "cgroup.procs": "", "cpu.cfs_period_us": "", "cpu.cfs_quota_us": "",
            ],
            .cpuacct: ["tasks": "", "cgroup.procs": "", "cpuacct.usage": "5000000\n"],
            .freezer: ["tasks": "", "cgroup.procs": "", "freezer.state": "THAWED\n"],
        ]

        init(_ mode: ControlGroupHierarchies.Mode, leaves: Int = 3) throws {
            scratch = try Scratch()
            var needed: [ControlGroupHierarchies.Controller] = []
            if mode == .hybrid { needed = [.memory, .pids, .cpu] }
            if mode == .v1 { needed = ControlGroupHierarchies.Controller.allCases }
            var places: [ControlGroupHierarchies.Controller: String] = [:]
            for controller in needed {
                places[controller] = scratch.path + "/" + controller.rawValue
            }
            hierarchies = ControlGroupHierarchies(
                mode: mode,
                unified: mode == .v1 ? nil : scratch.path + "/unified",
                controllers: places
            )
            for leaf in 0..<leaves {
                if mode != .v1 { try fill("unified", leaf, Self.unifiedFiles) }
                for controller in needed {
                    try fill(controller.rawValue, leaf, Self.legacyFiles[controller] ?? [:])
                }
            }
        }

        private func fill(_ hierarchy: String, _ leaf: Int, _ files: [String: String]) throws {
            let place = "\(hierarchy)/\(ControlGroup.poolName)/\(leaf)"
            try scratch.makeDirectory(place)
            for (name, text) in files { try scratch.write("\(place)/\(name)", text) }
        }

        func text(_ hierarchy: String, _ name: String, leaf: Int = 0) throws -> String {
            try scratch.text("\(hierarchy)/\(ControlGroup.poolName)/\(leaf)/\(name)")
        }

        func replace(_ hierarchy: String, _ name: String, _ text: String) throws {
            let leaf = "\(scratch.path)/\(hierarchy)/\(ControlGroup.poolName)/0"
            try Descriptor.open(leaf, [.directory]).remove(name)
            try write(hierarchy, name, text)
        }

        func write(_ hierarchy: String, _ name: String, _ text: String, leaf: Int = 0) throws {
            try scratch.write("\(hierarchy)/\(ControlGroup.poolName)/\(leaf)/\(name)", text)
        }
    }

    private static let limits = ControlGroupLimits(memory: 1 << 20, processes: 7, cpuPercent: 150)

    @Test("version 2 limits go to version 2 files")
    func limitsV2() throws {
        let tree = try FakeTree(.v2)
        try ControlGroup.acquire(from: tree.hierarchies).set(Self.limits)
        #expect(try tree.text("unified", "memory.max") == "1048576")
        #expect(try tree.text("unified", "memory.swap.max") == "0")
        #expect(try tree.text("unified", "pids.max") == "7")
        #expect(try tree.text("unified", "cpu.max") == "150000 100000")
    }

    @Test("version 1 and hybrid limits go to the controllers", arguments: ["v1", "hybrid"])
    func limitsV1(_ name: String) throws {
        let mode = try #require(ControlGroupHierarchies.Mode(rawValue: name))
        let tree = try FakeTree(mode)
        try ControlGroup.acquire(from: tree.hierarchies).set(Self.limits)
        #expect(try tree.text("memory", "memory.limit_in_bytes") == "1048576")
        #expect(try tree.text("memory", "memory.memsw.limit_in_bytes") == "1048576")
        #expect(try tree.text("pids", "pids.max") == "7")
        #expect(try tree.text("cpu", "cpu.cfs_period_us") == "100000")
        #expect(try tree.text("cpu", "cpu.cfs_quota_us") == "150000")
    }

    @Test("a limit that the kernel does not keep is an error", arguments: ["v2", "hybrid"])
    func limitsAreReadBack(_ name: String) throws {
        let mode = try #require(ControlGroupHierarchies.Mode(rawValue: name))
        let tree = try FakeTree(mode)
        // What a file held stays behind what is written over its beginning.
        let hierarchy = mode == .v2 ? "unified" : "pids"
        try tree.write(hierarchy, "pids.max", "70000\n")
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        #expect(throws: SystemError("cgroup", "pids.max", number: 5)) {  // EIO
            try group.set(Self.limits)
        }
        try tree.write(hierarchy, "pids.max", "")
        try group.set(Self.limits)
    }

    @Test("memory is limited in pages, as the kernel keeps it")
    func pages() {
        let limits = ControlGroupLimits(memory: 8191, processes: 1, cpuPercent: 1)
        #expect(limits.memory == 4096)
    }

    @Test(
        "a process enters every version 1 leaf as a thread; version 2 is entered by the clone",
        arguments: ["v1", "hybrid", "v2"]
    )
    func enter(_ name: String) throws {
        let mode = try #require(ControlGroupHierarchies.Mode(rawValue: name))
        let tree = try FakeTree(mode)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        try group.prepareEntry()
        try group.enter()
        for controller in tree.hierarchies.controllers.keys.map(\.rawValue) {
            #expect(try tree.text(controller, "tasks") == "0", "\(controller)")
            #expect(try tree.text(controller, "cgroup.procs").isEmpty, "\(controller)")
        }
        if mode != .v1 { #expect(try tree.text("unified", "cgroup.procs").isEmpty) }
        #expect(tree.hierarchies.controllers.count == ["v1": 5, "hybrid": 3, "v2": 0][name])
    }

    @Test("usage counts from when the leaf was taken")
    func usage() throws {
        let tree = try FakeTree(.v2)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        #expect(try group.usage().cpuMicroseconds == 0)
        try tree.write("unified", "cpu.stat", "usage_usec 4500\n")
        try tree.write("unified", "memory.events", "oom_kill 4\n")
        try tree.write("unified", "pids.events", "max 6\n")
        let usage = try group.usage()
        #expect(usage.cpuMicroseconds == 3500)
        #expect(usage.memoryKills == 1 && usage.refusedProcesses == 2)
        group.restartCounting()
        #expect(try group.usage().memoryKills == 0)
        // A counter that went back, as a leaf made anew has it, is no use at all.
        try tree.write("unified", "cpu.stat", "usage_usec 10\n")
        #expect(try group.usage().cpuMicroseconds == 0)
    }

    @Test("version 1 counters are found where they are")
    func usageV1() throws {
        let tree = try FakeTree(.v1)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        try tree.write("cpuacct", "cpuacct.usage", "9000000\n")
        try tree.write("memory", "memory.oom_control", "oom_kill_disable 0\noom_kill 3\n")
        try tree.write("pids", "pids.events", "max 2\n")
        let usage = try group.usage()
        #expect(usage.cpuMicroseconds == 4000)
        #expect(usage.memoryKills == 1 && usage.refusedProcesses == 1)
    }

    @Test("a leaf that is taken or populated is passed over")
    func slots() throws {
        let tree = try FakeTree(.hybrid)
        try tree.write("unified", "cgroup.events", "populated 1\nfrozen 0\n", leaf: 1)
        let first = try ControlGroup.acquire(from: tree.hierarchies)
        let second = try ControlGroup.acquire(from: tree.hierarchies)
        try first.set(Self.limits)
        try second.set(Self.limits)
        #expect(try tree.text("pids", "pids.max", leaf: 0) == "7")
        #expect(try tree.text("pids", "pids.max", leaf: 1).isEmpty)
        #expect(try tree.text("pids", "pids.max", leaf: 2) == "7")
    }

    @Test("a leaf that a dead launcher killed is passed over by every other")
    func spent() throws {
        let tree = try FakeTree(.v2)
        try ControlGroup.acquire(from: tree.hierarchies).kill()
        #expect(try tree.text("unified", "cgroup.kill", leaf: 0) == "1")
        let next = try ControlGroup.acquire(from: tree.hierarchies)
        try next.set(Self.limits)
        #expect(try tree.text("unified", "pids.max", leaf: 0).isEmpty)
        #expect(try tree.text("unified", "pids.max", leaf: 1) == "7")
    }

    @Test("freezing writes and waits for the kernel's word; killing leaves a spent leaf")
    func freeze() throws {
        let tree = try FakeTree(.hybrid)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        try tree.write("unified", "cgroup.events", "populated 1\nfrozen 1\n")
        try group.freeze()
        #expect(try tree.text("unified", "cgroup.freeze") == "1")
        try group.thaw()
        #expect(try tree.text("unified", "cgroup.freeze") == "0")
        #expect(!group.isSpent)
        try group.kill()
        #expect(try tree.text("unified", "cgroup.kill") == "1" && group.isSpent)
        #expect(try !group.isEmpty())
        try tree.write("unified", "cgroup.events", "populated 0\nfrozen 0\n")
        try group.waitUntilEmpty()
    }

    @Test("version 1 freezes by its own controller and thaws what it killed")
    func freezeV1() throws {
        let tree = try FakeTree(.v1)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        try tree.write("freezer", "freezer.state", "FROZEN\n")
        try group.freeze()
        try group.kill()
        #expect(try tree.text("freezer", "freezer.state").hasPrefix("THAWED"))
        #expect(!group.isSpent)
    }

    @Test("version 1's list of processes is opened anew for each reading, as the kernel demands")
    func freshList() throws {
        let tree = try FakeTree(.v1)
        let group = try ControlGroup.acquire(from: tree.hierarchies)
        try tree.write("freezer", "cgroup.procs", "7\n")
        #expect(try !group.isEmpty())
        // Whoever still has the old file open reads the old list.
        try tree.replace("freezer", "cgroup.procs", "")
        #expect(try group.isEmpty())
    }

    @Test("mounts are found in mountinfo, by version and controller")
    func mountInfo() {
        let text = """
            24 1 254:0 / / rw,relatime - ext4 /dev/vda rw
            30 24 0:26 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw
            31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct
            32 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
            33 24 0:29 / /elsewhere/memory rw - cgroup cgroup rw,memory
            34 24 0:30 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
            35 24 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
            broken line
            36 24 0:32 / /x - cgroup
            """
        let found = ControlGroupMounts(mountInfo: Array(text.utf8))
        #expect(found.unified == "/sys/fs/cgroup/unified")
        #expect(
            found.controllers == [
                .cpu: "/sys/fs/cgroup/cpu,cpuacct", .cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
                .memory: "/sys/fs/cgroup/memory",
            ]
        )
        #expect(ControlGroupMounts(mountInfo: []) == ControlGroupMounts(mountInfo: [110, 10]))
    }
}

@Suite("SystemError")
struct SystemErrorTests {
    @Test("it says call, subject and name")
    func description() {
        let error = SystemError("open", "/absent", number: 2)
        #expect(error.description == "open /absent: ENOENT" && error.isMissing)
        #expect(SystemError("poll", number: 4).description == "poll: EINTR")
        #expect(SystemError("poll", number: 4095).name == "errno 4095")
        #expect(error == SystemError("open", "/absent", number: 2))
        #expect(error != SystemError("open", "/other", number: 2))
    }
}
