import RedTeam
import SandboxPlan
import StrictJSON
import Testing

@Suite("The judgement over an attack")
struct JudgementTests {
    private static let probe = Catalogue.all.first { $0.id == "files.write-root" }

    private func outcome(control: Answer?, inside: Answer?) throws -> ProbeOutcome {
        let probe = try #require(Self.probe)
        return ProbeResult(
            probe,
            in: .candidate,
            control: control.map { [probe.word: $0] } ?? [:],
            inside: inside.map { [probe.word: $0] } ?? [:]
        ).outcome
    }

    @Test("an attack that works on the control and is refused as stated is closed")
    func closed() throws {
        #expect(try outcome(control: .works, inside: .refused("EROFS")) == .closed)
    }

    @Test("an attack that works inside is open, and so is one that another wall refuses")
    func open() throws {
        #expect(try outcome(control: .works, inside: .works) == .open)
        #expect(try outcome(control: .works, inside: .refused("EIO")) == .open)
        #expect(try outcome(control: .works, inside: .timedOut) == .open)
    }

    @Test("an attack that does not work on the control shows nothing, whatever happens inside")
    func broken() throws {
        for control in [Answer.refused("EROFS"), .absent, .timedOut, .broken("x")] {
            #expect(try outcome(control: control, inside: .refused("EROFS")) == .broken)
        }
        #expect(try outcome(control: nil, inside: .refused("EROFS")) == .broken)
        #expect(try outcome(control: .works, inside: nil) == .broken)
    }

    @Test("what works inside is open, though the control could not do it")
    func openWithoutControl() throws {
        for control in [Answer.refused("EPERM"), .absent, .timedOut, .broken("x")] {
            #expect(try outcome(control: control, inside: .works) == .open)
        }
    }

    @Test(
        "at a lower level a control that cannot do it shows nothing; what is open stays open unless named"
    )
    func lowerLevel() throws {
        let probe = try #require(Self.probe)
        func result(_ control: Answer, _ inside: Answer) -> ProbeResult {
            ProbeResult(
                probe,
                in: .coding,
                control: [probe.word: control],
                inside: [probe.word: inside]
            )
        }
        let (unshown, open) = (result(.refused("EPERM"), .refused("EROFS")), result(.works, .works))
        #expect(unshown.at(.full).outcome == .broken)
        #expect(unshown.at(.singleUID).outcome == .unproven)
        #expect(result(.refused("EPERM"), .broken("no answer")).at(.singleUID).outcome == .broken)
        #expect(open.at(.singleUID).outcome == .open, "nothing excuses it")
        let report = RedTeamReport(
            results: [unshown],
            honest: [],
            kernel: "6.18",
            level: .singleUID
        )
        #expect(report.json["assurance"] == "single-uid" && report.json["counts"]?["unproven"] == 1)
        #expect(report.text(listing: false).contains("unproven files.write-root in coding"))
        #expect(report.junit.contains("<skipped"))
        #expect(report.closedProbes.isEmpty)
    }

    @Test("what only a control group stops is open for single-uid, named so, and open at full")
    func openForLevel() throws {
        let probe = try #require(
            Catalogue.all.first { $0.wall.layer == .limits && $0.roles.contains(.coding) }
        )
        let works = Dictionary(uniqueKeysWithValues: Set(probe.words).map { ($0, Answer.works) })
        let open = ProbeResult(probe, in: .coding, control: works, inside: works)
        #expect(open.at(.full).outcome == .open)
        #expect(open.at(.singleUID).outcome == .openAtLevel)
        let report = RedTeamReport(results: [open], honest: [], kernel: "6.18", level: .singleUID)
        #expect(!report.hasOpen && report.closedProbes.isEmpty)
        #expect(report.text(listing: false).contains("open-at-level \(probe.id) in coding"))
        #expect(
            report.text(listing: false).contains("open for this level: without a control group")
        )
        #expect(report.junit.contains("<failure message=\"open for this level: "))
    }

    @Test("where one uid owns everything another wall answers, and at full that is open")
    func closedByAnother() throws {
        let probe = try #require(Catalogue.all.first { $0.id == "files.write-own-program" })
        func result(_ inside: Answer) -> ProbeResult {
            ProbeResult(
                probe,
                in: .candidate,
                control: [probe.word: .works],
                inside: [probe.word: inside]
            )
        }
        #expect(result(.refused("ETXTBSY")).at(.full).outcome == .open)
        let closed = result(.refused("ETXTBSY")).at(.singleUID)
        #expect(closed.outcome == .closed && closed.expected.contains("ETXTBSY"))
        #expect(result(.works).at(.singleUID).outcome == .open)
        #expect(result(.refused("EPERM")).at(.singleUID).outcome == .open)
    }

    @Test("what the kernel lacks is not applicable, unless it works inside")
    func lacking() throws {
        #expect(
            try outcome(control: .lacking("ENOENT"), inside: .refused("ENOENT")) == .notApplicable
        )
        #expect(try outcome(control: .lacking("ENOENT"), inside: .works) == .open)
    }

    @Test("one open variant opens an attack, and a closed one closes it beside what is lacking")
    func variants() throws {
        let probe = try #require(Catalogue.all.first { $0.id == "calls.mount" })
        var control = Dictionary(uniqueKeysWithValues: probe.words.map { ($0, Answer.works) })
        var inside = control.mapValues { _ in Answer.refused("EPERM") }
        for word in probe.words where word.hasSuffix("x32") || word.hasSuffix("int80") {
            control[word] = .refused("ENOSYS")
            inside[word] = .killed("SIGSYS")
        }
        func judged() -> ProbeOutcome {
            ProbeResult(probe, in: .candidate, control: control, inside: inside).outcome
        }
        #expect(judged() == .closed)
        inside[probe.word + "/int80"] = .refused("EFAULT")
        #expect(judged() == .open)
    }
}
