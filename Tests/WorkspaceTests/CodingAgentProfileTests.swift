import ModelDialects
import StrictYAML
import Testing
import Workspace

@Suite("A coding agent's profile")
struct CodingAgentProfileTests {
    private func read(_ text: String) throws -> CodingAgentProfile {
        try CodingAgentProfile(parsing: Array(text.utf8), file: "profile.yaml")
    }

    private func problems(_ text: String) -> [DocumentProblem] {
        do {
            _ = try read(text)
            return []
        } catch WorkspaceError.document(let found) {
            return found
        } catch {
            Issue.record("another error: \(error)")
            return []
        }
    }

    private let head = "coding_agent: x\nversion: 1\ntitle: t\n"

    private let everything = """
        coding_agent: tool
        version: 2
        title: a tool with a model
        executable: tool
        package: tools
        version-arguments: [version]
        files: [lib/b.py, a.py]
        work-files:
          settings.json: '{"url": "${model-endpoint}/v1"}'
        home-files:
          .tool/config.toml: |
            model = "${model}"
            effort = "${effort}"
            cost = "$${not-ours}"
        command: ["${executable}", run, --settings, "${agent-files}/settings.json", "${task}"]
        continue-command: ["${executable}", resume]
        environment:
          TOOL_URL: ${model-endpoint}
          TOOL_TIMEOUT: ${client-timeout-ms}
        reads: [/opt/tool-data, "${package}/share"]
        dialect: openai-responses
        task: |
          Read PROGRAM.md.
          Then do it.
        transcript: {path: .tool/sessions, limit: 8MiB}
        restart: {after: failure, limit: 3, pause: 2s}
        idle: 30m
        client-timeout: 1h
        """

    private let pin = ModelPin(
        alias: "its-name",
        upstream: "one",
        dialects: [.openAIChat, .openAIResponses],
        model: "m",
        maxOutputTokens: 100
    )

    private let found = CodingAgentLaunch.Found(
        executable: "/cache/tools/bin/tool",
        package: "/cache/tools"
    )

    @Test("every key is read")
    func keys() throws {
        let profile = try read(everything)
        #expect(profile.executable == .packaged(name: "tool", package: "tools"))
        #expect(profile.files.map(\.text) == ["a.py", "lib/b.py"])
        #expect(profile.dialects == [.openAIResponses])
        #expect(profile.task == "Read PROGRAM.md.\nThen do it.\n")
        #expect(profile.transcript?.path.text == ".tool/sessions")
        #expect(profile.transcript?.limit == 8 << 20)
        #expect(profile.restart.after == .failure)
        #expect(profile.restart.limit == 3)
        #expect(profile.restart.pause == .seconds(2))
        #expect(profile.idle == .seconds(1800))
        #expect(profile.clientTimeout == .seconds(3600))
    }

    @Test("variables are replaced in commands, texts, environment and reads")
    func variables() throws {
        let launch = try CodingAgentLaunch(try read(everything), found: found, pin: pin, port: 8377)
        let start = ["/bin/sh", "/work/.coding-agent/start", "/cache/tools/bin/tool"]
        #expect(
            launch.command == start + [
                "run", "--settings", "/work/.coding-agent/settings.json",
                "Read PROGRAM.md.\nThen do it.\n",
            ]
        )
        #expect(launch.continueCommand == start + ["resume"])
        #expect(launch.versionCommand == start + ["version"])
        #expect(
            launch.environment == [
                "TOOL_URL": "http://127.0.0.1:8377", "TOOL_TIMEOUT": "3600000",
                "HOME": "/home/agent",
            ]
        )
        #expect(launch.reads == ["/cache/tools", "/cache/tools/share", "/opt/tool-data"])
        let texts = Dictionary(uniqueKeysWithValues: launch.texts.map { ($0.text, $1) })
        #expect(texts["settings.json"] == "{\"url\": \"http://127.0.0.1:8377/v1\"}")
        #expect(
            texts["home/.tool/config.toml"]
                == "model = \"its-name\"\neffort = \"medium\"\ncost = \"${not-ours}\"\n"
        )
        #expect(texts["start"]?.contains("exec \"$@\"") == true)
    }

    @Test("a value that looks like a variable is not replaced again")
    func once() throws {
        let text =
            head + "dialect: openai-chat\ntask: do ${model}\ncommand: [/bin/x, \"${task}\"]\n"
        let hostile = ModelPin(
            upstream: "one",
            dialects: [.openAIChat],
            model: "${task}",
            maxOutputTokens: 1
        )
        let launch = try CodingAgentLaunch(try read(text), found: nil, pin: hostile, port: 1)
        #expect(launch.command == ["/bin/x", "do ${model}"])
        #expect(launch.versionCommand == ["/bin/x", "--version"])
        #expect(launch.texts.isEmpty)
    }

    @Test("a profile that asks a model is refused without one, and in another dialect")
    func models() throws {
        let profile = try read(everything)
        func refusal(_ pin: ModelPin?) -> String {
            do {
                _ = try CodingAgentLaunch(profile, found: found, pin: pin, port: 1)
                return "it was accepted"
            } catch {
                return "\(error)"
            }
        }
        #expect(
            refusal(nil).contains("the role coding-agent has none; remedy: add models.upstreams")
        )
        let other = ModelPin(
            upstream: "one",
            dialects: [.anthropicMessages],
            model: "m",
            maxOutputTokens: 1
        )
        #expect(
            refusal(other).contains("it speaks openai-responses, its upstream anthropic-messages")
        )
    }

    @Test("a profile that speaks several dialects takes an upstream of any of them")
    func dialects() throws {
        let text = head + "dialects: [openai-responses, openai-chat]\ncommand: [/x]\n"
        let profile = try read(text)
        #expect(profile.dialects == [.openAIResponses, .openAIChat])
        func pin(_ dialect: Dialect) -> ModelPin {
            ModelPin(upstream: "one", dialects: [dialect], model: "m", maxOutputTokens: 1)
        }
        for dialect in profile.dialects {
            _ = try CodingAgentLaunch(profile, found: nil, pin: pin(dialect), port: 1)
        }
        #expect(throws: WorkspaceError.self) {
            try CodingAgentLaunch(profile, found: nil, pin: pin(.anthropicMessages), port: 1)
        }
    }

    @Test("a profile asks for a terminal, and has none unless it does")
    func terminal() throws {
        let text = head + "command: [/x]\n"
        #expect(try !CodingAgentLaunch(read(text), found: nil, pin: nil, port: 1).hasTerminal)
        let asking = try read(text + "terminal: true\n")
        #expect(try CodingAgentLaunch(asking, found: nil, pin: nil, port: 1).hasTerminal)
    }

    @Test("a package's Python outside /usr is shown with the package")
    func python() throws {
        let found = CodingAgentLaunch.Found(
            executable: "/cache/x/bin/x",
            package: "/cache/x",
            python: "/opt/python"
        )
        let launch = try CodingAgentLaunch(
            read(head + "executable: x\ncommand: [\"${executable}\"]\n"),
            found: found,
            pin: nil,
            port: 1
        )
        #expect(launch.reads == ["/cache/x", "/opt/python"])
    }

    @Test("a bad line is reported as that line of its file")
    func line() throws {
        let found = problems(
            head + "command: [/x]\nenvironment:\n  A: a\n  LD_LIBRARY_PATH: /x\nreads:\n  - a\n"
        )
        #expect(found.map(\.line) == [7, 9])
        let first = "profile.yaml:7: environment.LD_LIBRARY_PATH: "
        #expect(found.first?.description.hasPrefix(first) == true)
    }

    @Test("a short profile has defaults: no model, no restart, the usual home")
    func short() throws {
        let profile = try read(head + "command: [/usr/bin/true]\n")
        #expect(profile.executable == nil)
        #expect(profile.restart == .none)
        #expect(profile.home == "/home/agent")
        #expect(profile.directory == "/work")
        #expect(profile.clientTimeout == .seconds(7200))
        #expect(profile.continueCommand == nil)
    }

    @Test("a count of restarts replaces the profile's")
    func restarts() throws {
        let never = try read(head + "command: [/usr/bin/true]\n").restart
        #expect(never.limited(to: 2).after == .failure)
        #expect(never.limited(to: 0) == .none)
        let always = try read(head + "command: [/x]\nrestart: {after: any-end}\n").restart
        #expect(always.limit == 20)
        #expect(always.limited(to: 4).after == .anyEnd)
        #expect(always.limited(to: 0).after == .never)
    }

    @Test(
        "what is malformed or stands for nothing is refused with its key",
        arguments: [
            ("command: [python3]", "command"), ("command: []", "command"),
            ("files: [../a.py]\ncommand: [/x]", "files[0]"), ("command: [/x]\ncwd: work", "cwd"),
            ("command: [/x]\nhome: home", "home"), ("command: [/x]\nnetwork: true", "network"),
            ("command: [/x, \"${nothing}\"]", "command"), ("command: [/x, \"${task\"]", "command"),
            ("command: [/x, \"${task}\"]", "command"), ("command: [\"${executable}\"]", "command"),
            ("command: [/x]\nenvironment: {A: \"${model}\"}", "environment.A"),
            ("command: [/x]\nenvironment: {A-B: \"1\"}", "environment.A-B"),
            ("command: [/x]\nhome-files: {../x: a}", "home-files.../x"),
            ("command: [/x]\nreads: [data]", "reads"),
            ("command: [/x]\nreads: [\"${package}\"]", "reads"),
            ("command: [/x]\nexecutable: bin/x", "executable"),
            ("command: [/x]\nexecutable: /x\npackage: y", "package"),
            ("command: [/x]\nrestart: {limit: 3}", "restart.limit"),
            ("command: [/x]\ntranscript: {limit: 1MiB}", "transcript.path"),
            ("command: [/x]\ntranscript: {path: a, limit: 2TiB}", "transcript.limit"),
            ("command: [/x]\ndialect: http", "dialect"), ("command: [/x]\ntask: ''", "task"),
            ("command: [/x]\ndialects: [http]", "dialects"),
            ("command: [/x]\ndialects: []", "dialects"),
            ("command: [/x]\ndialects: [openai-chat, openai-chat]", "dialects"),
            ("command: [/x]\ndialect: openai-chat\ndialects: [openai-chat]", "dialects"),
            ("command: [/x]\nterminal: perhaps", "terminal"),
            ("command: [/x]\nenvironment: {LD_PRELOAD: /x}", "environment.LD_PRELOAD"),
            ("command: [/x]\nenvironment: {GCONV_PATH: /x}", "environment.GCONV_PATH"),
        ]
    )
    func refused(lines: String, key: String) {
        #expect(problems(head + lines + "\n").map(\.key) == [key])
    }

    @Test("every problem is told at once")
    func together() {
        let text = head + "files: [../a.py]\ncommand: [python3]\ncwd: work\nnetwork: true\n"
        #expect(problems(text).map(\.key) == ["files[0]", "command", "cwd", "network"])
    }
}
