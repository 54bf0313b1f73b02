import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A coding agent that ends and is started again.
    @Suite struct Restarts {
        @Test("nothing of an agent begins while a sealed exam runs, however it times its end")
        func sealed() throws {
            let night = try Night()
            // It hands in a candidate that is slow, and ends so that its next life is due in the exam:
            // 6 s, and the pause of 5 s, are one more than the grace before an exam.
            let agent = """
                if os.path.exists("/home/agent/second"):
                    say("second")
                    sys.exit(0)
                open("/home/agent/second", "w").close()
                write(knowing("add", "multiply").replace("verb, left", "import time; time.sleep(2); verb, left", 1))
                say("ticket", ok=submit()["ok"])
                time.sleep(6)
                sys.exit(1)
                """
            var configuration = Configuration(agent: agent)
            configuration.restarts = 1
            try night.prepare(configuration)
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let rows = try night.rows()
            let begun = try #require(rows.first { $0.kind == .sandboxStarted }?.time)
            let sealed = rows.filter { row in
                [.examStarted, .examEnded].contains(row.kind) && row.body["split"] == "test"
                    && row.body["purpose"] != "baseline"
            }
            let start = try #require(sealed.last { $0.kind == .examStarted }?.time)
            let finish = try #require(sealed.last { $0.kind == .examEnded }?.time)
            // The instrument: the next life was due before the exam was over.
            let exit = try #require(rows.first { $0.kind == .sandboxExited }?.time)
            #expect(exit + 5000 < finish && exit < start, "\(exit) \(start) \(finish)")
            #expect(begun >= finish, "it began \(finish - begun) ms before the exam's end")
            #expect(try night.agentLog("second").count == 1)
            try night.expectSettled()
        }
    }
}
