import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What is pinned stays pinned, for a coding agent and for a candidate of the same night.
    @Suite struct Pins {
        /// More than the pins give, in chat completions.
        private static let greedy = """
            "model": "a-better-one", "reasoning_effort": "high", "n": 4, "temperature": 1.5, "max_tokens": 90000
            """
        private static let kinds = [
            "model-changed", "effort-changed", "fan-out-changed", "temperature-changed",
            "max-tokens-changed", "provider-tool",
        ]

        private static func agent() -> String {
            ModelClient.text + """
                greedy = {\(greedy)}
                say("greedy", status=model(question(**greedy))[0])
                status, text = model(question(tools=[{"type": "web_search"}]))
                say("tool", status=status, text=text)
                tool = {"type": "web_search_20250305", "name": "web_search"}
                body = {"model": "a-better-one", "max_tokens": 90000, "temperature": 0.9,
                        "output_config": {"effort": "max"}, "messages": [{"role": "user", "content": "hi"}]}
                say("messages", status=model(body, "/v1/messages")[0])
                say("tool", status=model({**body, "tools": [tool]}, "/v1/messages")[0])
                gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {
                    "temperature": 1.5, "candidateCount": 4, "maxOutputTokens": 90000,
                    "thinkingConfig": {"thinkingLevel": "high"}}}
                path = "/v1beta/models/a-better-one:"
                status, text = model(gemini, path + "streamGenerateContent?alt=sse")
                say("gemini", status=status, text=text)
                search = {**gemini, "tools": [{"googleSearch": {}}]}
                say("tool", status=model(search, path + "generateContent")[0])
                with open("/work/workspace/train_results.json") as file:
                    task = sorted(json.load(file)["results"])[0]
                lines = [
                    'KNOWN = {"add"}',
                    'import http.client, json',
                    'def send(path, body):',
                    '    link = http.client.HTTPConnection("127.0.0.1", 8377, timeout=20)',
                    '    fields = {"content-type": "application/json"}',
                    '    link.request("POST", path, json.dumps(body), fields)',
                    '    return link.getresponse().status',
                    'def post(text, **more):',
                    '    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}',
                    '    return send("/v1/chat/completions", body)',
                    'def tell():',
                    '    first = post("candidate", **' + repr(greedy) + ')',
                    '    second = post("candidate", tools=[{"type": "web_search"}])',
                    '    third = send("' + path + 'generateContent", ' + repr(gemini) + ')',
                    '    post("saw %d %d %d" % (first, second, third))',
                ]
                text = source().replace(lines[0], chr(10).join(lines))
                write(text.replace("verb, left", "tell(); verb, left", 1))
                say("train", code=code(ask("train", task_ids=[task])))
                """
        }

        /// A night whose coding agent and candidates have pins of their own.
        private static func night() throws -> (Night, ModelServer) {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "7", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey("sk-of-this-test")
            let pins = ", effort: low, temperature: 0.25, takes: [effort, temperature]"
            let candidate =
                "{ upstream: scripted, model: candidate-model, max-output-tokens: 100\(pins) }"
            let night = try Night(in: scratch)
            let dialects = "openai-chat, anthropic-messages, gemini-generate"
            let models =
                server.models(dialects: dialects, more: pins) + "\n    candidate: \(candidate)"
            try night.prepare(Configuration(agent: agent(), more: models))
            return (night, server)
        }

        @Test(
            "D01, D02: who asks for more than the pins gets the pins or a refusal, and each kind has a row"
        )
        func pinned() throws {
            let (night, server) = try Self.night()
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("greedy").map { $0["status"] } == [200], "\(ended)")
            #expect(try night.agentLog("messages").map { $0["status"] } == [200])
            let tools = try night.agentLog("tool")
            #expect(tools.map { $0["status"] } == [400, 400, 400], "\(tools)")
            let reason = tools.first?["text"]?.stringValue
            #expect(reason?.contains("a tool that the provider would run") == true, "\(tools)")
            let gemini = try #require(try night.agentLog("gemini").first)
            #expect(gemini["status"] == 200, "\(gemini)")
            #expect(gemini["text"]?.stringValue?.contains("STOP") == true, "\(gemini)")
            #expect(try night.agentLog("train").map { $0["code"] } == ["ok"])
            let asked = try server.requests()
            let isGemini = { (request: JSONValue) in request["body"]?["contents"] != nil }
            try Self.expectPins(asked.filter { !isGemini($0) }.compactMap { $0["body"] })
            try Self.expectGemini(asked.filter(isGemini))
            try Self.expectRows(night)
            try night.expectSettled()
        }

        private static func expectPins(_ bodies: [JSONValue]) throws {
            // Neither of the two that offered a tool arrived.
            #expect(bodies.count == 4 && !"\(bodies)".contains("web_search"), "\(bodies)")
            for body in bodies {
                let isCandidate =
                    "\(body)".contains("\"candidate\"") || "\(body)".contains("saw ")
                let isMessages = body["output_config"] != nil
                #expect(body["model"] == (isCandidate ? "candidate-model" : "pinned-model"))
                #expect(body["temperature"] == 0.25, "\(body)")
                #expect(body["n"] == nil || body["n"] == 1, "\(body)")
                let effort =
                    isMessages ? body["output_config"]?["effort"] : body["reasoning_effort"]
                #expect(effort == "low", "\(body)")
                let limit = body["max_tokens"] ?? body["max_completion_tokens"]
                #expect(limit == (isCandidate ? 100 : 4096), "\(body)")
            }
            #expect("\(bodies)".contains("saw 200 400 200"), "\(bodies)")
        }

        /// Gemini has the model in its path, and the rest in a place of its own.
        private static func expectGemini(_ requests: [JSONValue]) throws {
            #expect(
                requests.compactMap { $0["target"]?.stringValue } == [
                    "/v1beta/models/pinned-model:streamGenerateContent?alt=sse",
                    "/v1beta/models/candidate-model:generateContent",
                ]
            )
            for (request, limit) in zip(requests, [4096, 100]) {
                let expected: JSONValue = [
                    "temperature": 0.25, "maxOutputTokens": JSONValue(limit),
                    "thinkingConfig": ["thinkingLevel": "low"],
                ]
                #expect(request["body"]?["generationConfig"] == expected, "\(request)")
                #expect("\(request["headers"] ?? .null)".contains("sk-of-this-test"))
            }
        }

        private static func expectRows(_ night: Night) throws {
            func answer(_ words: [String]) throws -> JSONValue {
                let ended = try night.done(words + [night.directory, "--json"])
                return try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            }
            let rows = try answer(["ledger", "show", "--kind", "refusal"])
            let refusals = try #require(rows["rows"]?.arrayValue).compactMap { $0["body"] }
            let events = try answer(["status"])["models"]?["events"]
            for role in ["coding-agent", "candidate"] {
                let told = refusals.filter {
                    $0["layer"] == "model" && $0["by"]?.stringValue == role
                }
                let attempts = told.compactMap { $0["attempt"]?.stringValue }
                #expect(attempts.sorted() == kinds.sorted(), "\(role): \(told)")
                let counted = events?[role]?.objectValue ?? [:]
                #expect(Set(counted.keys) == Set(kinds), "\(role): \(counted)")
            }
        }
    }
}
