import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Candidates that write messages into the host's counters of kernel objects.
    @Suite struct CounterWatch {
        // Makes pipes as fast as it can: so many, or for three seconds, whichever ends first.
        private static let pipes = """
            import os, time
            end, made = time.monotonic() + 3, 0
            while made < %d and time.monotonic() < end:
                for _ in range(1000):
                    for descriptor in os.pipe():
                        os.close(descriptor)
                made += 1000

            """

        private static let agent = """
            PIPES = '''\(pipes)'''
            text = knowing("add", "subtract")
            for most in (10 ** 9, 1000):
                write(text + PIPES % most)
                judged("makes %d pipes" % most)
            """

        @Test(
            "a sealed exam with too many kernel objects is ended and recorded; within bounds it counts"
        )
        func ended() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration(agent: Self.agent))
            try night.done(["run", night.directory])
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue }
            // Void twice is a refusal.
            #expect(verdicts == ["rejected", "accepted"])
            let refusals = try night.bodies(.refusal)
            // The exam that was ended, and its repetition.
            #expect(
                refusals.map { $0["layer"]?.stringValue } == ["counter-watch", "counter-watch"]
            )
            #expect(refusals.allSatisfy { $0["by"] == "candidate" && $0["iteration"] == 1 })
            let exams = try night.bodies(.examEnded).filter { $0["purpose"] == "sealed" }
            let voided = exams.map { $0["faults"]?["host-exhausted"] != nil }
            #expect(voided == [true, true, false])
            try expectShown(night)
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a sealed exam of the preparation that is ended so is recorded too")
        func endedInPreparation() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.set(up: Configuration())
            let template = try String(contentsOfFile: night.agentFile, encoding: .utf8)
            let endless = Self.pipes.replacingOccurrences(of: "%d", with: "10 ** 9")
            try (endless + template).write(toFile: night.agentFile)
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 3, "\(ended)")
            let refusals = try night.bodies(.refusal)
            #expect(refusals.map { $0["layer"]?.stringValue } == ["counter-watch"])
            #expect(refusals.allSatisfy { $0["by"] == "candidate" && $0["iteration"] == 0 })
            #expect(try night.bodies(.baseline).isEmpty)
            try night.expectIntact()
            try before.expectNone(night)
        }

        private func expectShown(_ night: Night) throws {
            let status = try night.done(["status", night.directory, "--json"])
            let json = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(json["refusals"]?["by_layer"]?["counter-watch"] == 2, "\(status)")
            let page = "\(night.directory)/report.html"
            try night.done(["report", night.directory, "-o", page])
            let text = try String(contentsOfFile: page, encoding: .utf8)
            #expect(text.contains("<b>counter-watch</b>"))
        }
    }
}
