import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// The real tau2 in the examiner's sandbox; its users, its judge and the agent's model are played
    /// by a script that knows the gold.
    @Suite struct TauBench {
        @Test(
            "an airline's agent without tools is improved to a perfect one, and nothing sealed is left"
        )
        func airline() throws {
            let stage = try TauStage(domain: "airline")
            let template = try stage.agent()
            try template.replacing("tools=self.tools", with: "tools=None")
                .write(toFile: stage.night.agentFile)
            try stage.configure(
                """
                ids = sorted(os.listdir("/work/workspace/traces/baseline"))[:3]
                say("train", answer=ask("train", task_ids=ids))
                write(source().replace("tools=None", "tools=self.tools"))
                say("better", answer=ask("train", task_ids=ids))
                judged("the model has to be offered the tools")
                """,
                rule: "rule: paired, trials: 1"
            )
            let prepared = try stage.night.run(["prepare", stage.night.directory], seconds: 300)
            try #require(prepared.code == 0, "\(prepared)")
            let baseline = try #require(try stage.night.bodies(.baseline).first)
            let floors = try stage.night.bodies(.floor)
            #expect(floors.count == 2)
            let genesis = try #require(try stage.night.bodies(.genesis).first)
            #expect(genesis["split"]?["test_count"] == 20, "\(genesis)")
            let ended = try stage.night.run(["run", stage.night.directory], seconds: 300)
            #expect(ended.code == 0, "\(ended)")
            let verdict = try #require(try stage.night.agentLog("judged").first)
            #expect(verdict["verdict"] == "accepted", "\(verdict)")
            #expect(verdict["released"] == 1, "\(verdict)")
            // Twenty tasks, and one test of fifty: the template earned fewer than ten of them.
            let paired = try stage.night.bodies(.decision).first?["paired"]
            #expect(try #require(paired?["p"]?.numberValue) <= 0.001, "\(paired ?? .null)")
            let better = try #require(try stage.night.agentLog("better").first?["answer"])
            #expect(better["mean"] == 1, "\(better)")
            #expect(try #require(baseline["train_mean"]?.numberValue) < 0.8)
            try stage.night.expectSettled()
            try stage.expectNoSealedMark(trainCount: 30)
        }

        @Test("what is wrong with the benchmark or its models is an error that says so")
        func errors() throws {
            let stage = try TauStage(domain: "bank")
            try stage.configure("")
            let unknown = try stage.night.run(["prepare", stage.night.directory])
            #expect(unknown.code == 2 && unknown.notes.contains("airline, retail"), "\(unknown)")
            try stage.configure("", hasUser: false)
            let nobody = try stage.night.run(["prepare", stage.night.directory])
            #expect(nobody.code == 2, "\(nobody)")
            #expect(nobody.notes.contains("models.roles.user-simulator"), "\(nobody)")
            let checked = try stage.night.run(["benchmark", "check", "tau-bench"])
            #expect(checked.code == 0, "\(checked)")
            #expect(checked.output.contains("not checked"), "\(checked)")
            #expect(checked.output.contains("as far as it was checked"), "\(checked)")
            let away = try TauStage(domain: "mock")
            try away.configure("")
            try away.stop()
            let asked = try away.night.run(["prepare", away.night.directory], seconds: 120)
            #expect(asked.code == 3 && asked.notes.contains("a short question"), "\(asked)")
            let unasked = ["prepare", away.night.directory, "--no-preflight"]
            let none = try away.night.run(unasked, seconds: 120)
            #expect(none.code == 3 && none.notes.contains("ask user-simulator"), "\(none)")
        }
    }
}
