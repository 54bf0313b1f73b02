import LauncherClient
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Procfs")
    struct ProcTests {
        /// What the probe saw of one name in a directory.
        private struct Entry {
            let isOwn: Bool
            let kind: String
            let amount: Int

            init?(_ text: String?) {
                let words = (text ?? "").split(separator: " ")
                guard words.count == 3, let amount = Int(words[2]) else { return nil }
                (isOwn, kind, self.amount) = (words[0] == "own", String(words[1]), amount)
            }
        }

        /// What is not about a process, by name.
        private static func entries(_ facts: Facts) throws -> [String: Entry] {
            var found: [String: Entry] = [:]
            for name in facts.keys where name.contains(where: { !"0123456789.".contains($0) }) {
                found[name] = try #require(Entry(facts[name]) as Entry?, "\(name)")
            }
            return found
        }

        private static let links = ["self", "thread-self", "mounts", "net"]

        @Test("a procfs of processes only has no counter and no sysctl")
        func processesOnly() throws {
            let names = [
                "/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/loadavg", "/proc/uptime",
                "/proc/sys", "/proc/keys", "/proc/interrupts", "/proc/kcore", "/proc/sysrq-trigger",
                "/proc/mounts/../sys", "/proc/pressure", "/proc/diskstats", "/proc/1/environ",
            ]
            let control = try Host.control([
                "open", "read", "/proc/stat", "/proc/sys", "/proc/keys",
            ])
            for key in control.keys { #expect(control[key] == "OK", "\(key)") }
            try Lab.run { lab in
                let facts = try lab.candidate(["open", "read"] + names).facts
                for name in names {
                    #expect(["ENOENT", "EACCES", "ENOTDIR"].contains(facts[name]), "\(name)")
                }
                let seen = try Self.entries(try lab.candidate(["survey", "/proc"]).facts)
                #expect(seen.keys.sorted() == ["self", "thread-self"])
            }
        }

        @Test("a masked procfs covers all of the host's, known or not, with a constant or nothing")
        func covers() throws {
            // The instrument: without covers the same looks find the host's own files, and counters.
            let control = try Self.entries(try Host.control(["survey", "/proc"]))
            let hosts = control.filter { !Self.links.contains($0.key) }
            #expect(hosts.count > 30 && hosts.values.allSatisfy(\.isOwn))
            #expect((hosts["stat"]?.amount ?? 0) > 100 && (hosts["sys"]?.amount ?? 0) > 3)
            try Lab.run { lab in
                let shipped = try Plans.coding()
                for constants in [Self.constants(of: shipped.proc), [:]] {
                    let guest = try lab.coding(["survey", "/proc"]) { plan in
                        if constants.isEmpty { plan.proc = .masked([]) }
                    }
                    let seen = try Self.entries(guest.facts)
                    // The host's own has a few more, of file systems that are mounted on it.
                    let names = seen.keys.filter { !Self.links.contains($0) }
                    #expect(names.count > 30 && Set(names).isSubset(of: hosts.keys))
                    #expect(Set(["stat", "meminfo", "sys", "kmsg", "tty"]).isSubset(of: names))
                    for name in names { Self.check(name, seen[name], control[name], constants) }
                    for name in Self.links { #expect(seen[name]?.kind == "link", "\(name)") }
                }
            }
        }

        private static func check(
            _ name: String,
            _ seen: Entry?,
            _ host: Entry?,
            _ constants: [String: String]
        ) {
            #expect(seen?.isOwn == false, "\(name) is procfs's own")
            #expect(seen?.kind == host?.kind, "\(name)")
            let below = Set(
                constants.keys.filter { $0.hasPrefix(name + "/") }.map {
                    $0.split(separator: "/")[1]
                }
            )
            #expect(seen?.amount == constants[name]?.utf8.count ?? below.count, "\(name)")
        }

        /// The constant files of a view, by name.
        private static func constants(of view: ProcView) -> [String: String] {
            guard case .masked(let entries) = view else { return [:] }
            var found: [String: String] = [:]
            for case .file(let path, let contents) in entries {
                found[String(path.text.dropFirst())] = String(decoding: contents, as: UTF8.self)
            }
            return found
        }

        @Test("a constant is the plan's, byte for byte, in each sandbox, and cannot be written to")
        func constants() throws {
            let constants = Self.constants(of: try Plans.coding().proc)
            #expect(constants.count > 10)
            try Lab.run { lab in
                for (name, text) in constants {
                    #expect(try lab.coding(["cat", "/proc/\(name)"]).text == text, "\(name)")
                }
                let paths = constants.keys.sorted().map { "/proc/\($0)" } + ["/proc/mtrr"]
                let facts = try lab.coding(["open", "write"] + paths).facts
                for path in paths {
                    #expect(["EROFS", "EACCES"].contains(facts[path]), "\(path)")
                }
                let missing = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/random/boot_id"]
                let absent = try lab.coding(["open", "read"] + missing).facts
                for path in missing { #expect(absent[path] == "ENOENT", "\(path)") }
            }
            let host = try Host.control(["open", "read", "/proc/sys/kernel/core_pattern"])
            #expect(host["/proc/sys/kernel/core_pattern"] == "OK")
        }

        @Test("a cover is locked: rights over the payload's namespace do not take it away")
        func locked() throws {
            func control(_ pid: Int32, _ kinds: String, _ words: [String]) throws -> Facts {
                try Host.control(["enter", "\(pid)", kinds] + words)
            }
            let places = ["/proc/stat", "/proc/meminfo", "/proc/kmsg", "/proc/sys"]
            try Lab.run { lab in
                try lab.withWaiting(try Plans.coding()) { _, initial, payload in
                    let changed = try control(payload, "user+mnt", ["remount"] + places)
                    let taken = try control(payload, "user+mnt", ["unmount"] + places)
                    for place in places {
                        #expect(changed[place] == "EPERM", "\(place)")
                        #expect(taken[place] == "EINVAL", "\(place)")
                    }
                    // The instrument: in init's namespace, with the host's rights, it works.
                    let outside = try control(initial, "mnt", ["unmount"] + places)
                    for place in places { #expect(outside[place] == "OK", "\(place)") }
                }
            }
        }
    }
}
