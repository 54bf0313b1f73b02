import Invigilator
import StrictJSON
import StrictYAML
import Testing

@Suite struct FindingsTests {
    @Test("a sound policy is one line, and each problem another")
    func policies() {
        let problem = DocumentProblem(
            file: "weak.yaml",
            line: 3,
            key: "mounts[0].source",
            operation: "resolve policy weak",
            reason: "it is a symbolic link",
            remedy: "name what it points to"
        )
        let findings = PolicyFindings(problems: ["weak": [problem], "good": []])
        #expect(
            findings.text == """
                good: sound
                weak.yaml:3: mounts[0].source: resolve policy weak: it is a symbolic link; remedy: name \
                what it points to

                """
        )
        #expect(!findings.isClean)
        #expect(findings.json["policies"] == ["good", "weak"])
        #expect(findings.json["problems"]?.arrayValue?.first?["line"] == 3)
    }

    @Test(
        "an argument with a slash or a YAML suffix is a document, any other a name",
        arguments: [
            ("candidate", false), ("./candidate", true), ("weak.yaml", true), ("weak.yml", true),
            ("coding-agent", false),
        ]
    )
    func documents(argument: String, isPath: Bool) {
        #expect(PolicyPath.isPath(argument) == isPath)
    }

    @Test("advice leaves a benchmark conforming, a broken rule does not")
    func conformance() {
        var findings = ConformanceFindings(benchmark: "sums")
        findings.add("split", .holds, "9 tasks")
        findings.add("oracle", .advice, "there is none")
        #expect(findings.isSound)
        #expect(findings.text.hasSuffix("\nthe benchmark sums conforms\n"))
        findings.add("floor do-nothing", holds: false, "mean 0.5000")
        #expect(!findings.isSound)
        #expect(findings.text.contains("BROKEN  floor do-nothing  mean 0.5000"))
        #expect(findings.json["conforms"] == false)
    }
}
