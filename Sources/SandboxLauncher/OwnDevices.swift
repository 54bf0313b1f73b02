internal import LinuxKernel
internal import SandboxPlan

extension HeldTree {
    /// Makes a sandbox's own `/dev` on a file system that nobody else has: nodes that two sandboxes
    /// share carry locks, watches and times from one to the other, although nothing can be written.
    ///
    /// Made by the launcher, because a user namespace's init cannot make device nodes; where it is not
    /// the host's root either, init shows the host's nodes on files made here. The numbers are those of the kernel's list of devices (Documentation/admin-guide/devices.txt).
    static func devices(
        of plan: SandboxPlan,
        at level: AssuranceLevel
    ) throws(SystemError) -> HeldTree {
        let options = [("size", "64k"), ("nr_inodes", "64"), ("mode", "0755")]
        let dev = try MountTree.make("tmpfs", options, [.noSetUID, .noExecution])
        let minors: [DeviceName: UInt32] = [.null: 3, .zero: 5, .full: 7, .random: 8, .urandom: 9]
        for (device, minor) in minors where plan.devices.contains(device) {
            let name = device.rawValue
            try level == .full
                ? dev.root.makeDevice(name, minor: minor) : dev.root.makeFile([name], [])
        }
        var links = ["fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"]
            .mapValues { "/proc/self/fd" + $0 }
        links["shm"] = "/tmp"  // for shm_open(3) and sem_open(3), a tmpfs of the sandbox's own
        if plan.streams == .terminal {
            try dev.root.makeDirectory("pts")
            links["ptmx"] = "pts/ptmx"
        }
        for (name, target) in links { try dev.root.makeLink(name, to: target) }
        return HeldTree(dev)
    }
}
