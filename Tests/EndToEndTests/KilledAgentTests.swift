import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// A coding agent that the system-call filter kills.
    @Suite struct KilledAgents {
        @Test("an agent that the filter kills is a refused attempt on the record, not just an end")
        func killed() throws {
            let night = try Night()
            // getpid of the x32 table (0x40000000 + 39): the filter kills for any call of it.
            let call = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)"
            try night.prepare(Configuration(agent: call))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let refusals = try night.bodies(.refusal)
            #expect(refusals.map { $0["layer"] } == ["filter"])
            #expect(refusals.first?["by"] == "coding-agent")
            #expect(
                try night.bodies(.runEnded).last?["reason"] == "the coding agent ended with 159"
            )
            try night.expectSettled()
            // Whoever ends by himself, or by another signal, has met no wall.
            try night.configure(Configuration(agent: "os.kill(os.getpid(), 15)"))
            try night.done(["run", night.directory])
            #expect(try night.bodies(.refusal).count == 1)
        }
    }
}
