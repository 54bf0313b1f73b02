import ExamResults
import Testing
import Workspace

@Suite("The static audit")
struct StaticAuditTests {
    private func audit() throws -> StaticAudit {
        let markers = TaskMarkers(
            ids: [try TaskID("refund-017")],
            texts: [
                "Hello, I am Mia Li and I want to return the blue kettle of order W9911223 today.",
                "Please follow the policy of the shop at all times and be kind to everyone.",
            ],
            publicTexts: ["please follow the policy of the shop at all times and be kind to all"]
        )
        return StaticAudit(markers: markers)
    }

    private func kinds(_ text: String, previousSize: Int = 1_000) throws -> [AuditFinding.Kind] {
        try audit().findings(in: text, previousSize: previousSize).map(\.kind)
    }

    @Test("of several files, a line is one of its own file, and growth is that of all together")
    func severalFiles() throws {
        let texts = ["agent/agent.py": "pass\n", "agent/a.md": "\n\nsee refund-017\n"]
        let candidate = try CandidateSnapshot(
            checking: texts.map { CandidateFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
        let found = try audit().findings(in: candidate, previousSize: -40_000)
        #expect(found.map(\.kind) == [.sizeGrowth, .taskName])
        #expect(found.last?.line == 3 && found.last?.detail == "agent/a.md: 1 names of tasks")
    }

    @Test("an ordinary agent has no finding")
    func ordinary() throws {
        let text = """
            class HarnessAgent:
                def generate_next_message(self, message, state):
                    if "refund" in message.content and state.get("order_id"):
                        return self.call("refund_order", {"order_id": state["order_id"]})
                    # please follow the policy of the shop at all times
                    return "How can I help you?"
            """
        #expect(try kinds(text) == [])
    }

    @Test("the id of a task and a number that only tasks hold are found")
    func names() throws {
        #expect(try kinds("if task == 'refund-017': pass") == [.taskName])
        #expect(try kinds("orders = {'W9911223': 1}") == [.taskName])
    }

    @Test("copied phrases of tasks are found, respelled or not")
    func phrases() throws {
        let copy = "# hello I am mia li AND i want, to return the blue kettle of order"
        #expect(try kinds(copy) == [.taskText])
    }

    @Test("base-64 and hexadecimal blobs are found, a long line of dashes is not")
    func blobs() throws {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        #expect(try kinds("b = '" + alphabet + alphabet + "'") == [.encodedBlob])
        let digits = String(repeating: "0f1e2d3c4b5a69788796a5b4c3d2e1f0", count: 5)
        #expect(try kinds("b = '\(digits)'") == [.encodedBlob])
        #expect(try kinds("#" + String(repeating: "a", count: 500)) == [])
    }

    @Test("growth, endless lines and turning marks are found")
    func form() throws {
        #expect(try kinds(String(repeating: "x = 1\n", count: 10_000)) == [.sizeGrowth])
        #expect(try kinds("x = '" + String(repeating: "ab ", count: 900) + "'") == [.longLine])
        #expect(try kinds("x = 1 # \u{202E} 1 == x") == [.hiddenText])
    }

    @Test("a finding never repeats what it found")
    func silence() throws {
        let audit = StaticAudit(
            markers: TaskMarkers(ids: [try TaskID("secret-1")], texts: [], publicTexts: [])
        )
        let findings = audit.findings(in: "x = 'secret-1'", previousSize: 0)
        #expect(findings.count == 1)
        #expect(!"\(findings)".contains("secret-1"))
    }
}
