import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Mounts")
    struct MountTests {
        /// One line of mountinfo (proc(5)).
        private struct Mount {
            let target: String
            let options: Set<Substring>
            let kind: String
            let device: Substring
            let source: String

            init?(_ line: String) {
                let fields = line.split(separator: " ")
                guard let dash = fields.firstIndex(of: "-"), fields.count > dash + 2 else {
                    return nil
                }
                target = String(fields[4])
                options = Set(fields[5].split(separator: ","))
                device = fields[2]
                kind = String(fields[dash + 1])
                source = String(fields[dash + 2])
            }
        }

        private static func mounts(_ guest: Guest) -> [Mount] {
            guest.facts.lines.compactMap(Mount.init)
        }

        @Test("only the planned mounts are there, with the planned flags")
        func onlyPlanned() throws {
            let control = try Host.control(["cat", "/proc/self/mountinfo"])
            #expect(control.lines.compactMap(Mount.init).contains { $0.target == "/sys" })
            try Lab.run { lab in
                for (guest, plan) in [
                    (try lab.candidate(["cat", "/proc/self/mountinfo"]), try Plans.candidate()),
                    (try lab.coding(["cat", "/proc/self/mountinfo"]), try Plans.coding()),
                ] {
                    let found = Self.mounts(guest)
                    let planned = Set(plan.mounts.map(\.target.text))
                    let targets = Set(found.map(\.target))
                    let covers = targets.filter { $0.hasPrefix("/proc/") }
                    #expect(covers.isEmpty == (plan.proc == .pidOnly))
                    #expect(targets == planned.union(["/", "/proc", "/dev"]).union(covers))
                    #expect(targets.count == found.count, "something is mounted twice")
                    for mount in found { Self.check(mount, plan) }
                }
            }
        }

        private static func check(_ mount: Mount, _ plan: SandboxPlan) {
            let place = Comment(rawValue: "\(plan.name) \(mount.target)")
            #expect(mount.options.contains("nosuid"), place)
            #expect(mount.options.contains("nodev") || mount.target == "/dev", place)
            #expect(!mount.source.contains("invigilator"), place)
            if let planned = plan.mounts.first(where: { $0.target.text == mount.target }) {
                #expect(mount.options.contains("ro") == (planned.access == .readOnly), place)
                #expect(mount.options.contains("noexec") == !planned.isExecutable, place)
            } else {
                #expect(mount.options.contains("ro") == (mount.target != "/proc"), place)
            }
            if mount.target.hasPrefix("/proc") {
                #expect(mount.kind == (mount.target == "/proc" ? "proc" : "tmpfs"), place)
                #expect(mount.options.contains("noexec"), place)
            }
        }

        @Test("candidate and coding sandbox share no superblock, and their devices not the host's")
        func noSharedSuperblock() throws {
            try Lab.run { lab in
                // Both alive at once, or the kernel may give one number twice.
                try lab.withWaiting { _, _, payload in
                    let candidate = try Census.mounts(of: payload).compactMap(Mount.init)
                    let coding = Self.mounts(try lab.coding(["cat", "/proc/self/mountinfo"]))
                    let devices = { (list: [Mount]) in Set(list.map(\.device)) }
                    #expect(candidate.count > 3 && coding.count > 8)
                    #expect(devices(candidate).isDisjoint(with: devices(coding)))
                    let host = try Host.control(["cat", "/proc/self/mountinfo"]).lines
                        .compactMap(Mount.init).filter { $0.target.hasPrefix("/dev") }
                    #expect(!host.isEmpty, "the instrument works: a host has such a mount")
                    #expect(devices(host).isDisjoint(with: devices(candidate)))
                    #expect(devices(host).isDisjoint(with: devices(coding)))
                }
            }
        }

        @Test("C06: nothing read-only can be changed, and what is writable can")
        func writing() throws {
            let scratch = try Scratch()
            let control = try Host.control(["change", scratch.path])
            for verb in ["create", "mkdir", "unlink", "rmdir", "chmod"] {
                #expect(control[verb] == "OK", "\(verb)")
            }
            try Lab.run { lab in
                let changes = ["create", "mkdir", "symlink", "chmod"]
                for place in ["/", "/usr", "/usr/bin", "/candidate", "/dev"] {
                    let facts = try lab.candidate(["change", place]).facts
                    for verb in changes {
                        #expect(
                            ["EROFS", "EACCES", "EPERM"].contains(facts[verb]),
                            "\(place) \(verb)"
                        )
                    }
                }
                for place in ["/", "/usr", "/work", "/etc"] {
                    let facts = try lab.coding(["change", place]).facts
                    for verb in changes {
                        #expect(
                            ["EROFS", "EACCES", "EPERM"].contains(facts[verb]),
                            "\(place) \(verb)"
                        )
                    }
                }
                #expect(try lab.candidate(["change", "/tmp"]).facts["create"] == "OK")
                for place in ["/tmp", "/home/agent", "/work/agent"] {
                    #expect(try lab.coding(["change", place]).facts["create"] == "OK", "\(place)")
                }
            }
        }

        @Test("a read-only mount is locked: rights over the payload's namespace do not undo it")
        func locked() throws {
            // The probe enters from a mount namespace of its own, or it would count as the host's.
            func control(_ pid: Int32, _ kinds: String, _ words: [String]) throws -> Facts {
                try Host.control(["enter", "\(pid)", kinds] + words)
            }
            let places = ["/", "/usr", "/work", "/dev"]
            try Lab.run { lab in
                try lab.withWaiting(try Plans.coding()) { _, _, payload in
                    let inside = try control(payload, "user+mnt", ["remount"] + places)
                    for place in places { #expect(inside[place] == "EPERM", "\(place)") }
                    let below = try control(payload, "user+mnt", ["unmount"] + places.dropFirst())
                    for place in places.dropFirst() {
                        #expect(below[place] == "EINVAL", "\(place)")
                    }
                }
                // The instrument: in init's namespace, with the host's rights, it does undo it.
                try lab.withWaiting(try Plans.coding()) { _, initial, _ in
                    let facts = try control(initial, "mnt", ["remount"] + places)
                    for place in places { #expect(facts[place] == "OK", "\(place)") }
                }
            }
        }

        @Test("what is not executable does not execute")
        func notExecutable() throws {
            try Lab.run { lab in
                let facts = try lab.candidate(["execute", "/tmp/copy"]).facts
                #expect(facts["execute"] == "EACCES")
                let coding = try lab.coding(["execute", "/work/agent/copy"]).facts
                #expect(coding["execute"] == "EACCES", "\(coding)")
                // The instrument runs a copy where the mount allows it.
                let allowed = try lab.candidate(["execute", "/tmp/copy"]) { plan in
                    plan.mounts[0].isExecutable = true
                    let rules = plan.landlock.rules.map { rule in
                        rule.path.text == "/tmp"
                            ? LandlockRule(path: rule.path, access: .readWriteExecute) : rule
                    }
                    plan.landlock.rules = rules
                }
                #expect(allowed.facts["pid"] != nil, "\(allowed.text)")
            }
        }

        @Test("nothing of the host's tree is visible in a candidate's root")
        func noHostTree() throws {
            try Lab.run { lab in
                let names = try lab.candidate(["list", "/"]).facts.lines.sorted()
                #expect(
                    names == ["candidate", "dev", "examiner", "proc", "tmp", "usr", "vault"]
                )
                let paths = ["/etc/passwd", "/etc/shadow", "/root", "/var/lib/invigilator", "/sys"]
                let facts = try lab.candidate(["open", "read"] + paths).facts
                for path in paths { #expect(facts[path] == "ENOENT", "\(path)") }
                let coding = try lab.coding(
                    ["open", "read", "/etc/shadow", "/var/lib", "/sys", "/home/agent/x", "/boot"]
                ).facts
                for key in coding.keys { #expect(coding[key] == "ENOENT", "\(key)") }
            }
        }

        @Test("a tmpfs ends at its size")
        func full() throws {
            try Lab.run { lab in
                let facts = try lab.candidate(["fill", "/tmp"]) { plan in
                    plan.mounts[0].source = .tmpfs(size: .mebibytes(2), inodes: 16)
                }.facts
                #expect(facts["fill"] == "ENOSPC" && facts["filled"] == "2097152")
            }
        }
    }
}
