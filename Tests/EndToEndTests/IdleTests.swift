import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A coding agent that hangs, and one that only looks so.
    @Suite struct IdleLimits {
        @Test("who waits for an exam or asks a model is not idle; who then hangs is ended for it")
        func hanging() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "delay": 1.0, "times": 9}]}"#,
                scratch: scratch
            )
            try server.writeKey("sk-of-this-test")
            let night = try Night(in: scratch)
            // Nothing is printed on the way: first an exam that is longer than the limit, then calls
            // that are longer together. What comes after is busy, and says nothing to anybody.
            let agent =
                ModelClient.text + """
                    with open("/work/workspace/train_results.json") as file:
                        task = sorted(json.load(file)["results"])[0]
                    write(source().replace("verb, left", "import time; time.sleep(2.8); verb, left", 1))
                    began = time.monotonic()
                    trained = ask("train", task_ids=[task])
                    exam = time.monotonic() - began
                    statuses = [model(question())[0] for _ in range(3)]
                    calls = time.monotonic() - began - exam
                    say("alive", trained=code(trained), exam=exam, statuses=statuses, calls=calls)
                    while True:
                        pass
                    """
            var configuration = Configuration(agent: agent, more: server.models())
            configuration.idle = "2s"
            try night.prepare(configuration)
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let alive = try #require(try night.agentLog("alive").first, "\(ended)")
            #expect(alive["trained"] == "ok" && alive["statuses"] == [200, 200, 200], "\(alive)")
            // The instrument: each alone is longer than the limit and a quarter, within which one is seen.
            #expect(try #require(alive["exam"]?.numberValue) > 2.7)
            #expect(try #require(alive["calls"]?.numberValue) > 2.9)
            let reason =
                "the coding agent ended with 137: it was silent for longer than its idle limit"
            #expect(try night.bodies(.runEnded).last?["reason"]?.stringValue == reason)
            let status = try night.done(["status", night.directory, "--json"])
            let told = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(told["last_end"]?.stringValue == reason && told["phase"] == "ended")
            try night.expectSettled()
        }
    }
}
