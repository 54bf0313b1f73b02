import Ledger
import StrictJSON
import Testing

extension RedTeam {
    @Suite("The coding agent during a sealed exam")
    struct FreezeTests {
        /// Where rows and clocks may disagree: a row is written a little before and after the exam.
        private static let margin: Int64 = 60

        private struct Span {
            let start: Int64
            let end: Int64
        }

        @Test("the agent's clock stands still while a sealed exam runs")
        func standsStill() throws {
            let experiment = try Hall.shared().watching(isFrozen: true)
            let exam = try Self.sealedExam(of: experiment)
            let ran = try Self.ranges(of: experiment)
            #expect(!ran.contains { $0.start < exam.end && $0.end > exam.start }, "\(ran) \(exam)")
            #expect(ran.contains { $0.start >= exam.end - Self.margin }, "it ran on afterwards")
        }

        @Test("without the freezing it runs through the whole of the exam")
        func runsOn() throws {
            let experiment = try Hall.shared().watching(isFrozen: false)
            let exam = try Self.sealedExam(of: experiment)
            let ran = try Self.ranges(of: experiment)
            #expect(ran.contains { $0.start < exam.start && $0.end > exam.end }, "\(ran) \(exam)")
        }

        private static func sealedExam(of experiment: Experiment) throws -> Span {
            func time(_ kind: String) throws -> Int64 {
                try #require(
                    experiment.rows.first {
                        $0.kind.rawValue == kind && $0.body["purpose"] == "sealed"
                    }
                ).time
            }
            let span = Span(
                start: try time("exam-started") + margin,
                end: try time("exam-ended") - margin
            )
            try #require(span.start < span.end, "the exam was too short to be watched")
            return span
        }

        private static func ranges(of experiment: Experiment) throws -> [Span] {
            let line = try #require(experiment.said.first { $0["event"] == "watched" })
            return try #require(line["ranges"]?.arrayValue).map { pair in
                let ends = try #require(pair.arrayValue).compactMap(\.integerValue)
                try #require(ends.count == 2)
                return Span(start: Int64(ends[0]), end: Int64(ends[1]))
            }
        }
    }
}
