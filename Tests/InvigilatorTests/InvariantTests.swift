import HostProbe
import Invigilator
import SandboxPlan
import SelfCheck
import Testing

@Suite("Invariant")
struct InvariantTests {
    /// Findings of a host with every wall.
    static let findings = QuickProbe.allCases.map {
        QuickFinding($0, .candidate, .enforced, evidence: "\($0.rawValue) was looked at")
    }
    static let trials = PlanTrial.allCases.map {
        TrialFinding($0, isRefused: true, evidence: "refused at step check")
    }

    private static func found(
        _ findings: [QuickFinding] = findings,
        _ trials: [TrialFinding] = trials
    ) -> [InvariantFinding] {
        Invariant.allCases.map { InvariantFinding($0, from: findings, trials: trials) }
    }

    @Test("every invariant is shown by something, and every probe and trial shows one")
    func complete() {
        #expect(Self.found().allSatisfy { $0.state == .enforced && $0.cure == nil })
        for probe in QuickProbe.allCases {
            let rest = Self.findings.filter { $0.probe != probe }
            #expect(Self.found(rest).contains { $0.state == .unknown && $0.cure != nil })
        }
        for trial in PlanTrial.allCases {
            let rest = Self.trials.filter { $0.trial != trial }
            #expect(Self.found(Self.findings, rest).contains { $0.state == .unknown })
        }
        #expect(Self.found([], []).allSatisfy { $0.state == .unknown })
    }

    @Test("a wall that lacks makes its invariants missing, with its own cure")
    func missing() {
        let lacking = QuickFinding(.freeze, .coding, .missing("it answered"), evidence: "")
        let bad = Self.found(Self.findings + [lacking]).filter { $0.state != .enforced }
        #expect(bad.map(\.invariant) == [.freezer] && bad[0].state == .missing)
        #expect(bad[0].cure == QuickProbe.freeze.cure)
        #expect(bad[0].evidence == "probe freeze, sandbox coding: it answered")
        let unseen = QuickFinding(.network, .coding, .unknown("no answer"), evidence: "")
        let unknown = Self.found(Self.findings + [unseen]).filter { $0.state != .enforced }
        #expect(unknown.map(\.invariant) == [.loopbackOnly] && unknown[0].state == .unknown)
    }

    @Test("a plan that was accepted and breaks a rule makes the invariant missing")
    func accepted() {
        let trials = Self.trials.map { finding in
            finding.trial == .noWallClock
                ? TrialFinding(.noWallClock, isRefused: false, evidence: "a sandbox was made")
                : finding
        }
        let bad = Self.found(Self.findings, trials).filter { $0.state != .enforced }
        #expect(bad.map(\.invariant) == [.wallClock] && bad[0].state == .missing)
        #expect(bad[0].cure?.contains("one build") == true)
    }
}
