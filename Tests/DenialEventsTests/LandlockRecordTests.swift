import DenialEvents
import StrictJSON
import Testing

/// A message as the kernel multicasts it: a header that names the type, and the text.
func message(_ type: UInt16, _ text: String) -> [UInt8] {
    [0, 0, 0, 0, UInt8(type & 0xff), UInt8(type >> 8)] + [UInt8](repeating: 0, count: 10)
        + Array(text.utf8)
}

@Suite("Records of what Landlock refused")
struct LandlockRecordTests {
    // As Linux 6.18 wrote them, but for the numbers.
    static let refusal =
        "audit(1795476802.252:1557): domain=12afe3576 blockers=fs.make_reg path=\"/tmp\" dev=\"vda\" "
        + "ino=253853"
    static let domain =
        "audit(1795476802.252:1557): domain=12afe3576 status=allocated mode=enforcing pid=26799 "
        + "uid=1879048193 exe=\"/usr/bin/python3.11\" comm=\"python3\""
    static let call =
        "audit(1795476802.252:1557): arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c "
        + "a1=560a18d20f28 a2=241 a3=1b6 items=0 ppid=26744 pid=26799 auid=4294967295 "
        + "uid=1879048193 gid=0 euid=0 suid=0 fsuid=0 egid=0 sgid=0 fsgid=0 tty=(none) "
        + "ses=4294967295 comm=\"sh\" exe=\"/usr/bin/dash\" key=(null)"
    static let release = "audit(1795476802.376:1562): domain=12afe3576 status=deallocated denials=5"

    private func read(_ type: UInt16, _ text: String) -> LandlockRecord.Reading {
        LandlockRecord.read(message(type, text))
    }

    @Test("each kind of record says what the kernel wrote")
    func kinds() {
        let (event, id): (UInt64, UInt64) = (1557, 0x1_2afe_3576)
        let refused = LandlockRecord.refused(
            event: event,
            domain: id,
            blocker: "fs.make_reg",
            object: .path("/tmp")
        )
        #expect(read(1423, Self.refusal) == .record(refused))
        let allocated = LandlockRecord.allocated(domain: id, user: 0x7000_0001)
        #expect(read(1424, Self.domain) == .record(allocated))
        let called = LandlockRecord.called(event: event, user: 0x7000_0001, program: "sh")
        #expect(read(1300, Self.call) == .record(called))
        #expect(read(1424, Self.release) == .record(.released(domain: id, refusals: 5)))
        #expect(read(1327, "audit(1.2:3): proctitle=7368") == .foreign)
        #expect(read(1320, "audit(1.2:3): ") == .foreign)
    }

    @Test("ports, processes and several missing rights are told by their first word")
    func objects() {
        func record(_ text: String) -> LandlockRecord? {
            guard case .record(let record) = read(1423, "audit(1.2:3): domain=a " + text) else {
                return nil
            }
            return record
        }
        func refused(_ blocker: String, _ object: LandlockObject) -> LandlockRecord {
            .refused(event: 3, domain: 10, blocker: blocker, object: object)
        }
        #expect(
            record("blockers=net.connect_tcp daddr=127.0.0.1 dest=443")
                == refused("net.connect_tcp", .port(443))
        )
        #expect(record("blockers=net.bind_tcp src=80") == refused("net.bind_tcp", .port(80)))
        #expect(
            record("blockers=scope.signal opid=1 ocomm=\"init\"") == refused("scope.signal", .other)
        )
        #expect(
            record("blockers=fs.make_reg,fs.refer path=\"/usr/local\" dev=\"vda2\" ino=365")
                == refused("fs.make_reg", .path("/usr/local"))
        )
    }

    @Test("a text that programs choose is decoded, made printable, and is never a field")
    func untrusted() {
        let path = "/tmp/a uid=0\n\u{1b}[2J"
        let hex = path.utf8.map { String($0, radix: 16).uppercased() }
            .map { $0.count == 1 ? "0" + $0 : $0 }.joined()
        let text = "audit(1.2:3): domain=a blockers=fs.write_file path=\(hex) dev=\"tmpfs\" ino=1"
        let expected = LandlockRecord.refused(
            event: 3,
            domain: 10,
            blocker: "fs.write_file",
            object: .path("/tmp/a uid=0??[2J")
        )
        #expect(read(1423, text) == .record(expected))
    }

    @Test(
        "what the kernel does not write is malformed",
        arguments: [
            "", "audit(1.2:3)", "audit(1.2:): domain=a blockers=fs.refer path=\"/\"",
            "audit(1.2:3): blockers=fs.refer path=\"/\"", "audit(1.2:3): domain=a path=\"/\"",
            "audit(1.2:3): domain=a domain=b blockers=fs.refer path=\"/\"",
            "audit(1.2:3): domain=-1 blockers=fs.refer path=\"/\"",
            "audit(1.2:3): domain=11112222333344445 blockers=fs.refer path=\"/\"",
            "audit(1.2:3): domain=a blockers=FS path=\"/\"",
            "audit(1.2:3): domain=a blockers=fs.refer path=\"/", "audit(1.2:3): domain=a word",
            "audit(1.2:3): domain=a blockers=fs.refer path=2F0",
            "audit(1.2:3): domain=a blockers=net.bind_tcp src=65536",
            "audit(1.2:3): domain=a blockers=fs.refer path=\"/\"\n",
        ]
    )
    func malformed(text: String) {
        #expect(read(1423, text) == .malformed)
    }
}

@Suite("Counts of what Landlock refused")
struct LandlockCountsTests {
    private static let user: UInt32 = 0x7000_0001

    /// Counts after these messages; the user is awaited.
    private func counts(_ messages: [[UInt8]]) -> LandlockCounts {
        var counts = LandlockCounts()
        counts.expect(Self.user)
        for message in messages { _ = counts.note(message) }
        return counts
    }

    private func refusal(_ event: Int, path: String) -> [UInt8] {
        message(
            1423,
            "audit(1.2:\(event)): domain=12afe3576 blockers=fs.write_file path=\"\(path)\" "
                + "dev=\"proc\" ino=1"
        )
    }

    private let domain = message(1424, LandlockRecordTests.domain)

    @Test("a sandbox's event has right, directory, count, first program and first path")
    func event() throws {
        let counts = counts([
            refusal(1557, path: "/proc/2/comm"), domain, message(1300, LandlockRecordTests.call),
            refusal(1558, path: "/proc/2/oom_score_adj"),
        ])
        let events = counts.events(of: Self.user)
        let event = try #require(events.first)
        #expect(events.count == 1 && counts.isOpen(Self.user))
        #expect(event.layer == "landlock" && event.attempt == "fs.write_file (/proc)")
        #expect(event.count == 2 && event.program == "sh" && event.path == "/proc/2/comm")
        #expect(event.cure == nil)
        #expect(
            event.json(sandbox: "candidate") == [
                "sandbox": "candidate", "program": "sh", "call": "fs.write_file",
                "argument": "/proc", "path": "/proc/2/comm", "layer": "landlock", "count": 2,
                "allowed_by": "nothing: compiled in",
            ]
        )
        #expect(counts.events(of: Self.user + 2).isEmpty)
    }

    @Test("the record of the call names the user where that of the domain was lost")
    func withoutDomain() {
        let counts = counts([
            refusal(1557, path: "/proc/2/comm"), message(1300, LandlockRecordTests.call),
        ])
        #expect(counts.events(of: Self.user).map(\.count) == [1])
    }

    @Test("what no record told is counted when the domain ends")
    func lost() {
        let counts = counts([
            refusal(1557, path: "/proc/2/comm"), domain, message(1424, LandlockRecordTests.release),
        ])
        let events = counts.events(of: Self.user)
        #expect(events.map(\.attempt) == ["fs.write_file (/proc)", "further refusals"])
        #expect(events.map(\.count) == [1, 4] && !counts.isOpen(Self.user))
    }

    @Test("whatever is refused, kinds and domains are bounded and every refusal is counted")
    func bounds() {
        var messages = [refusal(1557, path: "/proc"), domain]
        for number in 0..<5000 { messages.append(refusal(number, path: "/\(number)/x")) }
        for number in 0..<2000 {
            messages.append(
                message(1423, "audit(1.2:9): domain=\(number) blockers=fs.refer path=\"/\"")
            )
        }
        let events = counts(messages).events(of: Self.user)
        #expect(events.count == 9 && events.last?.attempt == "further refusals")
        #expect(events.reduce(0) { $0 + $1.count } == 5001)
    }

    @Test("the domains of other programs are dropped with their end, and never shown as ours")
    func strangers() {
        let other = LandlockRecordTests.domain.replacing("uid=1879048193", with: "uid=1000")
        var counts = counts([refusal(1557, path: "/x"), message(1424, other)])
        #expect(counts.events(of: Self.user).isEmpty && counts.isOpen(1000))
        #expect(counts.note(message(1424, LandlockRecordTests.release)) == nil)
        #expect(counts.events(of: 1000).isEmpty)
    }

    @Test("a policy line is named where mounts or sockets decide, and none for scopes and procfs")
    func cures() throws {
        func cure(_ text: String) -> String? {
            let line = "audit(1.2:1557): domain=12afe3576 blockers=" + text
            let counts = counts([message(1423, line), domain])
            return counts.events(of: Self.user).first?.cure.map { "\($0)" }
        }
        #expect(cure("fs.write_file path=\"/opt/x\"") == "mounts: [access: read-write]")
        #expect(cure("fs.execute path=\"/tmp/x\"") == "mounts: [exec: true]")
        #expect(cure("net.bind_tcp src=8080") == "sockets: [inet]")
        #expect(cure("scope.signal opid=1 ocomm=\"x\"") == nil)
        #expect(cure("fs.write_file path=\"/proc/2/comm\"") == nil)
        #expect(cure("fs.make_char path=\"/tmp\"") == nil)
    }

    @Test("an event without what programs chose to say has right and count alone")
    func nameless() throws {
        let counts = counts([
            refusal(1557, path: "/tmp/secret"), domain, message(1300, LandlockRecordTests.call),
        ])
        let event = try #require(counts.events(of: Self.user).first?.nameless)
        #expect(event.attempt == "fs.write_file" && event.origin.isEmpty && event.path == nil)
        #expect(event.count == 1 && event.cure != nil)
    }
}
