import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Root on a host that was not shown to enforce all that `full` promises.
    @Suite struct LowerLevel {
        // It notes when it ran, as ranges without a pause; a scheduler's hiccup is shorter than an exam.
        private static let watching = """
            ranges, ended = [], threading.Event()
            def watch():
                last = 0
                while not ended.is_set():
                    time.sleep(0.005)
                    moment = time.time_ns() // 1000000
                    if moment - last > 100:
                        ranges.append([moment, moment])
                    ranges[-1][1] = last = moment
            watcher = threading.Thread(target=watch)
            watcher.start()
            ask("train")
            write(knowing("add", "subtract", "multiply"))
            judged()
            ended.set()
            watcher.join()
            say("watched", ranges=ranges)

            """

        // The program that looks says nothing of threads, so that limits are not shown, whatever stands.
        private func blindSelfCheck(in scratch: Scratch) throws -> String {
            var bytes = try Data(
                contentsOf: URL(fileURLWithPath: "\(Stage.programs)/invigilator-selfcheck")
            )
            let word = try #require(bytes.firstRange(of: Data("threads %d %s".utf8)))
            bytes.replaceSubrange(word, with: Data("nothing %d %s".utf8))
            let path = "\(scratch.path)/selfcheck"
            try bytes.write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        private func span(_ purpose: String, in night: Night) throws -> ClosedRange<Int64> {
            // A row is written a little before and after the exam.
            let margin: Int64 = 60
            let rows = try night.rows().filter { $0.body["purpose"]?.stringValue == purpose }
            let start = try #require(rows.last { $0.kind == .examStarted }).time + margin
            let end = try #require(rows.last { $0.kind == .examEnded }).time - margin
            try #require(start < end, "the exam was too short to be watched")
            return start...end
        }

        @Test("root's coding agent is frozen during a sealed exam though the level is below full")
        func frozen() throws {
            let before = try Leftovers()
            let night = try Night()
            let blind = try blindSelfCheck(in: night.scratch)
            night.room = try MountRoom(
                "mount --bind \(blind) \(Stage.programs)/invigilator-selfcheck",
                scratch: night.scratch
            )
            let words = ["init", night.directory, "--benchmark", Stage.fixture("sums")]
            try night.done(words + ["--assurance", "single-uid"])
            let policies = "sandbox: { policies: \(night.directory)/policies }"
            try night.configure(Configuration(agent: Self.watching, more: policies))
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            let status = try night.done(["status", "--json", night.directory])
            let json = try JSONValue(parsing: Array(status.output.utf8), limits: .document)
            #expect(json["assurance"] == "single-uid", "\(status)")
            let watched = try #require(try night.agentLog("watched").last?["ranges"]?.arrayValue)
            let ranges = watched.compactMap { pair -> ClosedRange<Int64>? in
                let ends = pair.arrayValue?.compactMap(\.integerValue).map { Int64($0) } ?? []
                return ends.count == 2 ? ends[0]...ends[1] : nil
            }
            let (train, sealed) = try (span("train", in: night), span("sealed", in: night))
            #expect(ranges.contains { $0.overlaps(train) }, "it watches: \(ranges) \(train)")
            #expect(!ranges.contains { $0.overlaps(sealed) }, "\(ranges) \(sealed)")
            let last = try #require(ranges.last)
            #expect(last.lowerBound >= sealed.upperBound - 60, "it ran on afterwards")
            try night.expectSettled()
            night.room = nil
            try before.expectNone(night)
        }
    }
}
