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
                """
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
            let better = try #require(try stage.night.agentLog("better").first?["answer"])
            #expect(better["mean"] == 1, "\(better)")
            #expect(try #require(baseline["train_mean"]?.numberValue) < 0.8)
            try stage.night.expectSettled()
            try stage.expectNoSealedMark(trainCount: 30)
        }

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
            let none = try away.night.run(["prepare", away.night.directory], seconds: 120)
            #expect(none.code == 3 && none.notes.contains("ask user-simulator"), "\(none)")
        }
    }
}

/// A tau-bench experiment with the cast of its domain.
final class TauStage {
    let night: Night
    private let cast: Program
    let port: Int
    let domain: String
    static let folder = "\(Stage.repository)/templates/benchmarks/tau-bench"

    init(domain: String, only selection: TauSelection? = nil) throws {
        self.domain = domain
        let scratch = try Scratch()
        night = try Night(in: scratch)
        let benchmark = try selection?.benchmark(in: scratch) ?? "tau-bench"
        try night.done(["init", night.directory, "--benchmark", benchmark])
        // The check installs the packages, which the cast reads the tasks from.
        try night.done(["benchmark", "check", "tau-bench", "--static-only"])
        let packages = try Self.packages()
        cast = try Program(
            "/usr/bin/python3",
            [
                "-B", "\(Self.folder)/tests/cast.py", "0", selection?.file(in: scratch) ?? packages,
                domain == "bank" ? "mock" : domain,
            ],
            temporary: "\(scratch.path)/tmp"
        )
        try cast.waitForOutput("\n")
        port = try #require(Int(cast.text.split(separator: "\n").first ?? ""))
    }

    /// Where the examiner's packages are.
    static func packages() throws -> String {
        let place = "/var/cache/invigilator/packages"
        let list = try String(contentsOfFile: "\(folder)/requirements.txt", encoding: .utf8)
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        let name = try #require(
            names.first { name in
                let file = "\(place)/\(name)/requirements.txt"
                return (try? String(contentsOfFile: file, encoding: .utf8)) == list
            }
        )
        return "\(place)/\(name)/packages"
    }

    /// Rewards by task of a cheat that runs in the process that judges it, without any sandbox.
    func inOneProcess(_ cheat: String) throws -> [String: Double] {
        let versions = "/root/.pyenv/versions"
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
        let homes = installed.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        let candidates = ["/usr", "/usr/local"] + homes.map { "\(versions)/\($0)" }
        // The packages were installed for one of them, and another one cannot load them.
        for home in candidates where FileManager.default.fileExists(atPath: "\(home)/bin/python3") {
            let program = try Program(
                "\(home)/bin/python3",
                [
                    "-B", "\(Self.folder)/tests/control.py", try Self.packages(), domain,
                    "http://127.0.0.1:\(port)/v1", "\(cheatFolder)/\(cheat).py",
                ],
                temporary: "\(night.scratch.path)/tmp"
            )
            let ended = try program.waitForEnd(seconds: 60)
            guard ended.code == 0 else { continue }
            let rewards = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            return try #require(rewards.objectValue).compactMapValues(\.numberValue)
        }
        throw Stage.TimedOut(description: "no Python of this host loads the packages")
    }

    /// Rewards by task.
    func rewards(_ value: JSONValue?) throws -> [String: Double] {
        try #require(value?.objectValue).compactMapValues(\.numberValue)
    }

    /// The template of the judged file.
    func agent() throws -> String {
        try String(contentsOfFile: "\(Self.folder)/agent.py", encoding: .utf8)
    }

    /// Ends the cast.
    func stop() throws {
        cast.send(SIGKILL)
        _ = try cast.waitForEnd()
    }

    /// Writes the configuration; the coding agent does what is given.
    func configure(_ agent: String, hasUser: Bool = true) throws {
        let keyFile = "\(night.scratch.path)/model.key"
        try "sk-tau-0123456789abcdef\n".write(toFile: keyFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
        try night.configure(
            Configuration(
                agent: agent,
                more: """
                    domain: \(domain)
                    max_concurrency: 4
                    models:
                      upstreams:
                        cast:
                          url: http://127.0.0.1:\(port)
                          dialects: [openai-chat]
                          plain-http: true
                          addresses: any
                          key: { file: \(keyFile) }
                      roles:
                        candidate: { upstream: cast, model: agent-model }
                        \(hasUser ? "user-simulator: { upstream: cast, model: user-model }" : "")
                        judge: { upstream: cast, model: judge-model }
                    """,
                benchmark: "tau-bench"
            )
        )
    }

    // MARK: - cheats

    private var cheatFolder: String { "\(Stage.repository)/Tests/EndToEndTests/Fixtures/tau" }

    /// How many cheats there are.
    var cheatCount: Int { (try? names().count) ?? 0 }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: cheatFolder)
            .filter { $0.hasSuffix(".py") }.sorted()
    }

    /// Their texts by name, as JSON.
    func cheats() throws -> String {
        var texts: [String: JSONValue] = [:]
        for name in try names() {
            let text = try String(contentsOfFile: "\(cheatFolder)/\(name)", encoding: .utf8)
            texts[String(name.dropLast(3))] = .string(text)
        }
        return String(decoding: JSONValue.object(texts).canonicalBytes, as: UTF8.self)
    }

    // MARK: - what is left

    /// Expects that what only a sealed conversation holds is in nothing that the experiment keeps but
    /// the vault, and that the same of train conversations is.
    func expectNoSealedMark(trainCount: Int) throws {
        let state = URL(fileURLWithPath: night.seenState)
        let id = try night.id()
        func marks(_ split: String) throws -> [String] {
            let file = state.appending(path: "vault/\(id)/\(split)/tasks.json")
            let vault = try JSONValue(parsing: Array(Data(contentsOf: file)), limits: .document)
            return (vault["tasks"]?.arrayValue ?? []).compactMap { entry in
                // A whole sentence of the scenario, long enough to be nowhere by chance.
                entry["task"]?["user_scenario"]?["instructions"]?["task_instructions"]?
                    .stringValue?.split(separator: "\n").map(String.init)
                    .max { $0.count < $1.count }
            }.filter { $0.count > 40 }
        }
        let train = try marks("train")
        let sealed = Set(try marks("test")).subtracting(train)
        #expect(train.count > trainCount / 2 && sealed.count > 5)
        var kept = Data()
        for place in ["experiments/\(id)", "images"] {
            let root = state.appending(path: place).path
            let files = try #require(FileManager.default.enumerator(atPath: root))
            for case let name as String in files {
                kept += FileManager.default.contents(atPath: "\(root)/\(name)") ?? Data()
            }
        }
        let left = sealed.filter { kept.range(of: Data($0.utf8)) != nil }
        #expect(left.isEmpty, "\(left)")
        #expect(kept.count > 10_000)
    }
}
