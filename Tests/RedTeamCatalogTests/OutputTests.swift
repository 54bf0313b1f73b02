import RedTeam
import SandboxPlan
import StrictJSON
import Testing

@Suite("What the attacks' program prints, and what the command makes of it")
struct OutputTests {
    @Test("answers are read by their words")
    func answers() {
        let text =
            "answer\ta\tworks\t-\t\nanswer\tb/high\terrno\tEPERM\tsocket\n"
            + "answer\tc\tsignal\tSIGSYS\t\nend\n"
        let output = ProbeOutput(Array(text.utf8))
        #expect(
            output.answers == ["a": .works, "b/high": .refused("EPERM"), "c": .killed("SIGSYS")]
        )
        #expect(output.isComplete)
    }

    @Test(
        "a line of another form is no answer",
        arguments: [
            "answer\ta\tworks", "answer a works - ", "Answer\ta\tworks\t-\t",
            "\tanswer\ta\tworks\t-\t",
        ]
    )
    func otherLines(_ line: String) {
        #expect(ProbeOutput(Array((line + "\n").utf8)).answers.isEmpty)
    }

    private static func report(_ inside: Answer) throws -> RedTeamReport {
        let probe = try #require(Catalogue.all.first { $0.id == "files.write-root" })
        let result = ProbeResult(
            probe,
            in: .coding,
            control: [probe.word: .works],
            inside: [probe.word: inside]
        )
        return RedTeamReport(
            results: [result],
            honest: [RedTeamReport.HonestResult(role: .coding, problem: nil)],
            kernel: "6.18"
        )
    }

    @Test("the result for programs has one entry for each attack and sandbox")
    func json() throws {
        let json = try Self.report(.refused("EROFS")).json
        #expect(json["schema"] == "invigilator.red-team/1")
        let entry = try #require(json["probes"]?.arrayValue?.first)
        #expect(entry["id"] == "files.write-root" && entry["role"] == "coding")
        #expect(entry["outcome"] == "closed" && entry["observed"] == "EROFS")
        #expect(entry["expected"] == "EROFS" && entry["layer"] == "read-only-mounts")
        #expect(json["counts"]?["closed"] == 1 && json["counts"]?["open"] == 0)
    }

    @Test("an open attack has its line, with what should have stopped it")
    func text() throws {
        #expect(try !Self.report(.refused("EROFS")).hasOpen)
        let report = try Self.report(.works)
        #expect(report.hasOpen && !report.hasBroken)
        #expect(report.text(listing: false).contains("open files.write-root in coding: works"))
        #expect(report.text(listing: false).contains("read-only-mounts"))
    }

    @Test("an open attack is a failure for test runners, and no answer can write markup")
    func junit() throws {
        #expect(try Self.report(.refused("EROFS")).junit.contains("failures=\"0\""))
        let open = try Self.report(.refused("<\"&\u{1}")).junit
        #expect(open.contains("<failure message=\"&lt;&quot;&amp;?, expected EROFS\"/>"))
    }

    @Test("an attack on the record has its entry in every output")
    func record() throws {
        let probe = try #require(Catalogue.all.first { $0.id == "ledger.edit-row" })
        let report = RedTeamReport(
            results: [
                ProbeResult(
                    probe,
                    in: nil,
                    control: [probe.word: .works],
                    inside: [probe.word: .refused("a ledger row is never changed")]
                )
            ],
            honest: [],
            kernel: "6.18"
        )
        let entry = try #require(report.json["probes"]?.arrayValue?.first)
        #expect(entry["role"] == "record" && entry["outcome"] == "closed")
        #expect(report.junit.contains("<testcase classname=\"record\" name=\"ledger.edit-row\"/>"))
        #expect(report.markdown.contains("| ledger | 1 | 0 | 0 | 0 | 1 | 1 | 0 | 0 | 0 | 0 |"))
        #expect(report.markdown.contains("who has the file changes a row with an SQL tool"))
    }

    @Test("the page counts attacks by family and severity")
    func markdown() throws {
        let page = try Self.report(.refused("EROFS")).markdown
        #expect(page.contains("**1 closed, 0 open, 0 declared, 0 n/a, 0 broken**"))
        #expect(page.contains("| files | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 |"))
        #expect(page.contains("| high | 1 | 1 | 0 | 0 | 0 | 0 |"))
        #expect(page.contains("Nothing."))
    }
}
