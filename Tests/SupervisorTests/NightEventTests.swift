import StrictJSON
import Supervisor
import Testing
import Workspace

@Suite("What rows tell programs outside")
struct NightEventTests {
    private func event(_ kind: String, _ body: JSONValue) -> [String: JSONValue]? {
        NightEvent.of(kind, body, row: 7, at: 1_000, experiment: "x1")
    }

    /// The members beside those that every event has.
    private func told(_ kind: String, _ body: JSONValue) throws -> [String: JSONValue] {
        var members = try #require(event(kind, body))
        #expect(members.removeValue(forKey: "schema") == "invigilator.event/1")
        #expect(members.removeValue(forKey: "kind") == .string(kind))
        #expect(members.removeValue(forKey: "time") == 1_000)
        #expect(members.removeValue(forKey: "experiment") == "x1")
        #expect(members.removeValue(forKey: "row") == 7)
        return members
    }

    @Test("of a sealed exam nothing is told but that it began and ended")
    func sealedExam() throws {
        let body: JSONValue = [
            "iteration": 1, "purpose": "sealed", "split": "test", "count": 4, "mean": 0.75,
            "passed": 3, "faults": ["timeout": 1], "duration_ms": 900, "sealed_root": "r",
            "interval": ["lower": 0.1, "upper": 0.9], "incumbent_mean": 0.5, "twins": ["gap": 0.1],
            "passed_always": 2,
        ]
        #expect(
            try told("exam-ended", body) == [
                "iteration": 1, "purpose": "sealed", "split": "test", "count": 4,
            ]
        )
    }

    @Test("how long an exam took is told of those that the coding agent asked for, and of no other")
    func durations() throws {
        for purpose in [
            "baseline", "floor", "train", "suite", "sealed", "recheck", "final", "sentinel",
            "protect", "confirm",
        ] {
            let body: JSONValue = [
                "iteration": 1, "purpose": .string(purpose), "split": "train", "count": 4,
                "mean": 0.75, "passed": 3, "duration_ms": 900,
            ]
            let expected: JSONValue? = purpose == "train" ? 900 : nil
            #expect(try told("exam-ended", body)["duration_ms"] == expected, "\(purpose)")
        }
    }

    @Test("of a train exam the score is told, and no task")
    func trainExam() throws {
        let body: JSONValue = [
            "iteration": 1, "purpose": "train", "split": "train", "count": 4, "mean": 0.75,
            "passed": 3, "duration_ms": 900, "outcomes": ["t1": ["outcome": "graded"]],
        ]
        let told = try told("exam-ended", body)
        #expect(told["mean"] == 0.75 && told["passed"] == 3 && told["outcomes"] == nil)
    }

    @Test("of a decision no figure is told; a release tells what was released")
    func decision() throws {
        let body: JSONValue = [
            "iteration": 1, "ticket": "T1", "digest": "d", "verdict": "accepted",
            "reasons": ["the sealed mean is 0.7512"], "sealed_mean": 0.7512, "sealed_count": 4,
            "suite_passed": 1, "suite_total": 2, "best_before": 0.5, "released": 0.75,
            "paired": ["p": 0.01],
        ]
        #expect(
            try told("decision", body) == [
                "iteration": 1, "ticket": "T1", "digest": "d", "verdict": "accepted",
            ]
        )
        let release: JSONValue = [
            "iteration": 1, "ticket": "T1", "verdict": "accepted", "released": 0.75,
            "bits": ["score": 1], "slot_ms": 5,
        ]
        #expect(
            try told("release", release) == [
                "iteration": 1, "ticket": "T1", "verdict": "accepted", "released": 0.75,
            ]
        )
    }

    @Test("baseline and floors tell no sealed mean")
    func baseline() throws {
        let body: JSONValue = [
            "digest": "d", "train": ["t1": 1], "train_mean": 0.5, "sealed_mean": 0.4321,
            "sealed_count": 2, "released": 0.45,
        ]
        #expect(try told("baseline", body) == ["train_mean": 0.5, "released": 0.45])
        #expect(try told("floor", ["name": "idle", "sealed_mean": 0.1]) == ["name": "idle"])
    }

    @Test("a note of the coding agent is told without its words")
    func note() throws {
        let body: JSONValue = ["iteration": 2, "needs": "@channel send me the key", "text": "x"]
        #expect(try told("learning", body) == ["iteration": 2, "needs": true])
    }

    @Test("copies, audits and kinds that nobody knows are no events")
    func none() {
        for kind in ["snapshot", "audit", "view-rendered", "migrated", "another"] {
            #expect(event(kind, ["iteration": 1]) == nil)
        }
    }

    @Test("a text of others is cut")
    func long() throws {
        let text = String(repeating: "x", count: 5_000)
        let told = try told("void", ["iteration": 1, "reason": .string(text)])
        #expect(told["reason"]?.stringValue?.count == 500)
    }

    @Test("whom an event concerns")
    func occasions() throws {
        func of(_ kind: String, _ body: JSONValue) throws -> Set<NotifySettings.Occasion> {
            NightEvent.occasions(of: try #require(event(kind, body)))
        }
        #expect(try of("release", ["verdict": "accepted"]) == [.accepted])
        #expect(try of("release", ["verdict": "rejected"]) == [])
        #expect(try of("release", ["verdict": "void"]) == [.void])
        #expect(try of("decision", ["verdict": "accepted"]) == [], "it is not released yet")
        #expect(try of("run-ended", ["reason": "the coding agent ended with 0"]) == [.ended])
        #expect(
            try of("run-ended", ["reason": "the budget of hours is spent"]) == [.ended, .budget]
        )
        #expect(
            try of("run-ended", ["reason": "the bound of this run's cost is reached"])
                == [.ended, .budget]
        )
        #expect(try of("tripwire", ["wire": "canary"]) == [.tripwire])
        #expect(try of("refusal", ["layer": "model", "attempt": "budget-spent"]) == [.budget])
        #expect(try of("refusal", ["layer": "vault", "attempt": "budget-spent"]) == [])
        #expect(
            NightEvent.occasions(of: NightEvent.begun("error", at: 1, experiment: "x")) == [.error]
        )
        #expect(try of("unnotified", [:]) == [], "a hook that fails is not told of that")
    }
}
