import RedTeam
import SandboxPlan
import StrictJSON
import Testing

@Suite("The comparison with another sandbox")
struct ComparisonTests {
    private static func entry(_ id: String, there: [Answer]) throws -> JSONValue? {
        let probe = try #require(Catalogue.all.first { $0.id == id })
        let inside = Dictionary(
            uniqueKeysWithValues: probe.variants.map { variant in
                (probe.word(for: variant), probe.expected(variant, in: .coding).first ?? .absent)
            }
        )
        let control = inside.mapValues { _ in Answer.works }
        let report = RivalReport(
            rival: "other 1.0",
            command: ["/usr/bin/other"],
            shown: "nothing",
            results: [ProbeResult(probe, in: .coding, control: control, inside: inside)],
            answers: Dictionary(uniqueKeysWithValues: zip(probe.words, there))
        )
        return report.json["probes"]?.arrayValue?.first
    }

    @Test("an attack that fails there is stopped, whatever the reason")
    func stopped() throws {
        for answer in [Answer.refused("EIO"), .absent, .killed("SIGKILL"), .lacking("ENOENT")] {
            #expect(try Self.entry("files.write-root", there: [answer])?["there"] == "closed")
        }
    }

    @Test("an attack that works there, or whose end nobody saw, is not stopped")
    func through() throws {
        for answer in [Answer.works, .timedOut, .broken("x")] {
            let entry = try Self.entry("files.write-root", there: [answer])
            #expect(entry?["here"] == "closed" && entry?["there"] == "open")
        }
    }

    @Test("a call is stopped when each way to it is, and not when the kernel answers")
    func calls() throws {
        let refused = Answer.refused("EPERM")
        let all = [refused, refused, .killed("SIGSYS"), .killed("SIGSYS")]
        #expect(try Self.entry("calls.mount", there: all)?["there"] == "closed")
        let one = [refused, refused, .killed("SIGSYS"), .refused("EFAULT")]
        let entry = try Self.entry("calls.mount", there: one)
        #expect(entry?["there"] == "open" && entry?["observed"] == "int80: EFAULT")
    }

    @Test("an attack without an answer there is not compared")
    func missing() throws {
        #expect(try Self.entry("calls.mount", there: []) == nil)
    }
}
