import Foundation
import HostKernel
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// Who is told of a night outside its record.
    @Suite struct Telling {
        private static let agent = """
            write(knowing("add", "subtract", note="# %d\\n" % time.time_ns()))
            judged()
            """

        private let night: Night

        init() throws { night = try Night() }

        private func events(_ text: String) throws -> [JSONValue] {
            try text.split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8), limits: .document)
            }
        }

        private func script(_ body: String) throws -> String {
            let path = "\(night.scratch.path)/hook"
            try ("#!/bin/sh\n" + body + "\n").write(toFile: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        @Test("events are a line for each row that is one, and hold no sealed figure")
        func stream() throws {
            try night.set(up: Configuration(agent: Self.agent))
            let file = "\(night.scratch.path)/events"
            try night.done(["prepare", night.directory, "--events", file])
            let ended = try night.done(["run", night.directory, "--events", "-"])
            let prepared = try events(String(contentsOfFile: file, encoding: .utf8))
            #expect(prepared.contains { $0["kind"] == "baseline" }, "\(prepared)")
            let told = try events(ended.output)
            #expect(told.first?["kind"] == "run-started")
            #expect(told.last?["kind"] == "run-ended", "the summary goes elsewhere: \(ended)")
            #expect(told.contains { $0["kind"] == "release" && $0["verdict"] == "accepted" })
            let rows = try night.rows()
            for event in prepared + told {
                #expect(event["schema"] == "invigilator.event/1")
                let row = try #require(rows.first { $0.sequence == event["row"]?.intValue })
                #expect(row.kind.rawValue == event["kind"]?.stringValue)
                for name in ["sealed_mean", "reasons", "faults", "outcomes", "train", "paired"] {
                    #expect(event[name] == nil, "\(event)")
                }
                if event["split"] == "test" {
                    #expect(event["mean"] == nil && event["passed"] == nil)
                }
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o644)
        }

        @Test("a reader that never reads, or is gone, changes nothing of the night")
        func readers() throws {
            try night.prepare(Configuration(agent: Self.agent))
            let pipe = "\(night.scratch.path)/pipe"
            let none = try night.run(["run", night.directory, "--events", pipe + "/x"])
            #expect(none.code == 2 && none.notes.contains("--events"), "\(none)")
            let made = try Program("/usr/bin/mkfifo", [pipe], temporary: night.scratch.path)
            #expect(try made.waitForEnd().code == 0)
            let early = try night.run(["run", night.directory, "--events", pipe])
            #expect(early.code == 2 && early.notes.contains("start the reader"), "\(early)")
            #expect(try night.bodies(.runStarted).isEmpty)
            // Whoever opens it and goes away.
            let reader = try Program(
                "/bin/sh",
                ["-c", "exec 3<'\(pipe)'; echo open >&2; read line <&3; exec 3<&-"],
                temporary: night.scratch.path
            )
            let running = try night.start(
                ["run", night.directory, "--events", "fd:3"],
                before: "exec 3>'\(pipe)'"
            )
            #expect(try reader.waitForEnd().code == 0)
            let ended = try running.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.notes.contains("events were not taken by their reader"), "\(ended)")
            #expect(try night.bodies(.decision).count == 1)
            try night.expectSettled()
        }

        @Test(
            "a hook is told as the directory's owner, of what it asked for, outside every sandbox"
        )
        func command() throws {
            let told = try night.scratch.directory("told")
            let hook = try script("{ id -u; cat; } >>'\(told)/events'; exit 0")
            let more = "notify: { command: [\"\(hook)\"], on: [accepted, ended] }"
            try night.set(up: Configuration(agent: Self.agent, more: more))
            let owned = ["-R", "65534:65534", told, night.directory]
            let changed = try Program("/bin/chown", owned, temporary: night.scratch.path)
            try #require(try changed.waitForEnd().code == 0)
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            let lines = try String(contentsOfFile: "\(told)/events", encoding: .utf8)
                .split(separator: "\n").map(String.init)
            #expect(lines.filter { $0 == "65534" }.count == 2, "\(lines)")
            let events = try events(lines.filter { $0 != "65534" }.joined(separator: "\n"))
            #expect(events.map { $0["kind"] } == ["release", "run-ended"], "\(events)")
            #expect(events.map { $0["on"] } == [["accepted"], ["ended"]])
            #expect(try night.bodies(.unnotified).isEmpty)
        }

        @Test("a hook that hangs or fails is killed, recorded once, and the night goes on")
        func hanging() throws {
            let before = try Leftovers()
            let hook = try script("sleep 1000 & sleep 1000")
            let more = "notify: { command: [\"\(hook)\"], timeout: 1s }"
            try night.prepare(Configuration(agent: Self.agent, more: more))
            let ended = try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).count == 1)
            let rows = try night.bodies(.unnotified)
            #expect(rows.count == 1 && rows.first?["hook"] == "command", "\(rows)")
            #expect(rows.first?["reason"]?.stringValue?.contains("longer") == true, "\(rows)")
            #expect(ended.notes.contains("hooks were not told 2 times"), "\(ended)")
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a webhook gets the event by the operator's network; its address is in no row")
        func webhook() throws {
            let log = "\(night.scratch.path)/posted"
            let server = try Program(
                "/usr/bin/python3",
                ["-c", Self.server, log],
                temporary: night.scratch.path
            )
            try server.waitForOutput("\n")
            let port = server.text.trimmingCharacters(in: .whitespacesAndNewlines)
            let secret = "T0-a-secret-path"
            let more = "notify: { webhook: \"http://127.0.0.1:\(port)/\(secret)\" }"
            try night.prepare(Configuration(agent: Self.agent, more: more))
            try night.done(["run", night.directory])
            let lines = try events(String(contentsOfFile: log, encoding: .utf8))
            #expect(lines.map { $0["path"] } == ["/\(secret)", "/\(secret)"], "\(lines)")
            #expect(lines.map { $0["body"]?["kind"] } == ["release", "run-ended"], "\(lines)")
            #expect(try night.bodies(.unnotified).isEmpty)
            server.send(SIGKILL)
            _ = try server.waitForEnd()
            // Nobody answers there any more.
            try night.done(["run", night.directory])
            let rows = try night.bodies(.unnotified)
            #expect(rows.count == 1 && rows.first?["hook"] == "webhook", "\(rows)")
            let export = try night.done(["ledger", "export", night.directory]).output
            #expect(!export.contains(secret))
            try night.expectSettled()
        }

        @Test("the process that tells hooks starts those of its first message, and no other words")
        func otherWords() throws {
            let told = "\(night.scratch.path)/told"
            let other = "\(night.scratch.path)/other"
            let hook = try script("{ grep NoNewPrivs /proc/self/status; cat; } >>'\(told)'")
            let words: JSONValue = ["/usr/bin/touch", .string(other)]
            let hooks: JSONValue = [["command": [.string(hook)]]]
            let messages: [JSONValue] = [
                ["hooks": hooks, "seconds": 10],
                ["hook": 0, "event": ["kind": "release"]],
                ["command": words, "event": [:], "seconds": 10],
                ["hook": 0, "event": [:], "command": words],
                ["hooks": [["command": words]], "seconds": 10],
                ["hook": 1, "event": [:]],
                ["hook": 0, "event": ["kind": "run-ended"]],
            ]
            var sent = Data()
            for message in messages {
                let bytes = message.canonicalBytes
                let length: [UInt8] = [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
                sent.append(contentsOf: length + bytes)
            }
            let file = "\(night.scratch.path)/messages"
            try sent.write(to: URL(fileURLWithPath: file))
            // The directory is root's, so whatever is started has root's rights.
            let line = "exec \"$0\" ledger notifier --broker /nonexistent \"$1\" <\"$2\""
            let ended = try Program(
                "/bin/sh",
                ["-c", line, night.program, night.scratch.path, file],
                temporary: night.scratch.path
            ).waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.output.components(separatedBy: "nothing was started").count == 5)
            #expect(!FileManager.default.fileExists(atPath: other), "\(ended)")
            let lines = try String(contentsOfFile: told, encoding: .utf8).split(separator: "\n")
            #expect(
                lines == [
                    "NoNewPrivs:\t1", "{\"kind\":\"release\"}",
                    "NoNewPrivs:\t1", "{\"kind\":\"run-ended\"}",
                ]
            )
        }

        @Test("a train exam and the final tier report a hook that cannot be told, as a night does")
        func operatorsExams() throws {
            let hook = try script("exit 3")
            let more = "notify: { command: [\"\(hook)\"], on: [error] }"
            try night.prepare(Configuration(agent: Self.agent, more: more))
            let refused = try night.run(["final", night.directory])
            #expect(refused.code == 2, "\(refused)")
            #expect(refused.notes.contains("the operator's hook (command) was not told"))
            let rows = try night.bodies(.unnotified)
            #expect(rows.count == 1 && rows.first?["event"] == "error", "\(rows)")
        }

        private static let server = """
            import http.server, json, sys

            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers["content-length"]))
                    with open(sys.argv[1], "a") as log:
                        print(json.dumps({"path": self.path, "body": json.loads(body)}), file=log)
                    self.send_response(204)
                    self.end_headers()

                def log_message(self, *words):
                    pass

            server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """

        @Test("a run that ends with an error tells it, to the hook as well")
        func error() throws {
            let told = "\(night.scratch.path)/events"
            let hook = try script("cat >>'\(night.scratch.path)/hooked'")
            try night.prepare(
                Configuration(
                    agent: Self.agent,
                    more: "notify: { command: [\"\(hook)\"], on: [error] }"
                )
            )
            let refused = try night.run([
                "run", night.directory, "--events", told, "--max-cost", "3",
            ])
            #expect(refused.code == 2, "\(refused)")
            let event = try #require(
                try events(String(contentsOfFile: told, encoding: .utf8)).last
            )
            #expect(event["kind"] == "error" && event["exit"] == 2, "\(event)")
            #expect(event["message"]?.stringValue?.contains("--max-cost") == true)
            let hooked = try events(
                String(contentsOfFile: "\(night.scratch.path)/hooked", encoding: .utf8)
            )
            #expect(hooked.map { $0["on"] } == [["error"]], "\(hooked)")
        }
    }

    /// What is removed, and what is counted.
    @Suite struct Keeping {
        private func transcripts(_ night: Night) throws -> String {
            let folder = "\(try night.folder())/transcripts"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            for number in 1...5 {
                try "{}\n".write(toFile: "\(folder)/\(1_700_000_000_000 + number).jsonl")
            }
            try "kept\n".write(toFile: "\(folder)/notes.txt")
            let owned = try Program(
                "/bin/chown",
                ["-R", "1879048192:1879048192", folder],
                temporary: night.scratch.path
            )
            try #require(try owned.waitForEnd().code == 0)
            return folder
        }

        private func count(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: folder).count
        }

        @Test("old transcripts are removed by hand and by the configuration, on the record")
        func prune() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: "say(\"done\")\n"))
            let folder = try transcripts(night)
            let rows = try night.rows().count
            let words = ["prune", night.directory]
            let none = try night.run(words)
            #expect(none.code == 2 && none.notes.contains("nothing says what is old"), "\(none)")
            let dry = try night.done(words + ["--keep", "3", "--dry-run"])
            #expect(dry.output.contains("2 transcripts, 6 bytes would be removed"), "\(dry)")
            #expect(try count(folder) == 6 && night.rows().count == rows)
            try night.done(words + ["--keep", "3"])
            #expect(try count(folder) == 4)
            let body = try #require(try night.bodies(.pruned).last)
            #expect(body == ["transcripts": 2, "bytes": 6, "by": "operator"], "\(body)")

            try night.configure(
                Configuration(
                    agent: "say(\"done\")\n",
                    more: "retention: { transcripts: 1, logs: 64KiB }"
                )
            )
            let log = "\(try night.folder())/agent.log"
            try String(repeating: "x", count: 70_000).write(toFile: log)
            let owned = try Program(
                "/bin/chown",
                ["1879048192:1879048192", log],
                temporary: night.scratch.path
            )
            try #require(try owned.waitForEnd().code == 0)
            try night.done(["run", night.directory])
            #expect(try count(folder) == 2)
            #expect(FileManager.default.fileExists(atPath: "\(log).1"))
            #expect(try night.agentLog("done").count == 1)
            #expect(
                try night.bodies(.pruned).dropFirst() == [
                    ["logs": 1, "bytes": 0, "by": "retention"],
                    ["transcripts": 2, "bytes": 6, "by": "retention"],
                ]
            )
            try night.expectSettled()
            try night.done(["verify", night.directory])
        }

        @Test("metrics are written for a textfile collector in one step")
        func metrics() throws {
            let night = try Night()
            try night.prepare(Configuration())
            let file = "\(night.scratch.path)/invigilator.prom"
            try night.done(["status", night.directory, "--prometheus", "-o", file])
            let page = try String(contentsOfFile: file, encoding: .utf8)
            let printed = try night.done(["status", night.directory, "--prometheus"]).output
            #expect(page == printed)
            #expect(
                page.contains("\ninvigilator_ledger_intact{experiment=\"\(try night.id())\"} 1\n")
            )
            for line in page.split(separator: "\n") where !line.hasPrefix("#") {
                let form =
                    /invigilator_[a-z_]+\{experiment="[0-9a-f]+"(,[a-z]+="[^"]*")*\} [0-9.e+-]+/
                #expect(line.wholeMatch(of: form) != nil, "\(line)")
            }
            let refused = try night.run(["status", night.directory, "-o", file])
            #expect(refused.code == 2, "\(refused)")
        }
    }
}
