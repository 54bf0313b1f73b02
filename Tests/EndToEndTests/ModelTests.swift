import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Models behind the broker, for a coding agent and for candidates.
    @Suite struct Models {
        private static let key = "sk-the-real-key-0123456789abcdef"

        private static func night(
            _ server: (Scratch) throws -> ModelServer,
            _ agent: String,
            more: String = "",
            roleKeys: String = ""
        ) throws -> (Night, ModelServer) {
            let scratch = try Scratch()
            let model = try server(scratch)
            try model.writeKey(key)
            let night = try Night(in: scratch)
            try night.prepare(
                Configuration(
                    agent: ModelClient.text + agent,
                    more: model.models(more: roleKeys) + more
                )
            )
            return (night, model)
        }

        private static func answering(_ text: String) -> (Scratch) throws -> ModelServer {
            { scratch in
                try ModelServer(
                    #"{"conversations": "one", "steps": [{"text": "\#(text)", "times": 1000}]}"#,
                    scratch: scratch
                )
            }
        }

        @Test(
            "a coding agent reaches the pinned model, with the broker's key, and is told so in rows"
        )
        func codingAgent() throws {
            let (night, server) = try Self.night(
                Self.answering("add the verb"),
                """
                status, text = model(question(model="a-better-one", n=3, temperature=1.5))
                say("answer", status=status, text=text)
                say("environment", keys=[k for k in os.environ if "KEY" in k])
                """
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let answer = try #require(try night.agentLog("answer").first)
            #expect(answer["status"] == 200, "\(answer)")
            #expect(answer["text"]?.stringValue?.contains("add the verb") == true)
            let asked = try #require(try server.requests().first)
            #expect(asked["body"]?["model"] == "pinned-model", "\(asked)")
            #expect(asked["body"]?["n"] == nil || asked["body"]?["n"] == 1)
            let headers = "\(asked["headers"] ?? .null)"
            #expect(headers.contains(Self.key) && !headers.contains("own-key"))
            // The attempts are on the record, with who made them.
            let refusals = try night.bodies(.refusal).filter { $0["layer"] == "model" }
            let kinds = Set(refusals.compactMap { $0["attempt"]?.stringValue })
            #expect(kinds.isSuperset(of: ["model-changed", "fan-out-changed"]), "\(kinds)")
            #expect(refusals.allSatisfy { $0["by"] == "coding-agent" })
            let facts = try #require(try night.bodies(.runStarted).first?["facts"])
            #expect(facts["broker_plan"]?.stringValue?.count == 64, "\(facts)")
            let usage = try #require(try night.bodies(.modelUsage).last)
            #expect(usage["roles"]?["coding-agent"]?["calls"] == 1, "\(usage)")
            try night.expectSettled()
            // What was said is kept outside; the key is in nothing that the experiment keeps.
            let said = try String(
                contentsOfFile: "\(night.folder())/agent-calls.jsonl",
                encoding: .utf8
            )
            #expect(said.contains("what now?"))
            try Self.expectNowhere(Self.key, under: night.seenState)
        }

        /// Expects that a text is in no file of a directory.
        private static func expectNowhere(_ text: String, under directory: String) throws {
            let needle = Data(text.utf8)
            let files = try #require(FileManager.default.enumerator(atPath: directory))
            var count = 0
            for case let name as String in files {
                let path = "\(directory)/\(name)"
                guard let bytes = FileManager.default.contents(atPath: path) else { continue }
                count += 1
                #expect(bytes.range(of: needle) == nil, "\(name) holds the key")
            }
            #expect(count > 3)
        }

        @Test("without a model nobody answers at the endpoint")
        func none() throws {
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: ModelClient.text + """
                        try:
                            say("answer", status=model(question())[0])
                        except OSError as error:
                            say("answer", status=str(error))
                        """
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let answer = try #require(try night.agentLog("answer").first?["status"]?.stringValue)
            #expect(answer.contains("refused"), "\(answer)")
        }

        @Test("the next request after a submission waits, and comes back when the verdict is told")
        func held() throws {
            let (night, server) = try Self.night(
                Self.answering("go on"),
                """
                write(knowing("add", "multiply"))
                before = time.monotonic()
                say("ticket", ok=submit()["ok"])
                status, text = model(question())
                took = time.monotonic() - before
                say("after", status=status, took=took, result=ask("result"))
                """
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let after = try #require(try night.agentLog("after").first)
            #expect(after["status"] == 200)
            // Answered after the verdict was told, and without the grace of 10 s.
            #expect(try night.bodies(.decision).count == 1)
            #expect(after["result"]?["verdict"] != nil, "\(after)")
            #expect(try #require(after["took"]?.numberValue) < 9)
            try night.expectSettled()
            #expect(try server.requests().count == 1)
        }

        @Test("a broker that is killed in mid-stream is a clean error inside, a gap on the record")
        func killed() throws {
            let words = String(repeating: "word ", count: 400)
            let script = """
                {"conversations": "one", "steps": [
                    {"text": "\(words)", "pace": 0.05},
                    {"text": "here again", "times": 100}]}
                """
            let (night, server) = try Self.night(
                { try ModelServer(script, scratch: $0) },
                """
                connection = http.client.HTTPConnection("127.0.0.1", 8377, timeout=60)
                connection.request("POST", "/v1/chat/completions", json.dumps(question(stream=True)),
                                   {"content-type": "application/json"})
                answer = connection.getresponse()
                first = answer.read(20)
                ask("learn", text="streaming")
                try:
                    while answer.read(200):
                        pass
                    say("stream", end="end")
                except (OSError, http.client.HTTPException) as error:
                    say("stream", end=type(error).__name__)
                for _ in range(100):
                    try:
                        status, text = model(question())
                        break
                    except (OSError, http.client.HTTPException):
                        time.sleep(0.1)
                say("again", status=status, text=text)
                """
            )
            let run = try night.start(["run", night.directory])
            try Self.wait("the agent streams") {
                try night.bodies(.learning).contains { $0["text"] == "streaming" }
            }
            let brokers = try Self.brokers()
            try #require(brokers.count == 1, "\(brokers)")
            kill(brokers[0], SIGKILL)
            let ended = try run.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("stream").count == 1)
            let again = try #require(try night.agentLog("again").first)
            #expect(again["status"] == 200, "\(again)")
            #expect(again["text"]?.stringValue?.contains("here again") == true)
            let gaps = try night.bodies(.modelUsage).compactMap { $0["gaps"]?.intValue }
            #expect(gaps.reduce(0, +) == 1)
            // What was asked is paid, although nobody told its end.
            let lost = try #require(try night.bodies(.modelUsage).first { $0["gaps"] == 1 })
            let share = lost["roles"]?["coding-agent"]
            #expect(share?["calls"] == 1 && share?["failures"] == 1, "\(lost)")
            #expect((share?["input_tokens"]?.intValue ?? 0) > 0, "\(lost)")
            try night.expectSettled()
            #expect(try Self.brokers().isEmpty)
            #expect(try server.requests().count >= 2)
        }

        /// Makes the candidate tell its model each question.
        private static let asking = """
            lines = [
                'KNOWN = {"add"}',
                'import http.client, json',
                'def tell(text):',
                '    link = http.client.HTTPConnection("127.0.0.1", 8377, timeout=20)',
                '    body = {"model": "m", "messages": [{"role": "user", "content": "Q: " + text}]}',
                '    fields = {"content-type": "application/json"}',
                '    link.request("POST", "/v1/chat/completions", json.dumps(body), fields)',
                '    return link.getresponse().read()',
            ]
            text = source().replace(lines[0], chr(10).join(lines))
            text = text.replace('verb, left', 'tell(message.content); verb, left', 1)
            write(text)

            """

        @Test("an exam whose broker is lost is void, and no candidate pays for it")
        func void() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "delay": 3, "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey(Self.key)
            let night = try Night(in: scratch)
            try night.prepare(
                Configuration(
                    agent: Self.asking + "say('train', answer=ask('train'))",
                    more: server.models("candidate")
                )
            )
            let run = try night.start(["run", night.directory])
            try Self.wait("a candidate asks") { try !server.requests().isEmpty }
            let brokers = try Self.brokers()
            try #require(brokers.count == 1, "\(brokers)")
            kill(brokers[0], SIGKILL)
            let ended = try run.waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            let exams = try night.bodies(.examEnded).filter { $0["purpose"] == "train" }
            #expect(exams.count == 1 && "\(exams)".contains("broker-lost"), "\(exams)")
            #expect(try !night.agentLog("train").isEmpty)
            try night.expectSettled()
        }

        /// Processes that run the broker's program.
        private static func brokers() throws -> [Int32] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc")
                .compactMap { Int32($0) }
                .filter { pid in
                    let link = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(pid)/exe"
                    )
                    return link?.hasSuffix("/invigilator-broker") == true
                }
        }

        private static func wait(_ what: String, until condition: () throws -> Bool) throws {
            let end = Date().addingTimeInterval(60)
            while try !condition() {
                try #require(Date() < end, "waited for: \(what)")
                usleep(20_000)
            }
        }

        @Test(
            "a candidate that spends the budget it shares with the incumbent wins nothing by it",
            arguments: [1, 60]
        )
        func starvedIncumbent(calls: Int) throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey(Self.key)
            let night = try Night(in: scratch)
            let budget = server.models(
                "candidate",
                more: ", budget: { iteration: { requests: 50 } }"
            )
            let rule =
                "gate: { rule: paired, trials: 1, error: 0.5, tests: 2 }\nmax_concurrency: 1\n"
            try night.set(up: Configuration(more: rule + budget))
            // The incumbent knows an answer only where its model gives one; the candidate asks as often
            // as it was told to, and needs none.
            let plain = try Stage.fixtureText("sums/agent.py")
            let knowing = plain.replacingOccurrences(
                of: #"{"add"}"#,
                with: #"{"add", "subtract", "multiply"}"#
            )
            func asking(_ count: Int, then line: String) -> String {
                let head = """
                    import http.client, json
                    def tell():
                        link = http.client.HTTPConnection("127.0.0.1", 8377, timeout=20)
                        body = {"model": "m", "messages": [{"role": "user", "content": "Q"}]}
                        fields = {"content-type": "application/json"}
                        link.request("POST", "/v1/chat/completions", json.dumps(body), fields)
                        return link.getresponse().status

                    class HarnessAgent:
                    """
                return knowing.replacingOccurrences(of: "class HarnessAgent:", with: head)
                    .replacingOccurrences(
                        of: "        verb, left, right",
                        with: "        heard = [tell() for _ in range(\(count))]\n        \(line)\n"
                            + "        verb, left, right"
                    )
            }
            try asking(1, then: "if heard != [200]: return AssistantMessage('?'), state")
                .write(toFile: night.agentFile)
            try night.done(["prepare", night.directory])
            try asking(calls, then: "pass").write(toFile: night.agentFile)
            let ended = try night.run(["gate", night.directory])
            #expect(ended.code == 1, "\(ended)")
            let exams = try night.bodies(.examEnded).filter { $0["purpose"] == "sealed" }
            let decision = try #require(night.bodies(.decision).first)
            guard calls > 1 else {
                // The control: within the budget both are right everywhere, and that is no proof.
                #expect(exams.map { $0["incumbent_mean"] } == [1], "\(exams)")
                #expect(decision["paired"]?["p"] == 1, "\(decision)")
                return
            }
            #expect(!exams.isEmpty && exams.allSatisfy { $0["mean"] == nil }, "\(exams)")
            #expect(exams[0]["faults"]?["budget-spent"] != nil, "\(exams)")
            #expect(decision["paired"] == nil, "\(decision)")
            try night.expectSettled()
        }

        @Test(
            "candidates reach a model; of train exams the talk is kept, of sealed ones nothing is"
        )
        func candidates() throws {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey(Self.key)
            let night = try Night(in: scratch)
            let agent =
                Self.asking + """
                    say("train", answer=ask("train"))
                    calls = [os.path.join(where, name) for where, _, names in os.walk("/work/workspace")
                             for name in names if name == "calls.jsonl"]
                    say("kept", count=len(calls), lines=[open(name).read() for name in calls][:1])
                    say("judged", answer=judged())
                    """
            try night.prepare(Configuration(agent: agent, more: server.models("candidate")))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let train = try #require(try night.agentLog("train").first?["answer"])
            #expect(train["ok"] == true, "\(train)")
            let kept = try #require(try night.agentLog("kept").first)
            #expect(try #require(kept["count"]?.intValue) > 0, "\(train)")
            #expect("\(kept["lines"] ?? .null)".contains("Q: "))
            // Sealed calls are counted, and what they said is nowhere.
            let sealed = try Self.testQuestions(of: night)
            let asked = try server.requests().map { "\($0["body"] ?? .null)" }
            #expect(
                sealed.contains { question in asked.contains { $0.contains("Q: " + question) } }
            )
            for question in sealed {
                try Self.expectNowhere("Q: " + question, under: try night.folder())
            }
            let calls = try night.bodies(.modelUsage)
                .compactMap { $0["roles"]?["candidate"]?["calls"]?.intValue }
            #expect(calls.reduce(0, +) == asked.count)
            try night.expectSettled()
        }

        /// What the tasks of the sealed split ask.
        private static func testQuestions(of night: Night) throws -> [String] {
            let path = try "\(night.seenState)/vault/\(night.id())/test/tasks.json"
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            let tasks = try JSONValue(parsing: bytes, limits: .document)
            return try #require(tasks["tasks"]?.arrayValue)
                .compactMap { $0["question"]?.stringValue }
        }
    }
}
