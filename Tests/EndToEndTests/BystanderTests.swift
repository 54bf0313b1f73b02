import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Numbers of the host's counters: what others take, and what candidates take.
    @Suite struct Bystanders {
        // Takes numbers as fast as it can, as ordinary programs of a busy host do between them.
        private static let flood = """
            import os
            while True:
                for descriptor in os.pipe():
                    os.close(descriptor)
            """

        // Makes so many pipes.
        private static let pipes = """
            import os
            for _ in range(%d):
                for descriptor in os.pipe():
                    os.close(descriptor)

            """

        private static let agent = """
            PIPES = '''\(pipes)'''
            text = knowing("add", "subtract")
            for most in (10 ** 9, 100):
                write(text + PIPES % most)
                judged("makes %d pipes" % most)
            """

        @Test("a neighbour that takes numbers as fast as it can ends, voids and refuses nothing")
        func neighbour() throws {
            let before = try Leftovers()
            let night = try Night()
            let neighbour = try Program(
                "/usr/bin/python3",
                ["-I", "-c", Self.flood],
                temporary: "\(night.scratch.path)/tmp"
            )
            defer {
                neighbour.send(SIGKILL)
                _ = try? neighbour.waitForEnd()
            }
            try night.prepare(
                Configuration(agent: #"write(knowing("add", "subtract")); judged("adds")"#)
            )
            try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).map { $0["verdict"] } == ["accepted"])
            #expect(try night.bodies(.refusal).isEmpty)
            #expect(try night.bodies(.void).isEmpty)
            try night.expectSettled()
            neighbour.send(SIGKILL)
            _ = try neighbour.waitForEnd()
            try before.expectNone(night)
        }

        @Test(
            "a candidate beyond its own limit fails by its own fault, and the charge is what it always is"
        )
        func limit() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: Self.agent))
            try night.done(["run", night.directory])
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            #expect(verdicts == ["rejected", "accepted"])
            let exams = try night.bodies(.examEnded).filter { $0["iteration"] == 2 }
            #expect(!exams.isEmpty && exams.allSatisfy { $0["faults"] == .object([:]) })
            // It is over before it has said anything.
            let refusals = try night.bodies(.refusal)
            #expect(
                refusals.contains {
                    $0["by"] == "candidate" && $0["layer"] == "verdict-descriptor"
                        && $0["iteration"] == 1
                }
            )
            let told = try night.bodies(.release).map { $0["bits"]?["channels"]?.numberValue }
            // Four bits for the counters, and one for whether an exam was run again.
            #expect(told.last == .some(.some(5)), "\(told)")
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
