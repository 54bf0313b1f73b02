import PolicyEffects
import SandboxPlan
import SandboxPolicy
import StrictJSON
import Testing

@Suite("Explanations")
struct PolicyExplanationTests {
    private func resolved(_ name: String) throws -> ResolvedPolicy {
        let library = try PolicyLibrary(directory: policyDirectory)
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        return try resolver.resolve(try library.policy(named: name))
    }

    @Test("the candidate's explanation is the text that was reviewed")
    func candidateGolden() throws {
        let expected = try golden("candidate.txt")
        #expect(PolicyExplanation(try resolved("candidate")).text == expected)
    }

    @Test("the coding agent's explanation is the text that was reviewed")
    func codingGolden() throws {
        let expected = try golden("coding-agent.txt")
        #expect(PolicyExplanation(try resolved("coding-agent")).text == expected)
    }

    @Test("text and JSON say the same, and JSON names its schema")
    func json() throws {
        let explanation = PolicyExplanation(try resolved("examiner"))
        #expect(explanation.json["schema"]?.stringValue == "invigilator.policy-explanation/1")
        for section in explanation.sections {
            let lines = explanation.json[section.name]?.arrayValue?.compactMap(\.stringValue)
            #expect(lines == section.lines)
            for line in section.lines { #expect(explanation.text.contains(line)) }
        }
        #expect(explanation.sections.first { $0.name == "weaker" }?.lines.isEmpty == true)
    }

    @Test("every setting that weakens a policy is said to")
    func weaker() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        let shipped = try golden("../../../policies/coding-agent.yaml")
        let text = shipped.replacing("assurance: full", with: "assurance: single-uid")
            .replacing("minimum-abi: 6", with: "minimum-abi: 3")
            .replacing("proc: masked", with: "proc: pid-only")
            .replacing("- memory-keys", with: "- memory-keys\n    - host-totals")
            .replacing("target: /tmp }", with: "target: /tmp, exec: true }")
            .replacing(
                "because:",
                with: """
                    because:
                      assurance: tried
                      landlock.minimum-abi: tried
                      mounts./tmp.exec: tried
                      calls.host-totals: tried
                    """
            )
        let policy = try SandboxPolicy(parsing: Array(text.utf8), file: "changed.yaml")
        let resolver = PolicyResolver(groups: library.groups, context: plainContext())
        let new = PolicyExplanation(try resolver.resolve(policy))
        #expect(new.sections.first { $0.name == "weaker" }?.lines.count == 4)
        let reasons = try #require(new.sections.first { $0.name == "reasons" }).lines
        #expect(reasons.count { $0.hasSuffix("allowed because: tried") } == 4)
    }

    @Test("a check lists the problems of each policy with file, line and remedy")
    func check() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        let clean = PolicyCheck([], in: library, context: plainContext())
        #expect(clean.isClean)
        #expect(clean.text == library.policyNames.map { "\($0): sound\n" }.joined())
        var context = plainContext()
        context.lookUp = { $0 == "/usr" ? nil : plainHost($0) }
        let check = PolicyCheck(["coding-agent", "none"], in: library, context: context)
        #expect(!check.isClean)
        #expect(check.json["schema"]?.stringValue == "invigilator.policy-check/1")
        #expect(check.json["problems"]?.arrayValue?.count == 2)
    }

    @Test("an optional source that the host lacks is said to be left out")
    func missingSources() throws {
        let library = try PolicyLibrary(directory: policyDirectory)
        var context = plainContext()
        context.lookUp = { $0 == "/etc/alternatives" ? nil : plainHost($0) }
        let resolver = PolicyResolver(groups: library.groups, context: context)
        let resolved = try resolver.resolve(try library.policy(named: "coding-agent"))
        #expect(resolved.missingSources == ["/etc/alternatives"])
        #expect(PolicyExplanation(resolved).text.contains("left out: /etc/alternatives"))
    }
}
