import DenialEvents
import FilterLint
import LauncherClient
import SandboxPlan
import SeccompCompiler
import StrictJSON
import Testing

private func row(
    _ call: String,
    _ kind: UInt32 = 0,
    count: UInt64 = 1,
    by program: String = "python3"
) throws -> DenialRow {
    DenialRow(
        call: try SyscallNumbers.number(of: call),
        kind: kind,
        count: count,
        program: Array(program.utf8)
    )
}

@Suite("Events of refused calls")
struct DenialEventTests {
    @Test("each call that is told has its own name, and a line that allows it or none")
    func names() throws {
        for name in ToldCalls.whole {
            let event = try #require(DenialEvent.events(in: [try row(name)]).first)
            #expect(event.call == name)
            let isRefused = RefusedCalls.all.contains { $0.name == name }
            #expect((event.cure == nil) == isRefused, "\(name)")
            if let cure = event.cure { #expect("\(cure)" == "syscalls.allow: [\(name)]") }
        }
    }

    @Test("a family of sockets that policies list is allowed by its name, any other by nothing")
    func families() throws {
        let cures = try ToldCalls.families.compactMap { family in
            DenialEvent.events(in: [try row("socket", family.number)]).first?.cure?.entry
        }
        #expect(cures == ["unix", "inet", "inet6", "netlink-route"])
    }

    @Test("rows of one kind are one event with their sum, by the first program")
    func sums() throws {
        let rows = [
            try row("clone", 0x1000_0011, count: 2, by: "a"),
            try row("clone", 0x1000_0000, count: 3, by: "b"), try row("clone", .max, count: 4),
        ]
        let events = DenialEvent.events(in: rows)
        #expect(
            events.map(\.attempt) == ["clone (new namespaces: user)", "clone (several others)"]
        )
        #expect(events.map(\.count) == [5, 4] && events.first?.program == "a")
    }

    @Test("a program's name is printable, whatever the program called itself")
    func program() throws {
        let event = DenialEvent.events(in: [try row("mount", by: "\u{1b}[2J\u{7}x\n")]).first
        #expect(event?.program == "?[2J?x")
    }

    @Test("the event for programs names sandbox, program, call, argument, layer, count and line")
    func json() throws {
        let event = DenialEvent.events(in: [try row("socket", 10, count: 7)]).first
        let json = try #require(event?.json(sandbox: "candidate"))
        #expect(
            json == [
                "sandbox": "candidate", "program": "python3", "call": "socket",
                "argument": "inet6", "path": .null, "layer": "filter", "count": 7,
                "allowed_by": "sockets: [inet6]",
            ]
        )
    }

    @Test("a table that is malformed is refused")
    func tables() throws {
        var encoder = WireEncoder()
        encoder.write([UInt64(165) << 32]) {
            $0.write($1)
            $0.write(UInt64(3))
            $0.write(Array("sh\n".utf8))
        }
        let rows = try DenialRow.rows(in: encoder.bytes)
        #expect(rows == [DenialRow(call: 165, kind: 0, count: 3, program: Array("sh\n".utf8))])
        #expect(throws: PlanError.self) { try DenialRow.rows(in: encoder.bytes + [0]) }
        #expect(throws: PlanError.self) { try DenialRow.rows(in: encoder.bytes.dropLast()) }
    }
}

@Suite("The tally of refused calls")
struct DenialTallyTests {
    private func mounts(_ count: UInt64) throws -> [DenialEvent] {
        DenialEvent.events(in: [try row("mount", count: count)])
    }

    @Test("a flood makes a row at its start, at each tenfold and at the end, and they add up")
    func flood() throws {
        var tally = DenialTally(mostEntries: 64)
        var written: [UInt64] = []
        for count in stride(from: UInt64(1), through: 100_000, by: 7) {
            written += tally.note(try mounts(count), of: 1).map(\.count)
        }
        let last = tally.end(try mounts(123_456), of: 1)
        written += last.events.map(\.count)
        #expect(written.count <= 8 && written.first == 1)
        #expect(written.reduce(0, +) == 123_456 && last.further == 0)
    }

    @Test("past the most entries nothing is written but one sum at the end")
    func bound() throws {
        var tally = DenialTally(mostEntries: 2)
        let events = DenialEvent.events(in: [
            try row("memfd_create", count: 1), try row("shmget", count: 2),
            try row("msgget", count: 3),
        ])
        #expect(tally.note(events, of: 1).count == 2)
        #expect(tally.note(events, of: 1).isEmpty)
        let last = tally.end(events, of: 1)
        #expect(last.events.isEmpty && last.further == 3)
    }

    @Test("what no policy allows is written once, however much harmless was written before")
    func grave() throws {
        var tally = DenialTally(mostEntries: 1)
        let harmless = DenialEvent.events(in: [
            try row("memfd_create", count: 1), try row("shmget", count: 1),
        ])
        #expect(tally.note(harmless, of: 1).count == 1)
        #expect(tally.note(try mounts(1), of: 1).map(\.attempt) == ["mount"])
        #expect(tally.note(try mounts(10), of: 1).isEmpty)
        let last = tally.end(try mounts(10), of: 1)
        #expect(last.events.isEmpty && last.further == 9)
    }
}
