import Foundation
import StrictJSON
import Testing

/// A tau-bench experiment with the cast of its domain.
final class TauStage {
    let night: Night
    private let cast: Program
    private let port: Int
    private let domain: String
    private static let folder = "\(Stage.repository)/templates/benchmarks/tau-bench"

    init(domain: String) throws {
        self.domain = domain
        let scratch = try Scratch()
        night = try Night(in: scratch)
        try night.done(["init", night.directory, "--benchmark", "tau-bench"])
        // The check installs the packages, which the cast reads the tasks from.
        try night.done(["benchmark", "check", "tau-bench", "--static-only"])
        let packages = try Self.packages()
        cast = try Program(
            "/usr/bin/python3",
            [
                "-B", "\(Self.folder)/tests/cast.py", "0", packages,
                domain == "bank" ? "mock" : domain,
            ],
            temporary: "\(scratch.path)/tmp"
        )
        try cast.waitForOutput("\n")
        port = try #require(Int(cast.text.split(separator: "\n").first ?? ""))
    }

    private static func packages() throws -> String {
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
    func configure(_ agent: String) throws {
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
                        user-simulator: { upstream: cast, model: user-model }
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
