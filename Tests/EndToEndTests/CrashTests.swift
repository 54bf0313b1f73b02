import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// Programs that are killed in the middle of a night.
    @Suite struct Crashes {
        // Different bytes in every run, because the same ones get no second try.
        private static let agent = """
            ask("train")
            for verbs in (["add", "subtract"], ["add", "subtract", "multiply"]):
                write(knowing(*verbs, note="# %d\\n" % time.time_ns()))
                judged(" ".join(verbs))

            """
        private static let idle = "say(\"idle\")\ntime.sleep(1000)\n"

        /// Where a run is cut off; `Faults` does it after every row.
        enum Point: String, Sendable {
            case idle
            case firstSealed = "sealed exam over"
        }

        private static func cut(_ night: Night, at point: Point) throws -> Program {
            try night.configure(
                Configuration(agent: (point == .idle ? "" : agent) + idle)
            )
            let before = (try? night.agentLog("idle").count) ?? 0
            let running = try night.start(["run", night.directory])
            if point == .idle {
                try Stage.wait("the agent to idle") {
                    ((try? night.agentLog("idle").count) ?? 0) > before
                }
            } else {
                try running.waitFor(point.rawValue)
            }
            return running
        }

        private static func finish(_ night: Night) throws {
            try night.configure(Configuration(agent: agent))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
        }

        // Every row that was there before is there still.
        private static func expectKept(_ rows: [LedgerEntry], _ night: Night) throws {
            let now = try night.rows()
            #expect(now.count > rows.count)
            #expect(Array(now.prefix(rows.count)) == rows)
        }

        @Test(
            "a killed supervisor leaves nothing, and the next run goes on",
            arguments: [Point.idle, .firstSealed]
        )
        func supervisor(_ point: Point) throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration())
            let running = try Self.cut(night, at: point)
            let family = try Leftovers.descendants(of: running.pid)
            #expect(family.count >= 3, "launcher, init and payload: \(family)")
            running.send(SIGKILL)
            let ended = try running.waitForEnd()
            #expect(ended.signal == SIGKILL)
            try Stage.wait("everything it started to be gone", seconds: 10) {
                Leftovers.living(family).isEmpty
            }
            let rows = try night.rows()
            try Self.finish(night)
            try Self.expectKept(rows, night)
            try night.expectSettled()
            // What the exam that was cut off can have told is charged, as of one that ended.
            let charged = try night.bodies(.void).compactMap {
                $0["bits"]?["channels"]?.numberValue
            }
            #expect(charged == (point == .firstSealed ? [4] : []), "\(charged)")
            try before.expectNone(night)
        }

        @Test(
            "a killed launcher ends the run with 3, leaves nothing, and the next run goes on",
            arguments: [Point.idle, .firstSealed]
        )
        func launcher(_ point: Point) throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(Configuration())
            let running = try Self.cut(night, at: point)
            let family = try Leftovers.descendants(of: running.pid)
            let launcher = try #require(family.first { Leftovers.isLauncher($0) })
            kill(launcher, SIGKILL)
            let ended = try running.waitForEnd(seconds: 30)
            #expect(ended.code == 3, "\(ended)")
            #expect(ended.notes.contains("launcher"), "\(ended)")
            try Stage.wait("everything to be gone", seconds: 10) {
                Leftovers.living(family).isEmpty
            }
            let rows = try night.rows()
            try Self.finish(night)
            try Self.expectKept(rows, night)
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a preparation that was killed is completed by the next one")
        func preparation() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.set(up: Configuration(agent: Self.agent))
            for point in ["baseline exam over 8", "floor exam over"] {
                let running = try night.start(["prepare", night.directory])
                try running.waitFor(point)
                running.send(SIGKILL)
                _ = try running.waitForEnd()
            }
            try night.done(["prepare", night.directory])
            #expect(try night.bodies(.genesis).count == 1)
            #expect(try night.bodies(.baseline).count == 1)
            #expect(try night.bodies(.floor).count == 1)
            try night.done(["run", night.directory])
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
