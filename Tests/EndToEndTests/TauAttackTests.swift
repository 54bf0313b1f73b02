import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Agents that attack tau2, in sandboxes and, as the control, in tau2's own process.
    @Suite struct TauAttacks {
        @Test("agents that attack tau2 earn what doing nothing earns, and go on the record")
        func attacks() throws {
            let stage = try TauStage(domain: "mock")
            try stage.configure(
                "CHEATS = json.loads(r'''\(try stage.cheats())''')\n" + """
                    for name in sorted(CHEATS):
                        write(CHEATS[name])
                        answer = ask("train")
                        say("cheat", name=name, answer=answer)
                    """
            )
            let prepared = try stage.night.run(["prepare", stage.night.directory], seconds: 120)
            try #require(prepared.code == 0, "\(prepared)")
            let ended = try stage.night.run(["run", stage.night.directory], seconds: 200)
            #expect(ended.code == 0, "\(ended)")
            let tried = try stage.night.agentLog("cheat")
            #expect(tried.count == stage.cheatCount, "\(tried)")
            func results(_ name: String) throws -> [String: Double] {
                let answer = try #require(tried.first { $0["name"]?.stringValue == name })
                let results = try #require(answer["answer"]?["results"]?.objectValue, "\(answer)")
                return results.compactMapValues(\.numberValue)
            }
            let nothing = try results("a-nothing")
            #expect(nothing.count == 6)
            for cheat in tried {
                let name = try #require(cheat["name"]?.stringValue)
                for (task, reward) in try results(name) {
                    #expect(reward <= nothing[task, default: 0], "\(name) earned in \(task)")
                }
            }
            #expect(nothing.values.reduce(0, +) <= 1, "\(nothing)")
            for name in ["exit", "raise", "stop", "flood", "both-silent"] {
                #expect(try results(name).values.allSatisfy { $0 == 0 }, "\(name)")
            }
            try stage.night.expectSettled()
        }

        @Test(
            "what is to be stopped works where the agent runs in tau2's own process",
            arguments: ["frames", "rebind"]
        )
        func control(cheat: String) throws {
            let stage = try TauStage(domain: "mock")
            let nothing = try stage.inOneProcess("a-nothing")
            #expect(nothing.values.reduce(0, +) <= 1, "\(nothing)")
            let earned = try stage.inOneProcess(cheat)
            #expect(earned.values.reduce(0, +) >= 8, "\(earned)")
        }
    }
}
