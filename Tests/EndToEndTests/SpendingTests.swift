import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What a stream costs while it runs, and after whoever should have told its end is gone.
    @Suite struct Spending {
        private static let agent =
            ModelClient.text + """
                connection = http.client.HTTPConnection("127.0.0.1", 8377, timeout=60)
                connection.request("POST", "/v1/chat/completions", json.dumps(question(stream=True)),
                                   {"content-type": "application/json"})
                answer = connection.getresponse()
                say("stream", status=answer.status)
                try:
                    while answer.read(200):
                        pass
                except (OSError, http.client.HTTPException):
                    pass
                """
        // Half a minute and longer; nobody waits for its end.
        private static let script = """
            {"conversations": "one", "steps": [
                {"text": "\(String(repeating: "word ", count: 2000))", "pace": 0.02, "times": 100}]}
            """
        private static func night() throws -> (Night, ModelServer) {
            let scratch = try Scratch()
            let server = try ModelServer(script, scratch: scratch)
            try server.writeKey("sk-the-real-key-0123456789abcdef")
            let night = try Night(in: scratch)
            try night.prepare(Configuration(agent: agent, more: server.models()))
            return (night, server)
        }

        private static func share(_ night: Night) throws -> JSONValue? {
            let text = try night.done(["status", night.directory, "--json"]).output
            let status = try JSONValue(parsing: Array(text.utf8), limits: .document)
            return status["models"]?["roles"]?["coding-agent"]
        }

        private static func output(_ share: JSONValue?) -> Int {
            share?["output_tokens"]?.intValue ?? 0
        }

        @Test("`status` shows it while it runs, and the run after a killed one books it")
        func killedRun() throws {
            let (night, server) = try Self.night()
            let run = try night.start(["run", night.directory])
            var live: JSONValue?
            try Stage.wait("the stream is seen in `status`") {
                live = try? Self.share(night)
                return Self.output(live) > 50
            }
            #expect(live?["calls"] == 1 && live?["failures"] == 0, "\(live ?? .null)")
            // Nothing of it is on the record yet.
            #expect(try night.bodies(.modelUsage).isEmpty)
            run.send(SIGKILL)
            _ = try run.waitForEnd()
            let left = try Self.share(night)
            #expect(Self.output(left) >= Self.output(live), "\(left ?? .null)")
            // The next run writes the row before it does anything, and only once.
            for _ in 0..<2 {
                try night.configure(Configuration(agent: "say(\"idle\")\n", more: server.models()))
                let ended = try night.run(["run", night.directory])
                #expect(ended.code == 0, "\(ended)")
            }
            let rows = try night.bodies(.modelUsage)
            let tokens = rows.compactMap {
                $0["roles"]?["coding-agent"]?["output_tokens"]?.intValue
            }
            #expect(tokens == [Self.output(left)], "\(rows)")
            try night.expectSettled()
        }
    }
}
