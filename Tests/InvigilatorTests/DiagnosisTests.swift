import HostProbe
import Invigilator
import SandboxPlan
import SelfCheck
import StrictJSON
import Testing

@Suite struct DiagnosisTests {
    private func facts(
        kernel: String = "6.18.1",
        landlock: Int = 7,
        groups: ControlGroupMode = .v2,
        isWeak: Bool = false
    ) -> HostFacts {
        HostFacts(
            kernelRelease: kernel,
            landlockABI: landlock,
            controlGroups: groups,
            hasUserNamespaces: !isWeak,
            hasSeccomp: !isWeak,
            processors: 2,
            memoryBytes: isWeak ? 512 << 20 : 4 << 30,
            hasMergedUsr: !isWeak,
            python: nil
        )
    }

    private func diagnosis(_ facts: HostFacts) -> Diagnosis {
        var diagnosis = Diagnosis(facts: facts)
        diagnosis.add(HostChecks(facts).all)
        return diagnosis
    }

    private static func everything() -> [InvariantFinding] {
        Invariant.allCases.map {
            InvariantFinding($0, from: InvariantTests.findings, trials: InvariantTests.trials)
        }
    }

    /// A host whose freezer does nothing, and which was asked about as root.
    private func withoutFreezer() -> Diagnosis {
        var diagnosis = diagnosis(facts())
        let lacking = QuickFinding(
            .freeze,
            .coding,
            .missing("it answered while frozen"),
            evidence: ""
        )
        let findings = InvariantTests.findings + [lacking]
        diagnosis.measured = MeasuredLevel(findings, reach: .full)
        diagnosis.invariants = Invariant.allCases.map {
            InvariantFinding($0, from: findings, trials: InvariantTests.trials)
        }
        return diagnosis
    }

    @Test("each invariant has what enforces it, its state, the evidence and the cure of a gap")
    func invariants() throws {
        let diagnosis = withoutFreezer()
        #expect(try diagnosis.text == golden("doctor-invariants.txt"))
        #expect(try diagnosis.json.prettyText() + "\n" == golden("doctor-invariants.json"))
        #expect(!diagnosis.isSound)
    }

    @Test("a host that lacks everything gets a cure for each gap, as the golden text says")
    func weakHost() throws {
        let weak = facts(kernel: "5.15.0-91", landlock: 1, groups: .unusable, isWeak: true)
        #expect(try diagnosis(weak).text == golden("doctor.txt"))
    }

    @Test("a host is sound only once a level was measured, and only at full")
    func measuredLevel() {
        var diagnosis = diagnosis(facts())
        #expect(!diagnosis.isSound)
        diagnosis.measured = MeasuredLevel(.singleUID)
        diagnosis.invariants = Self.everything()
        #expect(!diagnosis.isSound)
        diagnosis.measured = MeasuredLevel(.full)
        #expect(diagnosis.isSound)
        diagnosis.invariants.removeLast()
        #expect(!diagnosis.isSound, "an invariant of which nothing is said does not hold")
        diagnosis.invariants = Self.everything()
        diagnosis.add(HostCheck("git", .gap(cure: "install it"), "missing"))
        #expect(!diagnosis.isSound)
    }

    @Test("a group that its own processes occupy is a gap, and the cure says where they go")
    func occupiedGroup() throws {
        let text = diagnosis(facts(groups: .occupied)).text
        #expect(
            text.contains("version 2, in a group whose own processes keep it from being divided")
        )
        #expect(text.contains("/sys/fs/cgroup/init/cgroup.procs"))
        #expect(!diagnosis(facts()).text.contains("/sys/fs/cgroup/init"))
    }

    @Test("programs get the level, the host's facts and a cure for each gap")
    func programs() {
        let json = diagnosis(facts(landlock: 0)).json
        #expect(json["schema"] == "invigilator.doctor/1")
        #expect(json["assurance"] == .null)
        #expect(json["host"]?["control_groups"] == "v2")
        let gaps = (json["checks"]?.arrayValue ?? []).filter { $0["state"] == "gap" }
        #expect(gaps.map { $0["name"] } == ["landlock"])
        #expect(gaps.first?["cure"]?.stringValue?.contains("lsm=") == true)
    }

    @Test("a host without records of what Landlock refuses has no gap, and is told what makes them")
    func landlockRecords() {
        let off = AuditState.missing(reason: "audit is off", remedy: "auditctl -e 1")
        let check = HostCheck.landlockRecords(off)
        #expect(check.state == .good && check.found.contains("auditctl -e 1"))
        #expect(HostCheck.landlockRecords(.given).state == .good)
        guard case .missing(_, let remedy) = AuditState.probe(landlockABI: 6) else {
            Issue.record("before ABI 7 there are none")
            return
        }
        #expect(remedy.contains("6.15"))
    }

    @Test("an old kernel is told by its number and not by its letters")
    func kernels() {
        func isGood(_ release: String) -> Bool {
            HostChecks(facts(kernel: release)).all.first?.state == .good
        }
        #expect(isGood("6.12.0-arch1"))
        #expect(isGood("7.0"))
        #expect(!isGood("6.9.12"))
        #expect(!isGood("unknown"))
    }
}
