import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictJSON
import TestSupport
import Testing

@Suite("Differences of policies")
struct PolicyDifferenceTests {
    private static let library = Result { try PolicyLibrary(directory: policyDirectory) }

    private func resolved(_ text: String) throws -> ResolvedPolicy {
        let policy = try SandboxPolicy(parsing: Array(text.utf8), file: "generated.yaml")
        let groups = try Self.library.get().groups
        return try PolicyResolver(groups: groups, context: plainContext()).resolve(policy)
    }

    @Test("a difference is empty exactly when the plans are the same", arguments: 0..<20)
    func completeness(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var old = GeneratedPolicy(&generator, shown: "/srv")
        for _ in 0..<6 {
            let new = old.changed(&generator, percent: 4)
            let (before, after) = (try resolved(old.text), try resolved(new.text))
            let isSame = PolicyDifference(from: before, to: after).isSame
            let isSameSurface = before.policy.surface == after.policy.surface
            #expect(
                isSame == (before.plan == after.plan && isSameSurface),
                "seed \(seed): \(old) -> \(new)"
            )
            old = new
        }
    }

    @Test("each choice of a policy is one that the difference shows")
    func everyChoice() throws {
        let shipped = try golden("../../../policies/coding-agent.yaml")
        let changes = [
            ("role: coding", "role: coding", []),
            ("assurance: full", "assurance: delegated", ["assurance", "dangers"]),
            ("/var/tmp: ../tmp", "/var/tmp: ../work", ["root"]),
            ("sandbox\n", "box\n", ["root"]),
            ("{ tmpfs: 512MiB", "{ tmpfs: 513MiB", ["mounts"]),
            ("inodes: 65536", "inodes: 65535", ["mounts"]),
            ("save: replace", "save: in-place", ["mounts", "surface"]),
            ("proc: masked", "proc: pid-only", ["proc"]),
            ("zero, full", "zero", ["devices"]),
            ("TZ: UTC", "TZ: CET", ["environment"]),
            ("working-directory: /work", "working-directory: /tmp", ["start"]),
            ("command: []", "command: [/usr/bin/env]", ["start"]),
            ("streams: pipes", "streams: terminal", ["start"]),
            ("network: endpoint", "network: loopback", ["network"]),
            ("descriptors: {}", "descriptors: { 3: frames }", ["descriptors"]),
            ("output-action: truncate", "output-action: kill", ["limits"]),
            ("wall: 12h", "wall: 12h\n  idle: 1h", ["limits"]),
            ("wall: 12h", "wall: 12h\n  objects: 9000", ["limits"]),
            ("[unix, inet,", "[inet,", ["sockets"]),
            ("- memory-keys", "- shared-memory", ["calls"]),
            ("- memory-keys", "- memory-keys\n  refuse: [link]", ["calls"]),
            ("minimum-abi: 6", "minimum-abi: 7", ["landlock"]),
            ("minimum-abi: 6", "minimum-abi: 7, log: true", ["landlock", "dangers"]),
        ]
        for (old, new, sections) in changes {
            try #require(shipped.contains(old), "\(old)")
            var text = shipped.replacing(old, with: new)
            if new.contains("delegated") {
                text = text.replacing("because:", with: "because:\n  assurance: tried")
            }
            if new.contains("log:") {
                text = text.replacing("because:", with: "because:\n  landlock.log: tried")
            }
            let difference = PolicyDifference(from: try resolved(shipped), to: try resolved(text))
            #expect(difference.sections.map(\.section.rawValue) == sections, "\(new)")
        }
    }

    @Test("a call whose arguments are looked at otherwise has changed, and words do not count")
    func effectsNotLines() throws {
        let library = try Self.library.get()
        let shipped = try golden("../../../policies/candidate.yaml")
        let comment =
            "# another comment\n"
            + shipped.replacing("policy: candidate", with: "policy: x")
            .replacing("[base, files, free-space", with: "[free-space, files, base")
        #expect(PolicyDifference(from: try resolved(shipped), to: try resolved(comment)).isSame)
        var groups = library.groups
        let text = try golden("../../../policies/syscalls/events.yaml")
        groups["events"] = try SyscallGroup(
            parsing: Array(text.replacing("0x5413", with: "0x5414").utf8),
            file: "events.yaml"
        )
        let policy = try library.policy(named: "candidate")
        let changed = try PolicyResolver(groups: groups, context: plainContext()).resolve(policy)
        let difference = PolicyDifference(from: try resolved(shipped), to: changed)
        let (section, changes) = try #require(difference.sections.first)
        #expect(section == .calls && changes.map(\.subject) == ["ioctl"])
        #expect(difference.text.contains("argument 1 == 0x5414"))
    }

    @Test("text and JSON say the same, and JSON names its schema")
    func output() throws {
        let shipped = try golden("../../../policies/coding-agent.yaml")
        let changed = shipped.replacing("memory: 4GiB", with: "memory: 8GiB")
            .replacing("  TZ: UTC\n", with: "")
        let difference = PolicyDifference(from: try resolved(shipped), to: try resolved(changed))
        #expect(
            difference.text == """
                policy coding-agent

                environment:
                - TZ: UTC

                limits:
                - memory: 4 GiB
                + memory: 8 GiB

                """
        )
        let json = PolicyDifferences([difference]).json
        #expect(json["schema"]?.stringValue == "invigilator.policy-difference/2")
        #expect(json["same"] == .bool(false))
        let sections = json["policies"]?.arrayValue?.first?["sections"]?.arrayValue
        let change = sections?.last?["changes"]?.arrayValue?.first
        #expect(change?["subject"] == "memory" && change?["new"] == "8 GiB")
        #expect(sections?.first?["changes"]?.arrayValue?.first?["new"] == .null)
    }

    @Test("a document from before reasons were asked for can be compared")
    func withoutReasons() throws {
        let library = try Self.library.get()
        let shipped = try golden("../../../policies/coding-agent.yaml")
        let end = try #require(shipped.firstRange(of: "because:")).lowerBound
        let old = try SandboxPolicy(parsing: Array(shipped[..<end].utf8), file: "old.yaml")
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        #expect(throws: PolicyRefusal.self) { try resolver.resolve(old) }
        let compared = try resolver.preview(old.forComparison(groups: library.groups))
        #expect(PolicyDifference(from: compared, to: try resolved(shipped)).isSame)
    }
}
