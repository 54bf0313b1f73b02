import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Models behind the broker, for a coding agent and for candidates.
    @Suite struct Models {
        /// What a coding agent needs to ask a model; it knows no library.
        private static let client = """
            import http.client

            def model(body, path="/v1/chat/completions", headers={}):
                connection = http.client.HTTPConnection("127.0.0.1", 8377, timeout=60)
                fields = {"content-type": "application/json", "authorization": "Bearer own-key"}
                connection.request("POST", path, json.dumps(body), {**fields, **headers})
                answer = connection.getresponse()
                return answer.status, answer.read().decode()

            def question(**more):
                return {"model": "pinned-model",
                        "messages": [{"role": "user", "content": "what now?"}], **more}

            """

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
                Configuration(agent: client + agent, more: model.models(more: roleKeys) + more)
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

        @Test("a coding agent reaches the pinned model, with the broker's key, and is told so in rows")
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
                    agent: Self.client + """
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
    }
}
