import HostKernel
import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("What the coding agent owns")
    struct SurfaceTests {
        /// The shipped plan with the file itself in place of the directory.
        private static func inPlace(_ file: String = "/agent.py") throws -> SandboxPlan {
            try Plans.coding().with { plan in
                let index = try #require(plan.mounts.firstIndex { $0.source == .tree(index: 1) })
                let target = try InsidePath(plan.mounts[index].target.text + file)
                plan.mounts[index].target = target
                plan.mounts[index].source = .treeFile(index: 1, path: try InsidePath(file))
                for rule in plan.landlock.rules.indices
                where plan.landlock.rules[rule].path.text == "/work/agent" {
                    plan.landlock.rules[rule].path = target
                }
            }
        }

        private static func trees(_ lab: Lab) throws -> [SandboxTree] {
            let trees = try lab.codingTrees()
            _ = try trees[0].directory.openBeneath("agent", [.read, .directory])
                .openBeneath("agent.py", [.write, .createNew], permissions: 0o644)
            let file = try trees[1].directory.openBeneath("agent.py", [.write, .createNew])
            try file.writeAll(Array("old\n".utf8))
            try file.setPermissions(0o644)
            try file.setOwner(Lab.supervisor, group: Lab.supervisor)
            return trees
        }

        private static let attempts = """
            cd /work/agent
            try() { name=$1; shift; "$@" 2>/dev/null && echo $name=yes || echo $name=no; }
            try write sh -c 'echo new > agent.py'
            try append sh -c 'echo more >> agent.py'
            try beside sh -c 'echo x > agent.py.tmp'
            try directory mkdir lib
            try link ln agent.py /tmp/second
            try rename mv -T agent.py other.py
            try over sh -c 'echo other > /tmp/other; mv -fT /tmp/other agent.py'
            try remove rm -f agent.py
            try swap ln -sf /etc/passwd agent.py
            """

        private static func answers(_ guest: Guest) -> [String: String] {
            var answers: [String: String] = [:]
            for line in guest.text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { answers[String(parts[0])] = String(parts[1]) }
            }
            return answers
        }

        @Test(
            "C13: in place, the file can be written and nothing can be made of its name or beside it"
        )
        func inPlace() throws {
            try Lab.run { lab in
                let trees = try Self.trees(lab)
                let shell = ["/bin/sh", "-c", Self.attempts]
                let guest = try lab.run(try Self.inPlace(), trees, shell)
                let found = Self.answers(guest)
                #expect(found["write"] == "yes" && found["append"] == "yes", "\(guest.text)")
                for name in ["beside", "directory", "link", "rename", "over", "remove", "swap"] {
                    #expect(found[name] == "no", "\(name): \(guest.text)")
                }
                // The supervisor reads the very file.
                let read = try trees[1].directory.openBeneath("agent.py", [.read]).readAll(
                    limit: 64
                )
                #expect(read == Array("new\nmore\n".utf8))

                // The instrument: in a private directory all of it can be done.
                let other = try lab.run(try Plans.coding(), try Self.trees(lab), shell)
                let free = Self.answers(other)
                for name in ["write", "append", "beside", "directory", "rename", "swap"] {
                    #expect(free[name] == "yes", "\(name): \(other.text)")
                }
            }
        }

        @Test("Landlock alone refuses what the mounts refuse, too")
        func landlock() throws {
            try Lab.run { lab in
                // A private directory, with a rule for the file and none for what is beside it.
                let plan = try Plans.coding().with { plan in
                    let file = try InsidePath("/work/agent/agent.py")
                    plan.landlock.rules = plan.landlock.rules.map { rule in
                        rule.path.text == "/work/agent"
                            ? LandlockRule(path: file, access: .readWrite) : rule
                    }
                }
                let shell = ["/bin/sh", "-c", Self.attempts]
                let found = Self.answers(try lab.run(plan, try Self.trees(lab), shell))
                #expect(found["write"] == "yes")
                for name in ["beside", "directory", "rename", "over", "remove", "swap"] {
                    #expect(found[name] == "no", "\(name)")
                }
            }
        }

        @Test("a file of a tree that is not there, a directory or a link is refused")
        func noPlainFile() throws {
            try Lab.run { lab in
                let trees = try Self.trees(lab)
                try trees[1].directory.makeDirectory("lib")
                try trees[1].directory.makeLink("link.py", to: "agent.py")
                for file in ["/lib", "/link.py", "/missing.py"] {
                    let plan = CompiledPlan(try Self.inPlace(file))
                    let refusal = try lab.refusal(plan, trees, ["/bin/true"])
                    #expect(refusal?.step == .sources, "\(file): \(String(describing: refusal))")
                }
                #expect(
                    try lab.refusal(CompiledPlan(try Self.inPlace()), trees, ["/bin/true"]) == nil
                )
            }
        }
    }
}
