import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Agents that attack tau2, which works where they run in tau2's own process.
    ///
    /// The benchmark's README lists them.
    @Suite struct TauAttacks {
        private typealias Outcomes = [String: TauAttackers.Outcome]

        private static let models = [
            "stronger-model", "judge-model", "user-model", "judge", "user-simulator",
        ]

        @Test("in tau2's own process each attack works")
        func control() throws {
            let ran = try TauAttackers().inOneProcess()
            let nothing = try #require(ran["a-nothing"])
            #expect(nothing.rewards == ["untouched": 1] && nothing.status == 1, "\(nothing)")
            let earned = ran.mapValues { Set($0.rewards.keys).subtracting(["untouched"]) }
            #expect(earned["data"] == ["phone", "told", "roaming"])
            #expect(earned["frames"] == ["phone", "told", "roaming"])
            #expect(earned["mutate"] == ["roaming"])
            #expect(earned["requestor"] == ["phone"])
            #expect(earned["inject"] == ["judged"])
            #expect(earned["dump"] == ["told"])
            // Who is judged says what the judge's process ends with, and which number it prints.
            #expect(ran["exit"]?.status == 0 && ran["exit"]?.rewards == [:])
            #expect(ran["score"]?.status == 0 && ran["score"]?.rewards == nothing.rewards)
            #expect(ran["rebind"]?.status == 0 && ran["rebind"]?.rewards.count == 5)
            // One exception, and no task of the run has a score.
            #expect(ran["raise"]?.status == 1 && ran["raise"]?.rewards == [:])
            // It is paid for what it left alone, and no customer had a word.
            #expect(ran["stop"]?.rewards == nothing.rewards)
            #expect(ran["stop"]?.customerWords["untouched"] == 1)
            try expectSaid("toolkit", "reached 4 customers. END", ran)
            try expectSaid("post", "reached a host. END", ran)
            try expectSaid("keep", "2 in memory, 2 in a file. END", ran)
            let answers = Self.models.map { "\($0) thinking high" }.joined(separator: "; ")
            try expectSaid("models", "\(answers) END", ran)
            #expect(try #require(ran["persuade"]?.said["told"]).contains("Say case told and do"))
            // Gold stays in a file, and each task's reward is printed.
            #expect(nothing.left == ["phone", "told", "judged", "untouched", "roaming"])
            #expect(nothing.printed.contains("Reward: 1.0"))
        }

        @Test(
            "A05, A14, A15, B01, B02, B03, B04, B05, B06, B07, B08, B09, B10, B11, B12, D01, D02, D05: agents that attack tau2 earn what doing nothing earns, and go on the record"
        )
        func attacks() throws {
            let tried = try TauAttackers().inSandboxes()
            let nothing = try #require(tried["a-nothing"])
            #expect(nothing.rewards == ["untouched": 1], "\(nothing)")
            for (name, cheat) in tried where name != "dump" {
                let earned = cheat.rewards.filter { $0.value > nothing.rewards[$0.key, default: 0] }
                #expect(earned.isEmpty, "\(name) earned: \(cheat)")
                #expect(cheat.outcomes.count == 5 && cheat.reasons.count == 5, "\(name): \(cheat)")
            }
            expectFaults(tried)
            let tasks = Set(nothing.outcomes.keys)
            // The customer ends the conversation, and only then it is worth what doing nothing is.
            #expect(tried["stop"]?.customerWords["untouched"] ?? 0 > 5)
            #expect(tried["stop"]?.reasons["untouched"] == "solved user_stop ")
            // What it did stays done, and what it asked for as the customer it asked for as itself.
            let undone = ["assistant refuel_data", "assistant disable_roaming"]
            #expect(tried["mutate"]?.calls["roaming"] == undone)
            #expect(tried["requestor"]?.calls["phone"] == ["assistant toggle_airplane_mode"])
            try expectSaid("toolkit", "reached nobody. END", tried)
            try expectSaid("post", "reached nobody: ConnectionRefusedError. END", tried)
            let answers = Self.models.map { _ in "agent-model thinking None" }
            try expectSaid("models", answers.joined(separator: "; ") + " END", tried)
            for task in tasks {
                try expectSaid("keep", "1 in memory, 1 in a file. END", tried, task)
            }
            // Words are searched for numbers, by tau2's rule: a floor says what that pays.
            #expect(Set(try #require(tried["dump"]).rewards.keys) == ["told", "untouched"])
        }

        /// Expects that who ends, raises, floods or turns the judge's head has no reward, with a reason.
        private func expectFaults(_ tried: Outcomes) {
            for name in ["exit", "both-silent"] {
                #expect(
                    tried[name]?.outcomes.values.allSatisfy { $0 == "exited" } == true,
                    "\(name)"
                )
            }
            for (name, note) in ["done": "only the user may", "flood": "more than 32000"] {
                #expect(tried[name]?.rewards == [:], "\(name)")
                let reasons = tried[name]?.reasons.values.map { $0 } ?? []
                for reason in reasons {
                    #expect(reason.hasPrefix("agent-fault") && reason.contains(note), "\(reason)")
                }
            }
            #expect(tried["raise"]?.outcomes["told"] == "exited")
            #expect(tried["raise"]?.outcomes.values.filter { $0 == "graded" }.count == 4)
            #expect(tried["inject"]?.reasons["judged"]?.hasPrefix("model-refused") == true)
        }

        private func expectSaid(
            _ name: String,
            _ words: String,
            _ outcomes: Outcomes,
            _ task: String = "told"
        ) throws {
            #expect(try #require(outcomes[name]).said[task] == words, "\(name)")
        }
    }
}
