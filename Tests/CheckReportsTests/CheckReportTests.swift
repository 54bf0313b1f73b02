import CheckReports
import Testing

@Suite("check reports")
struct CheckReportTests {
    // What a candidate would like others to read.
    private static let hostile =
        "ok\r\n::set-output name=x::y\n::error::no\n##[stop-commands]t <script>|`a`|[l](http://e)"
        + "\u{1}\u{202E}\u{FFFE} & \"quoted\" %0A @everyone"

    private static let report = CheckReport(
        "invigilator gate",
        verdict: "rejected at step 1",
        isGood: false,
        [
            .init(
                "gate",
                [
                    Check("step 1", in: "gate", .failed(hostile)),
                    Check("step 2", in: "gate", .skipped("not run")),
                    Check(hostile, in: hostile, .broken("no answer")),
                    Check("done", in: "gate", .passed),
                ]
            ),
            .init("nothing", []),
        ]
    )

    @Test("a JUnit report has a suite with its counts, and a case for each check")
    func junit() {
        let text = Self.report.junit
        #expect(
            text.contains(
                #"<testsuite name="gate" tests="4" failures="1" errors="1" skipped="1">"#
            )
        )
        #expect(text.contains(#"<testcase classname="gate" name="done"/>"#))
        #expect(text.contains(#"<skipped message="not run"/>"#))
        #expect(!text.contains("nothing"))
    }

    @Test("no text of a check is markup of a JUnit report")
    func junitIsWellFormed() throws {
        let text = Self.report.junit
        #expect(!text.contains("<script"))
        // Outside of attributes there is nothing but elements of this writer, one a line.
        let element = /<(\/?[a-z]+|\?xml)(?: [a-z]+="[^"<]*")*(?:\/|\?)?>/
        for line in text.split(separator: "\n") {
            let rest = String(line).replacing(element, with: "")
            #expect(rest.isEmpty, "\(line)")
        }
        let names = text.matches(of: /<([a-z]+)/).map { String($0.1) }
        #expect(
            names == [
                "testsuites", "testsuite", "testcase", "failure", "testcase", "skipped",
                "testcase", "error", "testcase",
            ]
        )
        // Every ampersand begins one of the four entities, and no control character is left.
        let bare = text.replacing(/&(amp|lt|gt|quot);/, with: "")
        #expect(!bare.contains("&"))
        #expect(!bare.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{FFFE}" })
    }

    @Test("an annotation is one line, and nothing in it is another command")
    func annotations() {
        let lines = Self.report.annotations
        #expect(lines.count == 3)
        #expect(lines[0] == "::error title=invigilator gate::rejected at step 1")
        for line in lines {
            #expect(!line.contains("\n") && !line.contains("\r") && !line.contains("##["))
            #expect(line.hasPrefix("::error title="))
            // A runner takes the first "::" after the properties for the message's beginning.
            let title = line.dropFirst("::error title=".count).prefix { $0 != ":" }
            #expect(line.dropFirst("::error title=".count + title.count).hasPrefix("::"))
        }
        #expect(lines[1].contains("ok%0D%0A::set-output"))
        #expect(lines[1].contains("%250A"))
    }

    @Test("there are at most ten annotations, and a good verdict is a notice")
    func fewAnnotations() {
        let checks = (1...50).map { Check("\($0)", in: "all", .failed("no")) }
        let report = CheckReport("t", verdict: "v", isGood: true, [.init("s", checks)])
        #expect(report.annotations.count == 10)
        #expect(report.annotations[0] == "::notice title=t::v")
    }

    @Test("nothing in a summary is Markdown or HTML but what this writes")
    func summary() {
        let text = Self.report.summary
        #expect(text.hasPrefix("## invigilator gate\n"))
        #expect(!text.contains("<script") && !text.contains("](http") && !text.contains("`a`|"))
        for line in text.split(separator: "\n") where line.hasPrefix("|") {
            // A pipe that stands alone divides cells; one after a backslash is a character.
            let cells = line.replacing("\\|", with: "").split(separator: "|")
            #expect(cells.count == 3, "\(line)")
        }
        #expect(text.contains("\\@everyone"))
    }

    @Test("a summary of very many checks counts what it does not show")
    func longSummary() {
        let checks = (1...5000).map {
            Check("\($0)", in: "all", .failed(String(repeating: "|", count: 5000)))
        }
        let report = CheckReport("t", verdict: "v", isGood: false, [.init("s", checks)])
        #expect(report.summary.utf8.count < 1 << 20)
        #expect(report.summary.contains("4800 more"))
    }
}
