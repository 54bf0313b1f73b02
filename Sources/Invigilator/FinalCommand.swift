internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import StrictJSON
internal import Supervisor

/// `final [DIR]`: opens the sealed tasks that were held back, once.
struct FinalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "final",
        abstract: "Open the final tier once: best candidate and template on tasks never used.",
        discussion: """
            Needs gate.final in the configuration. The result stands in the ledger; asked again, \
            it is printed from there and nothing is run.
            """
    )

    @OptionGroup var experiment: ExperimentOptions
    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() throws {
        let supervision = try Session.begin(experiment)
        var result: (exam: ExamEndedRecord, isNew: Bool)?
        try Session.telling(supervision, to: nil) { () throws(SupervisorError) in
            result = try FinalExam(supervision, progress: Session.report).run()
        }
        try Session.end(supervision)
        guard let (exam, isNew) = result, let mean = exam.mean, let other = exam.incumbentMean
        else { return }
        guard json else {
            let trials = exam.trials > 1 ? ", \(exam.trials) trials" : ""
            try Console.write("best candidate  \(mean)\(Self.text(exam.interval))")
            try Console.write("                \(exam.digest.short), iteration \(exam.iteration)")
            try Console.write("template        \(other)")
            if let difference = exam.difference {
                try Console.write("difference      \(Self.text(difference))")
            }
            try Console.write(
                "over \(exam.count) tasks that nothing ran before\(trials)"
                    + (isNew ? "; it cannot be opened again" : "; opened before")
            )
            return
        }
        try Console.write([
            "schema": "invigilator.final/1", "new": .bool(isNew),
            "digest": .string(exam.digest.hex), "mean": .number(mean.mean),
            "template_mean": .number(other.mean), "tasks": JSONValue(exam.count),
            "trials": JSONValue(exam.trials), "interval": Self.json(exam.interval),
            "difference": Self.json(exam.difference),
        ])
    }

    private static func text(_ interval: IntervalRecord?) -> String {
        guard let interval else { return "" }
        let ends = [interval.lower, interval.upper].map { Decimal.text($0, decimals: 2) }
        return " (95 %: \(ends[0]) to \(ends[1]))"
    }

    private static func json(_ interval: IntervalRecord?) -> JSONValue {
        guard let interval else { return .null }
        return ["lower": .number(interval.lower), "upper": .number(interval.upper)]
    }
}
