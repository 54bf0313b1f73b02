import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A coding agent that stays in single calls of the kernel, where no freezer can stop it.
    @Suite struct Freezer {
        // One call that maps the zero page 16 million times takes seconds, and between two of them there
        // is no time; what it costs are 128 MiB of page tables for each process.
        private static let busy = """
            import mmap
            def stay():
                READ, FLAGS = mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000 | 0x4000
                while True:
                    mmap.mmap(-1, 64 << 30, flags=FLAGS, prot=READ).close()
            def begin():
                for _ in range(4):
                    if os.fork() == 0:
                        stay()
                time.sleep(1)

            """

        enum Moment: String, CaseIterable, Sendable {
            case copy = "begin(); answer = submit()"
            case exam = "answer = submit(); begin()"
        }

        @Test(
            "whoever cannot be frozen is killed, and what it submitted is judged",
            arguments: Moment.allCases
        )
        func resistance(_ moment: Moment) throws {
            let before = try Leftovers()
            let night = try Night()
            let file = "write(knowing(\"add\", \"subtract\", \"multiply\"))\n"
            let rest = "\nask(\"result\", ticket=answer[\"ticket\"])\n"
            try night.prepare(Configuration(agent: Self.busy + file + moment.rawValue + rest))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let refusal = try #require(try night.bodies(.refusal).first)
            #expect(refusal["layer"] == "freezer" && refusal["by"] == "coding-agent")
            #expect(refusal["detail"]?.stringValue?.contains("ETIMEDOUT") == true, "\(refusal)")
            let reason = try night.bodies(.runEnded).last?["reason"]
            #expect(reason == "the coding agent ended with 137")
            #expect(try night.bodies(.decision).map { $0["verdict"] } == ["accepted"])
            try night.expectSettled()
            try night.configure(Configuration(agent: "ask(\"learn\", text=\"again\")\n"))
            try night.done(["run", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
