import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What a refusal says of whoever met it, in a whole run.
    @Suite struct Refusals {
        @Test("a hostile agent's attempts are counted exactly, and each line says who did what")
        func hostile() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "no", "times": 10}]}"#,
                scratch: scratch
            )
            try server.writeKey("sk-the-real-key-0123456789abcdef")
            let night = try Night(in: scratch)
            let agent =
                ModelClient.text + """
                    ask("test")
                    ask("train", task_ids=["hidden-7"])
                    ask("record", fields={"val_score": "0.99"})
                    ask("frobnicate")
                    model(question(model="a-better-one"))
                    """
            try night.prepare(Configuration(agent: agent, more: server.models()))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let json = try night.done(["status", night.directory, "--json"]).output
            let status = try JSONValue(parsing: Array(json.utf8), limits: .document)
            let kinds = status["refusals"]?["by_kind"]
            #expect(kinds?["attempt"] == 3, "\(kinds ?? .null)")
            #expect(kinds?["adjusted"] == 1, "\(kinds ?? .null)")
            let text = try night.done(["status", night.directory]).output
            #expect(text.contains("refusals: 3 attempts; besides, "), "\(text)")
            let lines = [
                "the coding agent asked for an exam of the sealed split: refused (vault)",
                "the coding agent asked for task hidden-7, which is not of the train split "
                    + "(train with task_ids): refused (vault)",
                "the coding agent asked to frobnicate: denied (request-table); there is no such request",
                "the coding agent asked for another model",
            ]
            for line in lines {
                #expect(text.contains(line), "\(line): \(text)")
                #expect(ended.notes.contains(line), "\(line): \(ended)")
            }
            #expect(!text.contains("\u{1B}") && !ended.notes.contains("\u{1B}"), "no terminal")
        }
    }
}
