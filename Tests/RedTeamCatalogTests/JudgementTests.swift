import RedTeam
import SandboxPlan
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
