import Foundation
import Ledger
import StrictJSON
import Testing

/// The agents of `Fixtures/tau`, and what comes of them.
final class TauAttackers {
    /// What came of one agent.
    struct Outcome {
        /// Rewards above 0 by task.
        var rewards: [String: Double] = [:]
        /// What it said last, by task.
        var said: [String: String] = [:]
        /// How often the customer spoke, by task.
        var customerWords: [String: Int] = [:]
        /// How its process ended.
        var status: Int?
        /// What was printed meanwhile.
        var printed = ""
        /// Tasks whose gold tau2 left in a file.
        var left: Set<String> = []
        /// The outcome of each task on the ledger.
        var outcomes: [String: String] = [:]
        /// Why it has its reward, by task, in its trace.
        var reasons: [String: String] = [:]
        /// The tools that it called in the trace, by task, each with on whose behalf.
        var calls: [String: [String]] = [:]
    }

    private let stage: TauStage
    private var night: Night { stage.night }

    init() throws {
        stage = try TauStage(tasks: Stage.fixtureText("tau_tasks.json"), in: Scratch())
    }

    private func texts() throws -> [String: String] {
        let folder = Stage.fixture("tau")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".py") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                return (
                    String(name.dropLast(3)),
                    text.replacing("PORT = 0", with: "PORT = \(stage.port)")
                )
            }
        )
    }

    // MARK: - in one process

    /// Runs them in the process that judges them, without any sandbox.
    func inOneProcess() throws -> [String: Outcome] {
        let folder = try night.scratch.directory("agents")
        let texts = try texts()
        for (name, text) in texts { try text.write(toFile: "\(folder)/\(name).py") }
        let tasks = "\(night.scratch.path)/train.json"
        let train = try JSONValue(
            parsing: Array(Stage.fixtureText("tau_tasks.json").utf8),
            limits: .document
        )
        let listed = try #require(train["tasks"]?.arrayValue)
            .filter { $0["split"]?.stringValue == "train" }
        let vault: JSONValue = ["domain": "telecom", "tasks": .array(listed)]
        try String(decoding: vault.canonicalBytes, as: UTF8.self).write(toFile: tasks)
        let agents = texts.keys.sorted().map { "\(folder)/\($0).py" }
        let value = try stage.inOneProcess(agents, tasks: tasks)
        return try #require(value.objectValue).mapValues(Self.controlled)
    }

    private static func controlled(_ value: JSONValue) -> Outcome {
        var outcome = Outcome()
        outcome.status = value["status"]?.intValue
        outcome.rewards = (value["rewards"]?.objectValue ?? [:]).compactMapValues(\.numberValue)
            .filter { $0.value > 0 }
        outcome.said = (value["said"]?.objectValue ?? [:]).compactMapValues(\.stringValue)
        outcome.customerWords = (value["customer"]?.objectValue ?? [:]).compactMapValues(\.intValue)
        outcome.printed = value["printed"]?.stringValue ?? ""
        outcome.left = Set((value["left"]?.arrayValue ?? []).compactMap(\.stringValue))
        return outcome
    }

    // MARK: - in sandboxes

    /// Runs them as candidates of train exams, in one night.
    func inSandboxes() throws -> [String: Outcome] {
        let texts = try texts().mapValues { JSONValue.string($0) }
        let cheats = String(decoding: JSONValue.object(texts).canonicalBytes, as: UTF8.self)
        try stage.configure("CHEATS = json.loads(r'''\(cheats)''')\n" + Self.loop)
        let prepared = try night.run(["prepare", night.directory], seconds: 120)
        try #require(prepared.code == 0, "\(prepared)")
        let ended = try night.run(["run", night.directory], seconds: 200)
        #expect(ended.code == 0, "\(ended)")
        try night.expectSettled()
        let exams = try night.bodies(.examEnded).filter { $0["purpose"]?.stringValue == "train" }
        let lines = try night.agentLog("cheat")
        try #require(exams.count == texts.count && lines.count == texts.count, "\(lines)")
        // Asked for one after the other, they are examined in that order.
        return try Dictionary(
            uniqueKeysWithValues: zip(lines, exams).map { line, exam in
                (try #require(line["name"]?.stringValue), try Self.examined(line, exam))
            }
        )
    }

    private static func examined(_ line: JSONValue, _ exam: JSONValue) throws -> Outcome {
        var outcome = Outcome()
        let outcomes = try #require(exam["outcomes"]?.objectValue)
        outcome.outcomes = outcomes.compactMapValues { $0["outcome"]?.stringValue }
        outcome.rewards = outcomes.compactMapValues { $0["reward"]?.numberValue }
            .filter { $0.value > 0 }
        let told = try #require(line["answer"]?["results"]?.objectValue, "\(line)")
            .compactMapValues(\.numberValue).filter { $0.value > 0 }
        #expect(told == outcome.rewards, "the agent is told what stands on the ledger")
        outcome.reasons = (line["reasons"]?.objectValue ?? [:]).compactMapValues(\.stringValue)
        outcome.said = (line["said"]?.objectValue ?? [:]).compactMapValues(\.stringValue)
        outcome.customerWords = (line["customer"]?.objectValue ?? [:]).compactMapValues(\.intValue)
        outcome.calls = (line["calls"]?.objectValue ?? [:])
            .compactMapValues { $0.arrayValue?.compactMap(\.stringValue) }
        return outcome
    }

    private static let loop = """
        PLACE = "/work/workspace/traces/latest/"

        def read(path):
            with open(path) as file:
                return json.load(file)

        for name in sorted(CHEATS):
            write(CHEATS[name])
            answer = ask("train")
            details = {task: read(PLACE + task + "/result.json")["detail"] for task in os.listdir(PLACE)}
            traces = {task: read(PLACE + task + "/trace.json") for task in details}
            said = {
                task: [entry["content"] for entry in trace if entry.get("role") == "assistant"][-1:]
                for task, trace in traces.items()
            }
            reasons = {
                task: detail.get("fault") or "%(reason)s %(termination)s %(note)s" % {
                    "termination": "", "note": "", **detail
                }
                for task, detail in details.items()
            }
            said = {task: words[0][:400] for task, words in said.items() if words}
            calls = {
                task: [
                    "%(requestor)s %(name)s" % call
                    for message in detail.get("messages", [])
                    for call in message.get("tool_calls", [])
                ]
                for task, detail in details.items()
            }
            customer = {
                task: sum(message["role"] == "user" for message in detail.get("messages", []))
                for task, detail in details.items()
            }
            say(
                "cheat", name=name, answer=answer, reasons=reasons, said=said, calls=calls,
                customer=customer,
            )

        """
}
