import Foundation
import StrictJSON
import Testing

/// A tau-bench experiment with the cast of its domain.
final class TauStage {
    let night: Night
    private let cast: Program
    /// What `init` said.
    let made: String
    let port: Int
    let domain: String
    static let folder = "\(Stage.repository)/templates/benchmarks/tau-bench"
    /// Where the benchmark's own tests are.
    static let tests = "\(folder)/tests"

    /// Sets up an experiment on the tasks of a domain, and the cast that plays them.
    ///
    /// - Parameters:
    ///   - domain: the domain.
    ///   - scratch: where it goes.
    ///   - checkout: the checkout of auto-harness that it is taken from, if it is.
    ///   - selection: a few tasks in place of the whole domain, if it is to have those.
    /// - Throws: what the commands or the file system refuse.
    init(
        domain: String,
        in scratch: Scratch? = nil,
        from checkout: String? = nil,
        only selection: TauSelection? = nil
    ) throws {
        self.domain = domain
        night = try Night(in: scratch)
        // The check installs the packages, which the cast reads the tasks from.
        try night.done(["benchmark", "check", "tau-bench", "--static-only"])
        let benchmark = try selection?.benchmark(in: night.scratch) ?? "tau-bench"
        let source = checkout.map { ["--from", $0] } ?? ["--benchmark", benchmark]
        made = try night.done(["init", night.directory] + source).output
        let played = domain == "bank" ? "mock" : domain
        let tasks = try selection?.file(in: night.scratch) ?? Self.packages()
        cast = try Self.cast(["\(Self.tests)/cast.py", "0", tasks, played], night)
        port = try #require(Int(cast.text.split(separator: "\n").first ?? ""))
    }

    /// Sets up an experiment on tasks of our own, with a cast that believes what it is told.
    init(tasks: String, in scratch: Scratch, state: String? = nil) throws {
        domain = "telecom"
        night = try Night(in: scratch, state: state)
        let benchmark = "\(scratch.path)/tau-bench"
        try FileManager.default.copyItem(atPath: Self.folder, toPath: benchmark)
        try tasks.write(toFile: "\(benchmark)/tasks.json")
        let manifest = try String(contentsOfFile: "\(benchmark)/benchmark.yaml", encoding: .utf8)
        let source = try #require(
            manifest.firstMatch(of: /tasks:\n(?:  .*\n)+/)?.output,
            "where the tasks come from"
        )
        try manifest.replacing(source, with: "tasks: tasks.json\n")
            .write(toFile: "\(benchmark)/benchmark.yaml")
        made = try night.done(["init", night.directory, "--benchmark", benchmark]).output
        try night.done(["benchmark", "check", benchmark, "--static-only"])
        cast = try Self.cast([Stage.fixture("tau_gullible.py"), Self.tests], night)
        port = try #require(Int(cast.text.split(separator: "\n").first ?? ""))
    }

    private static func cast(_ words: [String], _ night: Night) throws -> Program {
        let temporary = "\(night.scratch.path)/tmp"
        let cast = try Program("/usr/bin/python3", ["-B"] + words, temporary: temporary)
        try cast.waitForOutput("\n")
        return cast
    }

    /// Where the packages of the benchmark are installed.
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

    /// The template of the judged file.
    func agent() throws -> String {
        try String(contentsOfFile: "\(Self.folder)/agent.py", encoding: .utf8)
    }

    /// Ends the cast.
    func stop() throws {
        cast.send(SIGKILL)
        _ = try cast.waitForEnd()
    }

    /// Rewards by task.
    func rewards(_ value: JSONValue?) throws -> [String: Double] {
        try #require(value?.objectValue).compactMapValues(\.numberValue)
    }

    /// Writes the configuration; the coding agent does what is given.
    ///
    /// The rule is auto-harness's unless another is given: the cast plays the same each time.
    func configure(
        _ agent: String,
        hasUser: Bool = true,
        rule: String = "rule: ratchet"
    ) throws {
        let more =
            "domain: \(domain)\nmax_concurrency: 4\ngate: { \(rule) }\n"
            + (try models(hasUser: hasUser))
        try night.configure(Configuration(agent: agent, more: more, benchmark: "tau-bench"))
    }

    /// The section of a configuration that leads every role to the cast.
    func models(hasUser: Bool = true) throws -> String {
        let keyFile = "\(night.scratch.path)/model.key"
        try "sk-tau-0123456789abcdef\n".write(toFile: keyFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
        return """
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

            """
    }

    // MARK: - without any sandbox

    /// Runs agents' files in the process that judges them; what `tests/control.py` says of them.
    func inOneProcess(_ agents: [String], tasks: String) throws -> JSONValue {
        let endpoint = "http://127.0.0.1:\(port)/v1"
        let versions = "/root/.pyenv/versions"
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
        let homes = installed.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        var last = "there is none"
        // The packages were installed for one of them, and another one cannot load them.
        for home in ["/usr", "/usr/local"] + homes.map({ "\(versions)/\($0)" })
        where FileManager.default.fileExists(atPath: "\(home)/bin/python3") {
            let results = try night.scratch.directory("results-\(UUID().uuidString)")
            let ended = try Program(
                "/usr/bin/env",
                [
                    "OPENAI_BASE_URL=\(endpoint)", "TMPDIR=\(results)", "\(home)/bin/python3", "-B",
                    "\(Self.tests)/control.py", try Self.packages(), tasks, endpoint, results,
                ] + agents,
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd(seconds: 120)
            if ended.code == 0 {
                return try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            }
            last = "\(ended)"
        }
        throw Stage.TimedOut(description: "no Python of this host loads the packages: \(last)")
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
