import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd.TauBench {
    /// The same agents through this examiner in its sandboxes, and through an unchanged tau2 in one process.
    @Suite struct Comparison {
        @Test(
            "an agent has the rewards that an unchanged tau2 gives it, task by task",
            arguments: ["airline", "retail", "telecom"]
        )
        func same(domain: String) throws {
            let stage = try TauStage(domain: domain, only: TauSelection(domain: domain))
            // Meanwhile: one process, with litellm, in which agent, tasks and judge are together.
            let plain = try PlainTau2(stage)
            try stage.configure("")
            let prepared = try stage.night.run(["prepare", stage.night.directory], seconds: 120)
            try #require(prepared.code == 0, "\(prepared)")
            let baseline = try #require(try stage.night.bodies(.baseline).first)
            let gold = try stage.rewards(baseline["train"])
            #expect(gold.count == 20 && gold.values.allSatisfy { $0 == 1 }, "\(gold)")

            let template = try stage.agent()
            let isWrong = template.replacing("You are a", with: "BE WRONG. You are a")
            #expect(isWrong != template)
            try isWrong.write(toFile: stage.night.agentFile)
            let ended = try stage.night.run(
                ["benchmark", stage.night.directory, "--json"],
                seconds: 120
            )
            try #require(ended.code == 0, "\(ended)")
            let answer = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            let wrong = try stage.rewards(answer["results"])
            #expect(wrong.count == 20 && wrong.values.allSatisfy { $0 == 0 }, "\(wrong)")

            let plainly = try plain.rewards()
            for (task, reward) in gold { #expect(plainly.gold[task] == reward, "\(task)") }
            for (task, reward) in wrong { #expect(plainly.wrong[task] == reward, "\(task)") }
            #expect(plainly.gold.count == 22 && plainly.wrong.count == 22)
        }
    }
}

/// An unchanged tau2 that runs the tasks of a stage, gold first, then wrong.
private final class PlainTau2 {
    private let program: Program

    init(_ stage: TauStage) throws {
        // scripts/bootstrap --tests puts it there.
        program = try Program(
            "/var/cache/invigilator/tests/tau2/bin/python",
            [
                "-B", "\(TauStage.folder)/tests/plain.py",
                TauSelection(domain: stage.domain).file(in: stage.night.scratch),
                "http://127.0.0.1:\(stage.port)/v1", "gold,wrong",
            ],
            temporary: "\(stage.night.scratch.path)/tmp"
        )
    }

    func rewards() throws -> (gold: [String: Double], wrong: [String: Double]) {
        let ended = try program.waitForEnd(seconds: 120)
        try #require(ended.code == 0, "\(ended)")
        let lines = try ended.output.split(separator: "\n").map { line in
            let kind = try JSONValue(parsing: Array(line.utf8), limits: .document)
            return try #require(kind["rewards"]?.objectValue).compactMapValues(\.numberValue)
        }
        try #require(lines.count == 2, "\(ended)")
        return (lines[0], lines[1])
    }
}
