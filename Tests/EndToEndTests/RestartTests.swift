import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A coding agent that ends and is started again.
    @Suite struct Restarts {
        @Test(
            "an agent that hangs begins again, never beside a sealed exam, and a stop rule ends its night"
        )
        func sealed() throws {
            let night = try Night()
            // It hands in a candidate that is slow, and hangs, so that its next life is due in the exam:
            // the limit of 5 s, what the look for other signs adds, and the pause of 5 s are more than
            // the grace before an exam.
            let agent = """
                if os.path.exists("/home/agent/second"):
                    say("second")
                    write(knowing("add", "subtract"))
                    judged()
                    time.sleep(600)
                open("/home/agent/second", "w").close()
                write(knowing("add", "multiply").replace("verb, left", "import time; time.sleep(2); verb, left", 1))
                say("ticket", ok=submit()["ok"])
                time.sleep(600)
                """
            var configuration = Configuration(agent: agent, more: "budget: { iterations: 2 }")
            configuration.restarts = 1
            configuration.idle = "5s"
            try night.prepare(configuration)
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let rows = try night.rows()
            let begun = try #require(rows.first { $0.kind == .sandboxStarted }?.time)
            let sealed = rows.filter { row in
                [.examStarted, .examEnded].contains(row.kind) && row.body["purpose"] == "sealed"
            }
            let start = try #require(sealed.first { $0.kind == .examStarted }?.time)
            let finish = try #require(sealed.first { $0.kind == .examEnded }?.time)
            // The instrument: the next life was due before the exam was over.
            let exits = rows.filter { $0.kind == .sandboxExited }
            #expect(exits.map { $0.body["kind"] } == ["idle"] && exits[0].body["code"] == 137)
            let exit = try #require(exits.first?.time)
            #expect(exit + 5000 < finish && exit < start, "\(exit) \(start) \(finish)")
            #expect(begun >= finish, "it began \(finish - begun) ms before the exam's end")
            #expect(try night.agentLog("second").count == 1)
            #expect(
                ended.notes.contains("silent for longer than its idle limit; it is started again")
            )
            #expect(try night.bodies(.decision).count == 2)
            let status = try night.done(["status", night.directory, "--json"])
            let told = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(told["restarts"] == ["total": 1, "by_end": ["idle": 1]], "\(told)")
            #expect(told["last_end"] == "the budget of iterations is spent")
            try night.expectSettled()
        }
    }
}
