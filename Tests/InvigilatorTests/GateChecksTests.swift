import CheckReports
import Invigilator
import StrictJSON
import Testing

@Suite("the gate's checks")
struct GateChecksTests {
    private static func answer(_ verdict: String, step: JSONValue, _ reward: Double) -> JSONValue {
        [
            "ok": true, "verdict": .string(verdict), "step": step,
            "reasons": ["13: the suite is broken"], "suite": ["b": .number(reward), "a": 1],
            "released_score": nil,
        ]
    }

    private static func outcomes(_ report: CheckReport) -> [[String]] {
        report.suites.map { $0.checks.map { "\($0.name): \($0.outcome.word)" } }
    }

    @Test("a candidate that breaks the suite fails step 1 and the tasks it broke")
    func rejected() {
        let report = GateChecks.report(Self.answer("rejected", step: 1, 0))
        #expect(
            Self.outcomes(report) == [
                ["step 1: regression suite: failed", "step 2: sealed exam: skipped"],
                ["a: passed", "b: failed"],
            ]
        )
        #expect(!report.isGood)
        #expect(report.verdict == "rejected at step 1: 13: the suite is broken")
    }

    @Test("a task that the threshold allows to fail is no failure of what is accepted")
    func accepted() {
        let report = GateChecks.report(Self.answer("accepted", step: nil, 0))
        #expect(Self.outcomes(report)[0].allSatisfy { $0.hasSuffix("passed") })
        #expect(Self.outcomes(report)[1] == ["a: passed", "b: skipped"])
        #expect(report.isGood && report.bad.isEmpty)
    }

    @Test("what the sealed exam refuses has passed step 1")
    func sealed() {
        let report = GateChecks.report(Self.answer("rejected", step: 2, 1))
        #expect(
            Self.outcomes(report)[0] == [
                "step 1: regression suite: passed", "step 2: sealed exam: failed",
            ]
        )
    }

    @Test("a void verdict and a file that is not judged are never passed")
    func void() {
        let void = GateChecks.report(Self.answer("void", step: nil, 1))
        #expect(Self.outcomes(void)[0].allSatisfy { $0.hasSuffix("error") })
        let refused = GateChecks.report([
            "ok": false,
            "error": ["code": "x", "operation": "submit", "reason": "a link", "remedy": "none"],
        ])
        #expect(Self.outcomes(refused) == [["submission: failed"]])
        #expect(refused.verdict == "not judged: submit: a link: none")
    }
}
