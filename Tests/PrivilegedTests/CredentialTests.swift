import Foundation
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Identity and capabilities")
    struct CredentialTests {
        @Test("the payload holds no capability in any set, and cannot get one back")
        func noCapability() throws {
            let control = try Host.control(["facts"])
            #expect(control["CapEff"] != String(repeating: "0", count: 16))
            #expect(control["bounding"]?.isEmpty == false && control["NoNewPrivs"] == "0")
            try Lab.run { lab in
                for facts in [
                    try lab.candidate(["facts"]).facts, try lab.coding(["facts"]).facts,
                ] {
                    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                        #expect(facts[set] == String(repeating: "0", count: 16), "\(set)")
                    }
                    #expect(facts["bounding"] == "")
                    #expect(facts["securebits"] == "0xef", "root magic is off and locked")
                    #expect(facts["NoNewPrivs"] == "1")
                }
            }
        }

        @Test("init holds no capability either once the payload runs")
        func initHoldsNothing() throws {
            try Lab.run { lab in
                try lab.withWaiting { _, initial, payload in
                    let launcher = try Self.status(lab.client.pid)
                    #expect(launcher["CapEff"] != String(repeating: "0", count: 16))
                    // Init executes nothing, so its bounding set gives it nothing.
                    for (pid, sets) in [(initial, Self.held), (payload, Self.held + ["CapBnd"])] {
                        let status = try Self.status(pid)
                        for set in sets {
                            #expect(status[set] == String(repeating: "0", count: 16), "\(set)")
                        }
                        #expect(status["NoNewPrivs"] == "1")
                    }
                }
            }
        }

        private static let held = ["CapInh", "CapPrm", "CapEff", "CapAmb"]

        @Test("the launcher itself keeps the listed capabilities alone")
        func launcherKeepsFew() throws {
            try Lab.run { lab in
                let status = try Self.status(lab.client.pid)
                let wanted = LauncherCapability.all.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
                for set in ["CapPrm", "CapEff"] {
                    #expect(UInt64(status[set] ?? "", radix: 16) == wanted, "\(set)")
                }
                #expect(status["NoNewPrivs"] == "1")
            }
        }

        @Test("user 0 inside is not user 0 of the host, and neither is the payload")
        func neverHostRoot() throws {
            try Lab.run { lab in
                let facts = try lab.candidate(["facts"]).facts
                #expect(facts["uids"] == "1000,1000,1000" && facts["gids"] == "1000,1000,1000")
                #expect(facts["Groups"] == "")
                try lab.withWaiting { _, initial, payload in
                    let users = try [initial, payload].map { try Self.users(of: $0) }
                    let range = 0x7010_0000..<0x8000_0000
                    for ids in users {
                        #expect(Set(ids).count == 1 && range.contains(ids[0]), "\(ids)")
                    }
                    #expect(users[0][0] + 1 == users[1][0], "init and payload are two users")
                }
            }
        }

        @Test("every sandbox has host users that no other sandbox of its launcher had")
        func freshUsers() throws {
            try Lab.run { lab in
                var seen: Set<Int> = []
                for _ in 0..<20 {
                    try lab.withWaiting { _, initial, payload in
                        for pid in [initial, payload] {
                            let user = try Self.users(of: pid)[0]
                            #expect(seen.insert(user).inserted)
                        }
                    }
                }
                #expect(seen.count == 40)
            }
        }

        @Test("the payload sits in a user and mount namespace below init's")
        func secondNamespace() throws {
            try Lab.run { lab in
                try lab.withWaiting { _, initial, payload in
                    for name in ["user", "mnt"] {
                        let outer = try Host.namespace(name, of: "\(initial)")
                        #expect(try Host.namespace(name, of: "\(payload)") != outer)
                    }
                    let map = try String(
                        contentsOfFile: "/proc/\(payload)/uid_map",
                        encoding: .utf8
                    )
                    let words = map.split { $0 == " " || $0 == "\n" }
                    #expect(words.count == 3 && words[0] == "1000" && words[2] == "1")
                }
            }
        }

        @Test("core dumps are off, and limits are what the plan says")
        func limits() throws {
            let control = try Host.control(["facts"])
            #expect(control["core"] != "0,0")
            try Lab.run { lab in
                let plan = try Plans.candidate()
                let facts = try lab.candidate(["facts"]).facts
                #expect(facts["core"] == "0,0")
                let files = plan.limits.openFiles
                #expect(facts["files"] == "\(files),\(files)")
                let size = plan.limits.fileSize.bytes
                #expect(facts["size"] == "\(size),\(size)")
                #expect(facts["signals"] == "256,256")
            }
        }

        @Test("exactly the listed environment reaches the payload")
        func environment() throws {
            try Lab.run { lab in
                for (lines, plan) in [
                    (try lab.candidate(["environment"]).facts.lines, try Plans.candidate()),
                    (try lab.coding(["environment"]).facts.lines, try Plans.coding()),
                ] {
                    #expect(
                        lines.sorted()
                            == plan.environment.map { "env.\($0.name)=\($0.value)" }.sorted()
                    )
                }
            }
        }

        @Test("exactly the listed descriptors reach the payload")
        func descriptors() throws {
            try Lab.run { lab in
                // A second sandbox and several trees are alive, whose descriptors must not leak.
                try lab.withWaiting { _, _, _ in
                    let candidate = try lab.candidate(["descriptors"]).facts
                    #expect(candidate.keys == ["fd.0", "fd.1", "fd.2", "fd.3"])
                    #expect(candidate["fd.3"]?.hasPrefix("socket:") == true)
                    let coding = try lab.coding(["descriptors"]).facts
                    #expect(coding.keys == ["fd.0", "fd.1", "fd.2"])
                    for key in ["fd.0", "fd.1", "fd.2"] {
                        #expect(coding[key]?.hasPrefix("pipe:") == true)
                    }
                }
                let facts = try lab.candidate(["facts"]).facts
                #expect(facts["cwd"] == "/candidate")
            }
        }

        private static func status(_ pid: Int32) throws -> [String: String] {
            let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            var found: [String: String] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 {
                    found[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
            return found
        }

        private static func users(of pid: Int32) throws -> [Int] {
            try status(pid)["Uid"]?.split { $0 == "\t" || $0 == " " }.compactMap { Int($0) } ?? []
        }
    }
}
