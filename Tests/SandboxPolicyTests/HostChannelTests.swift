import Foundation
import SandboxPlan
import SandboxPolicy
import Testing

@Suite("What policies leave open between an exam and the coding agent")
struct HostChannelTests {
    /// A shipped policy's plan, with a text in it changed.
    private static func plan(
        _ name: String,
        _ old: String = "",
        _ new: String = ""
    ) throws -> SandboxPlan {
        let library = try PolicyLibrary(directory: policyDirectory)
        let path = "\(policyDirectory)/\(name).yaml"
        var text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        if !old.isEmpty {
            try #require(text.contains(old))
            text = text.replacing(old, with: new)
        }
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        let policy = try PolicySample.policy(text)
        return try resolver.resolve(policy.forComparison(groups: library.groups)).plan
    }

    private static func shipped() throws -> ChannelFacts {
        ChannelFacts(
            coding: try plan("coding-agent"),
            candidate: try plan("candidate"),
            examiner: try plan("examiner"),
            level: .full,
            isStill: true
        )
    }

    @Test("the shipped policies leave nothing open at level full, where nobody has a model")
    func nothing() throws {
        #expect(try Self.shipped().unbounded() == [])
    }

    @Test("below full sandboxes share what a user has; with one id, counts of packets too")
    func levels() throws {
        var facts = try Self.shipped()
        facts.isStill = false
        #expect(try facts.unbounded() == [.live])
        facts.isStill = true
        facts.level = .delegated
        #expect(try facts.unbounded() == [.user])
        facts.examHasModel = true
        #expect(try facts.unbounded() == [.user])
        facts.level = .singleUID
        #expect(try facts.unbounded() == [.packets, .user])
        facts.coding.proc = .none
        #expect(try facts.unbounded() == [.user])
    }

    @Test("who has an internet socket or makes sessions writes what the coding agent reads")
    func calls() throws {
        let coding = try Self.plan("coding-agent")
        var facts = try Self.shipped()
        facts.candidate.filter = coding.filter
        #expect(try facts.unbounded() == [.ports, .sessions])
        facts.level = .singleUID
        #expect(try facts.unbounded() == [.ports, .packets, .sessions, .user])
        facts = try Self.shipped()
        facts.examiner.filter = coding.filter
        #expect(try facts.unbounded() == [.ports, .sessions])
        // Nobody looks: a candidate's filter has no internet either, and lets it ask for free blocks.
        facts.coding.filter = facts.candidate.filter
        facts.coding.proc = .none
        #expect(try facts.unbounded() == [.space])
    }

    @Test("an internet socket that init counts is one all the same")
    func countedSockets() throws {
        var facts = try Self.shipped()
        let sockets = facts.candidate.counted.filter { $0.argument != nil }
        try #require(!sockets.isEmpty)
        let call = try #require(sockets.first?.number)
        #expect(try facts.candidate.allows(call, 1))
        #expect(try !facts.candidate.allows(call, 2))
        // AF_INET6, as a policy would have it; the filter leaves all counted calls to init.
        facts.candidate.counted.append(CountedCall(call, argument: 10))
        let isLeft = try facts.candidate.allows(call, 10)
        #expect(try facts.unbounded() == (isLeft ? [.ports] : []))
    }

    @Test(
        "what a coding agent may look at is open, whoever writes it",
        arguments: [
            ("allow: [inotify_init1]", HostChannel.renames), ("allow: [sysinfo]", .totals),
            ("allow: [fstatfs]", .space), ("allow: [sync]", .flushing),
        ]
    )
    func readers(allowance: String, channel: HostChannel) throws {
        var facts = try Self.shipped()
        facts.coding = try Self.plan(
            "coding-agent",
            "    - memory-keys\n",
            "    - memory-keys\n  \(allowance)\n"
        )
        #expect(try facts.unbounded() == [channel])
    }

    @Test("audit records and host files are open where both sides have them")
    func shared() throws {
        var facts = try Self.shipped()
        facts.examiner.landlock.isLogged = true
        #expect(try facts.unbounded() == [])
        facts.coding.landlock.isLogged = true
        #expect(try facts.unbounded() == [.audit])
        facts = try Self.shipped()
        let host = try #require(facts.coding.mounts.first { $0.target.text == "/usr" })
        facts.examiner.mounts.append(host)
        #expect(try facts.unbounded() == [.files])
    }

    @Test("the reference names every channel")
    func reference() throws {
        let text = try String(
            contentsOf: URL(fileURLWithPath: "\(policyDirectory)/../FORMATS.md"),
            encoding: .utf8
        )
        for channel in HostChannel.allCases {
            #expect(text.contains("`\(channel.rawValue)`"), "\(channel)")
        }
    }

    @Test("models of both sides leave late answers open, one account what its provider tells")
    func models() throws {
        var facts = try Self.shipped()
        facts.examHasModel = true
        #expect(try facts.unbounded() == [])
        facts.agentHasModel = true
        #expect(try facts.unbounded() == [.answers])
        facts.sharesAccount = true
        #expect(try facts.unbounded() == [.provider, .answers])
    }
}
