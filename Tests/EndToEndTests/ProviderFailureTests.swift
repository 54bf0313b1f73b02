import StrictJSON
import Testing

extension EndToEnd {
    /// A provider that refuses what the coding agent asks.
    @Suite struct ProviderFailures {
        @Test(
            "its words are in the run's log from the second call on, and in status; nothing is booked"
        )
        func refusing() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"""
                {"conversations": "one",
                 "steps": [{"status": 400, "message": "no such effort here", "times": 100}]}
                """#,
                scratch: scratch
            )
            try server.writeKey("sk-the-real-key")
            let night = try Night(in: scratch)
            let agent = """
                for number in range(3):
                    status, text = model(question())
                    say("answer", status=status)
                """
            try night.prepare(
                Configuration(agent: ModelClient.text + agent, more: server.models())
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("answer").map { $0["status"] } == [400, 400, 400])
            let second = "the model of the coding-agent fails: 2 calls ended by status 400: no such"
            #expect((ended.output + ended.notes).contains(second), "\(ended)")
            let last = "3 calls ended by status 400: no such effort here"
            #expect((ended.output + ended.notes).contains("its last \(last)"), "\(ended)")
            let status = try night.done(["status", night.directory])
            #expect(status.output.contains(last), "\(status)")
            let told = try night.done(["status", night.directory, "--json"])
            let models = try JSONValue(parsing: Array(told.output.utf8), limits: .document)[
                "models"
            ]
            #expect(models?["failing"]?["coding-agent"]?["times"] == 3, "\(models ?? .null)")
            let share = models?["roles"]?["coding-agent"]
            #expect(share?["calls"] == 3 && share?["input_tokens"] == 0, "\(models ?? .null)")
        }
    }
}
