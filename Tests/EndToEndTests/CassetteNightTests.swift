import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Nights whose coding agent's model is recorded once, and then replayed.
    @Suite struct Cassettes {
        /// What a coding agent needs to talk to its model; it tells it what it may train on.
        private static let client = """
            import urllib.request

            talk = []

            def model(text):
                talk.append({"role": "user", "content": text})
                body = {"model": "pinned-model", "messages": talk, "user": "somebody"}
                request = urllib.request.Request(
                    os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
                    {"content-type": "application/json", "authorization": "Bearer none"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    said = json.load(answer)["choices"][0]["message"]["content"]
                talk.append({"role": "assistant", "content": said})
                return said

            told = sorted(os.listdir("/work/workspace/traces/baseline"))

            """

        /// Learns from its model which verbs to know, twice, and tells it the verdict.
        private static let agent =
            client + """
                for turn in range(2):
                    said = model("%s: which verbs?" % told)
                    write(knowing(*said.split()))
                    told.append(judged(said)["verdict"])
                """

        private static let script = """
            {"conversations": "history", "steps": [
                {"text": "add subtract"}, {"text": "add subtract multiply"}]}
            """

        private static let key = "sk-the-real-key-0123456789abcdef"

        private static func configuration(
            _ server: ModelServer,
            _ cassette: String,
            _ agent: String = agent
        ) -> Configuration {
            Configuration(agent: agent, more: server.models() + "\n  cassette: {\(cassette)}")
        }

        /// The verdicts, each with the digest of what was judged.
        private static func decisions(_ night: Night) throws -> [String] {
            let digests = try night.bodies(.intent).map { $0["digest"]?.stringValue ?? "none" }
            let verdicts = try night.bodies(.decision).map { $0["verdict"]?.stringValue ?? "none" }
            return zip(digests, verdicts).map { "\($0) \($1)" }
        }

        @Test("a recorded night comes to the same decisions again, without a server and a key")
        func whole() throws {
            let scratch = try Scratch()
            let server = try ModelServer(Self.script, scratch: scratch)
            try server.writeKey(Self.key)
            let first = try Night(in: scratch, name: "recorded", state: "\(scratch.path)/first")
            try first.prepare(Self.configuration(server, "record: night.cassette"))
            let recorded = try first.run(["run", first.directory])
            #expect(recorded.code == 0, "\(recorded)")
            let tape = "\(first.directory)/night.cassette"
            let decisions = try Self.decisions(first)
            #expect(decisions.count == 2 && decisions.allSatisfy { $0.hasSuffix("accepted") })
            let said = try String(contentsOfFile: tape, encoding: .utf8)
            #expect(said.split(separator: "\n").count == 3 && !said.contains(Self.key))

            try server.stop()
            try server.removeKey()
            let again = try Night(in: scratch, name: "replayed", state: "\(scratch.path)/second")
            try again.prepare(Self.configuration(server, "replay: \(tape)"))
            let ended = try again.run(["run", again.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try Self.decisions(again) == decisions)
            #expect(try Self.scores(again) == Self.scores(first))
            try again.expectSettled()
            let facts = try #require(try again.bodies(.genesis).first?["host"])
            #expect(facts["split"] == "cassette", "\(facts)")
            let usage = try again.bodies(.modelUsage)
            let calls = usage.compactMap { $0["roles"]?["coding-agent"]?["calls"]?.intValue }
            #expect(calls.reduce(0, +) == 2)
            #expect(usage.allSatisfy { $0["events"]?.objectValue?.isEmpty == true }, "\(usage)")
        }

        private static func scores(_ night: Night) throws -> [JSONValue] {
            try night.bodies(.baseline).map { $0["train"] ?? .null }
                + night.bodies(.release).map { $0["released_score"] ?? .null }
        }

        @Test("a replay that asks for what was never recorded is an error, and is on the record")
        func missed() throws {
            let scratch = try Scratch()
            let server = try ModelServer(Self.script, scratch: scratch)
            let tape = "\(scratch.path)/tape"
            try (Self.header + "\n").write(toFile: tape)
            let night = try Night(in: scratch)
            let agent =
                Self.client + """
                    try:
                        model("a question of its own")
                    except OSError as error:
                        say("missed", text=str(error))
                    """
            try night.prepare(Self.configuration(server, "replay: \(tape)", agent))
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 2, "\(ended)")
            let reason = "\(tape): it asked what the cassette has no answer to (key "
            #expect(ended.notes.contains(reason), "\(ended)")
            #expect(ended.notes.contains("agent-calls.jsonl"), "\(ended)")
            let usage = try night.bodies(.modelUsage)
            let events = usage.compactMap {
                $0["events"]?["coding-agent"]?["cassette-missing"]?.intValue
            }
            #expect(events == [1], "\(usage)")
            let refusals = try night.bodies(.refusal).filter { $0["layer"] == "model" }
            #expect(refusals.map { $0["attempt"] } == ["cassette-missing"], "\(refusals)")
            let last = try night.bodies(.runEnded).map { "\($0)" }
            #expect(last.count == 1 && last[0].contains("no answer to a request"), "\(last)")
            try night.expectSettled()
            let calls = "\(try night.folder())/agent-calls.jsonl"
            let said = try String(contentsOfFile: calls, encoding: .utf8)
            #expect(said.contains("a question of its own"))
            #expect(try server.requests().isEmpty)
        }

        @Test("what cannot be recorded or replayed is refused by prepare, before any exam")
        func refused() throws {
            let scratch = try Scratch()
            let server = try ModelServer(Self.script, scratch: scratch)
            try server.writeKey(Self.key)
            let tape = "\(scratch.path)/tape"
            let night = try Night(in: scratch)
            try night.set(up: Self.configuration(server, "replay: \(tape)"))
            func expect(_ cassette: String, _ reason: String, roles: String = "") throws {
                var configuration = Self.configuration(server, cassette)
                configuration.more = configuration.more.replacing(
                    "  roles:\n",
                    with: "  roles:\n" + roles
                )
                try night.configure(configuration)
                let ended = try night.run(["prepare", night.directory])
                #expect(ended.code == 2 || ended.code == 3, "\(ended)")
                #expect(ended.notes.contains(reason), "\(ended)")
                let isBegun = try FileManager.default.fileExists(
                    atPath: "\(night.folder())/ledger.sqlite"
                )
                #expect(try !isBegun || night.bodies(.genesis).isEmpty)
            }
            try expect("replay: \(tape)", "\(tape): there is no such file; remedy: record it")
            try "no cassette\n".write(toFile: tape)
            try expect("replay: \(tape)", "its first line is not that of a cassette")
            try (Self.header + "\nnonsense\n").write(toFile: tape)
            try expect("replay: \(tape)", "line 2 is no recorded answer")
            try expect("record: \(tape)", "it holds a recording already")
            let judge = "    judge: { upstream: scripted, model: other }\n"
            for word in ["record", "replay"] {
                try expect("\(word): \(tape)", "it holds no answer to judge", roles: judge)
            }
        }

        private static let header =
            #"{"schema":"invigilator.cassette/1","split_key":"\#(String(repeating: "0", count: 64))"}"#
    }
}
