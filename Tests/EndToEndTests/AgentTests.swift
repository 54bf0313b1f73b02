import Foundation
import Ledger
import StrictJSON
import Testing

/// A real coding agent, unmodified, with what its scripted model is made of.
struct RealAgent: CustomTestStringConvertible {
    let name: String
    let model: String
    let dialect: String
    /// The status by which its provider says that it has too much to do.
    let overloaded: Int

    var testDescription: String { name }

    static let claude = RealAgent(
        name: "claude-code",
        model: "claude-opus-5-5",
        dialect: "anthropic-messages",
        overloaded: 529
    )
    static let codex = RealAgent(
        name: "codex-cli",
        model: "gpt-5.5",
        dialect: "openai-responses",
        overloaded: 500
    )
    static let mini = RealAgent(
        name: "mini-swe-agent",
        model: "gpt-5.5",
        dialect: "openai-chat",
        overloaded: 500
    )
    static let aider = RealAgent(
        name: "aider",
        model: "gpt-5.5",
        dialect: "openai-chat",
        overloaded: 500
    )

    static let vibe = RealAgent(
        name: "mistral-vibe",
        model: "gpt-5.5",
        dialect: "openai-chat",
        overloaded: 500
    )
    static let openHands = RealAgent(
        name: "openhands",
        model: "gpt-5.5",
        dialect: "openai-responses, openai-chat",
        overloaded: 500
    )

    static let all = [claude, codex, mini, aider, vibe, openHands]

    /// The script of its whole night.
    func script() throws -> [String: Any] {
        let text = try Stage.fixtureText("agents/\(name).json")
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [String: Any])
    }

    /// The same with further steps before one.
    func script(adding further: [[String: Any]], at index: Int) throws -> String {
        var script = try script()
        var steps = try #require(script["steps"] as? [[String: Any]])
        steps.insert(contentsOf: further, at: index)
        script["steps"] = steps
        return try Self.text(script)
    }

    /// JSON as text.
    static func text(_ script: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: script), as: UTF8.self)
    }
}

/// A night of a real coding agent on a part of the helpdesk benchmark.
struct AgentNight {
    let night: Night
    let server: ModelServer

    static let key = "sk-the-real-key-0123456789abcdef"

    init(_ agent: RealAgent, script: String, more: String = "", budget: String = "") throws {
        try InstalledAgents.require()
        let scratch = try Scratch()
        server = try ModelServer(script, scratch: scratch)
        try server.writeKey(Self.key)
        night = try Night(in: scratch)
        let benchmark = try Self.benchmark(scratch)
        try night.done(["init", night.directory, "--benchmark", benchmark, "--agent", agent.name])
        let models = server.models(model: agent.model, dialects: agent.dialect, more: budget)
        let text = """
            benchmark: helpdesk
            max_concurrency: 2
            release: { grid: 100ms, counter-bits: 4 }
            budget: { iterations: 2 }
            coding_agent: { profile: \(agent.name), wall: 5m\(more) }
            \(models)

            """
        try text.write(toFile: "\(night.directory)/experiment_config.yaml")
        try night.done(["prepare", night.directory])
    }

    /// Two tasks of each family: enough for both splits.
    private static func benchmark(_ scratch: Scratch) throws -> String {
        let path = "\(scratch.path)/helpdesk"
        let shipped = "\(Stage.repository)/templates/benchmarks/helpdesk"
        try FileManager.default.copyItem(atPath: shipped, toPath: path)
        let file = URL(fileURLWithPath: "\(path)/tasks.json")
        let read = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        let all = try #require((read as? [String: Any])?["tasks"] as? [[String: Any]])
        let families = Dictionary(grouping: all) { $0["family"] as? String ?? "" }
        let tasks = families.sorted { $0.key < $1.key }.flatMap { $0.value.prefix(2) }
        try JSONSerialization.data(withJSONObject: ["tasks": tasks]).write(to: file)
        return path
    }

    func run() throws -> Ended { try night.run(["run", night.directory], seconds: 300) }

    /// What the agent and its session printed.
    func log() throws -> String {
        try String(contentsOfFile: "\(night.folder())/agent.log", encoding: .utf8)
    }

    /// The decisions, as words.
    func verdicts() throws -> [String] {
        try night.bodies(.decision).compactMap { $0["verdict"]?.stringValue }
    }

    /// How often the agent was started again.
    func restarts() throws -> Int {
        try night.bodies(.sandboxExited).filter { $0["restart"] != nil }.count
    }

    /// Expects that no request reached the provider between a submission's first exam and its decision.
    ///
    /// Between the submission and that exam the agent may read our answer and go on, for a moment.
    func expectHeld() throws {
        let rows = try night.rows()
        let folder = server.log
        let times = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
            let values = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            let date = try #require(values[.modificationDate] as? Date)
            return Int64(date.timeIntervalSince1970 * 1000)
        }
        for (place, intent) in rows.enumerated() where intent.kind == .intent {
            let ticket = intent.body["ticket"]
            let judging = rows[place...]
            let exam = try #require(judging.first { $0.kind == .examStarted })
            let decision = try #require(
                judging.first { $0.kind == .decision && $0.body["ticket"] == ticket }
            )
            let early = times.filter { exam.time < $0 && $0 < decision.time }
            #expect(early.isEmpty, "\(early) while \(exam.time) to \(decision.time) is judged")
        }
    }

    /// Expects that a text is in no file of the state directory.
    func expectNoKey() throws {
        let needle = Data(Self.key.utf8)
        let files = try #require(FileManager.default.enumerator(atPath: night.seenState))
        for case let name as String in files {
            let bytes = FileManager.default.contents(atPath: "\(night.seenState)/\(name)")
            #expect(bytes?.range(of: needle) == nil, "\(name) holds the key")
        }
        #expect(!(try log()).contains(Self.key))
    }
}

extension EndToEnd {
    /// Real coding agents, unmodified, whose models are scripted.
    @Suite(.enabled(if: InstalledAgents.canRun, "the package registry cannot be reached"))
    struct Agents {
        private static let faultText = "This answer is cut"

        /// Too many requests, a provider with a fault, and a connection that is cut; of aider, which lives by
        /// its answers, also three that change nothing.
        private static func faults(_ agent: RealAgent) -> [[String: Any]] {
            let idle = ["text": "I have to think about this."]
            return [
                ["status": 429, "retry_after": 1, "message": "slow down"],
                ["status": agent.overloaded, "message": "busy"],
                ["text": faultText, "cut_after": 2],
            ] + (agent.name == "aider" ? [idle, idle, idle] : [])
        }

        @Test(
            "reads, edits, examines, hands in and reads the verdict, twice, through faults",
            arguments: RealAgent.all
        )
        func night(agent: RealAgent) throws {
            let script = try agent.script(adding: Self.faults(agent), at: 1)
            let real = try AgentNight(agent, script: script)
            let night = real.night
            let ended = try real.run()
            #expect(ended.code == 0, "\(ended)")
            let story = "\(ended) \(try real.log().suffix(4000))"
            #expect(try real.verdicts() == ["accepted", "accepted"], "\(story)")
            try night.expectSettled()
            // OpenHands ends after a cut answer, and goes on with its conversation when it is started again.
            #expect(try real.restarts() == (agent.name == "openhands" ? 1 : 0), "\(story)")
            // What it handed in is what the model had it write.
            let candidate = try night.done(["best", night.directory]).output
            #expect(candidate.contains("        if case.verified:\n"), "\(story)")
            #expect(candidate.contains(#"("missing", ("never arrived", "not in the parcel")),"#))
            try Self.expectAccounted(real)
            try real.expectHeld()
            try Self.expectNoAttempt(night)
            // The provider saw the pinned model alone, with the operator's key.
            let requests = try real.server.requests()
            #expect(requests.allSatisfy { $0["body"]?["model"]?.stringValue == agent.model })
            #expect(requests.allSatisfy { "\($0["headers"] ?? .null)".contains(AgentNight.key) })
            let statuses = requests.compactMap { $0["answered"]?["status"] }
            #expect(statuses.contains(429) && statuses.contains(JSONValue(agent.overloaded)))
            #expect(!statuses.contains(400), "\(story)")
        }

        // Four of them: the other two take a minute more, and end as the first two do.
        @Test(
            "ends, and is not started again, when its budget is spent",
            arguments: RealAgent.all.prefix(4)
        )
        func spent(agent: RealAgent) throws {
            // Less than the first request needs, so that nothing is counted as used.
            let budget = ", budget: { campaign: { tokens: 100 } }"
            let script = try RealAgent.text(agent.script())
            let real = try AgentNight(agent, script: script, budget: budget)
            let ended = try real.run()
            let story = "\(ended) \(try real.log().suffix(4000))"
            #expect(ended.code == 0, "\(story)")
            #expect(try real.server.requests().isEmpty)
            #expect(try real.restarts() == 0, "\(story)")
            let events = try real.night.bodies(.modelUsage)
                .compactMap { $0["events"]?["coding-agent"]?["budget-spent"]?.integerValue }
            // No program asks again and again; aider's session ends after three rounds without an answer.
            let most: Int64 = agent.name == "aider" ? 7 : 3
            #expect((1...most).contains(events.reduce(0, +)), "\(events) \(story)")
            #expect(try real.night.bodies(.runEnded).count == 1)
        }

        @Test("goes on with its session after it was killed", arguments: ["Bash", "exec_command"])
        func restarted(tool: String) throws {
            let agent = tool == "Bash" ? RealAgent.claude : RealAgent.codex
            let line = "kill -9 $PPID"
            let script: [String: Any] = [
                "conversations": "one",
                "steps": [
                    [
                        "text": "words of the first life",
                        "calls": [["name": tool, "input": ["command": line, "cmd": line]]],
                    ]
                ],
                "otherwise": ["text": "I stop here."],
            ]
            let text = try RealAgent.text(script)
            let real = try AgentNight(agent, script: text, more: ", restarts: 1")
            let ended = try real.run()
            let story = "\(ended) \(try real.log().suffix(4000))"
            #expect(ended.code == 0, "\(story)")
            #expect(try real.restarts() == 1, "\(story)")
            let requests = try real.server.requests()
            // Claude Code asks once more, for the call that its end cut off.
            #expect((2...3).contains(requests.count), "\(story)")
            let last = "\(requests.last?["body"] ?? .null)"
            #expect(last.contains("words of the first life"), "\(story)")
            #expect(last.contains("Go on as /work/PROGRAM.md says"), "\(story)")
        }

        // It did nothing wrong: what its defaults met was adjusted or denied.
        private static func expectNoAttempt(_ night: Night) throws {
            let text = try night.done(["status", night.directory, "--json"]).output
            let status = try JSONValue(parsing: Array(text.utf8), limits: .document)
            let refusals = status["refusals"] ?? .null
            #expect(refusals["by_kind"] != nil)
            #expect((refusals["by_kind"]?["attempt"]?.intValue ?? 0) == 0, "\(refusals)")
        }

        private static func expectAccounted(_ real: AgentNight) throws {
            let night = real.night
            // What its profile calls its transcript was kept when it ended, and can be read.
            let shown = try night.done(["agent", "transcript", night.directory])
            #expect(shown.output.hasPrefix("=== ") && shown.output.count > 200, "\(shown)")
            let usage = try night.bodies(.modelUsage)
            let calls = usage.compactMap { $0["roles"]?["coding-agent"]?["calls"]?.integerValue }
            let asked = try real.server.requests().count
            // Beside the one short question of `prepare`.
            #expect(calls.reduce(0, +) == Int64(asked) + 1, "\(usage)")
            let file = "\(try night.folder())/agent-calls.jsonl"
            let said = try String(contentsOfFile: file, encoding: .utf8)
            #expect(said.contains("PROGRAM.md"))
            try real.expectNoKey()
        }
    }
}
