import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Programs that try system calls which the filter refuses and tells.
    @Suite struct DeniedCalls {
        // Mounts a thousand times over, asks for a vsock, and hands in a candidate that asks for memory
        // without a name, in a train exam and in a sealed one.
        private static let agent = """
            import ctypes
            libc = ctypes.CDLL(None)
            for n in range(20000):
                libc.syscall(165, 0, 0, 0, 0, 0)
            libc.socket(40, 1, 0)
            attempt = "try:\\n    __import__('os').memfd_create('x')\\nexcept OSError: pass\\n"
            write(source() + "\\n" + attempt)
            with open("/work/workspace/train_results.json") as file:
                task = sorted(json.load(file)["results"])[0]
            say("train", code=code(ask("train", task_ids=[task])))
            judged()
            """

        @Test("refused calls are rows with counts, however many; of a candidate no name is known")
        func recorded() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.agent))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let rows = try night.bodies(.refusal).filter { $0["layer"] == "filter" }
            func of(_ author: JSONValue, _ attempt: JSONValue) -> [JSONValue] {
                rows.filter { $0["by"] == author && $0["attempt"] == attempt }
            }
            let mounts = of("coding-agent", "mount")
            #expect(mounts.compactMap { $0["count"]?.intValue }.reduce(0, +) == 20_000)
            #expect((1...8).contains(mounts.count))
            #expect(of("coding-agent", "socket (vsock)").map { $0["count"] } == [1])
            let memory = of("candidate", "memfd_create")
            #expect(memory.count >= 2, "\(rows)")
            let details = memory.compactMap { $0["detail"]?.stringValue }
            // A candidate has no procfs in which init could look up who called.
            #expect(
                details.allSatisfy { $0.hasPrefix("the line that would allow it: syscalls.allow") },
                "\(details)"
            )
            let agents = mounts.compactMap { $0["detail"]?.stringValue }
            #expect(agents.first?.hasPrefix("first by «") == true, "\(agents)")
            #expect(rows.allSatisfy { $0["count"] != nil } && rows.count < 40)

            let status = try night.run(["status", night.directory, "--json"])
            let calls = try JSONValue(
                parsing: Array(status.output.utf8),
                limits: .document
            )["refusals"]?["calls"]
            let told = calls?.arrayValue?.first { $0["call"] == "mount" }
            #expect(told?["count"] == 20_000 && told?["by"] == "coding-agent")
            try night.expectSettled()
        }
    }
}
