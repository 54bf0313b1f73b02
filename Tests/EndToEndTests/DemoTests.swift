import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// The demonstration, and what it releases.
    @Suite struct Demo {
        @Test("the demo improves, refuses cheats, records all of it and releases little")
        func demo() throws {
            let before = try Leftovers()
            let night = try Night()
            let ended = try night.run(["demo", "--dir", night.directory], seconds: 180)
            try #require(ended.code == 0, "\(ended)")
            try expectImprovement(night)
            try expectRefusals(night)
            try expectReport(night)
            try expectRoundedReleases(night)
            try night.expectSettled()
            try expectAudit(night)
            let proof = try night.run(["ledger", "verify", night.directory])
            #expect(proof.code == 0, "\(proof)")
            try before.expectNone(night)
        }

        private func expectImprovement(_ night: Night) throws {
            let baseline = try #require(try night.bodies(.baseline).first)
            let decisions = try night.bodies(.decision)
            let accepted = decisions.filter { $0["verdict"]?.stringValue == "accepted" }
            let first = try #require(baseline["sealed_mean"]?.numberValue)
            let last = try #require(accepted.last?["sealed_mean"]?.numberValue)
            #expect((0.45...0.60).contains(first))
            #expect(last - first >= 0.20)
            let rising = zip(
                [first] + accepted.compactMap { $0["sealed_mean"]?.numberValue },
                accepted.compactMap { $0["sealed_mean"]?.numberValue }
            )
            #expect(rising.allSatisfy { $0 <= $1 }, "the best score never falls")
            #expect(rising.filter { $0 < $1 }.count >= 4)
            #expect(
                decisions.contains {
                    $0["verdict"]?.stringValue == "rejected" && $0["step"]?.integerValue == 1
                }
            )
            let lines = try night.agentLog("verdict")
            let regression = lines.filter {
                $0["family"]?.stringValue == "address-change-after-shipment"
            }
            #expect(regression.first?["step"]?.integerValue == 1, "\(regression)")
            let cosmetic = lines.filter { $0["family"]?.stringValue == "" }
            #expect(cosmetic.count == 1 && cosmetic[0]["verdict"]?.stringValue != "none")
            let (ceilings, floors) = try (
                night.bodies(.floor).filter { $0["bound"] == "ceiling" },
                night.bodies(.floor).filter { $0["bound"] == nil }
            )
            #expect(ceilings.map { $0["sealed_mean"] } == [1])
            #expect(floors.count == 3)
            for floor in floors {
                #expect((floor["sealed_mean"]?.numberValue ?? 1) < 0.10, "\(floor)")
            }
        }

        private func expectRefusals(_ night: Night) throws {
            let cheats = try night.agentLog("cheat")
            #expect(cheats.count >= 8)
            for cheat in cheats {
                #expect(cheat["outcome"]?.stringValue == "stopped", "\(cheat)")
            }
            let refusals = try night.bodies(.refusal)
            let kinds = Set(refusals.compactMap { $0["attempt"]?.stringValue })
            #expect(kinds.count >= 4, "\(kinds)")
            let layers = Set(refusals.compactMap { $0["layer"]?.stringValue })
            #expect(layers.isSuperset(of: ["snapshot", "vault"]) && layers.count >= 4, "\(layers)")
            let status = try night.done(["status", night.directory])
            let report = try report(night)
            for layer in layers {
                #expect(status.output.contains(layer), "\(layer)")
                let isReported = report.contains(layer)
                #expect(isReported, "\(layer)")
            }
        }

        private func report(_ night: Night) throws -> String {
            let path = "\(night.directory)/workspace/report.html"
            return try String(contentsOfFile: path, encoding: .utf8)
        }

        // Every decision, decided again by the gate from the outcomes that sealed exams committed to.
        private func expectAudit(_ night: Night) throws {
            let folder = "\(night.scratch.path)/revealed"
            try night.done(["ledger", "reveal", night.directory, "--to", folder])
            let words = ["verify", "\(folder)/ledger.jsonl", "--reveal", "\(folder)/reveal.key"]
            let ended = try night.done(words)
            let decisions = try night.bodies(.decision).count
            let told = "decisions: \(decisions) decisions are what the gate decides"
            #expect(ended.output.contains(told), "\(ended)")
            #expect(
                try night.bodies(.examEnded).allSatisfy {
                    ($0["split"] == "test") == ($0["sealed_root"] != nil)
                }
            )
        }

        private func expectReport(_ night: Night) throws {
            let report = try report(night)
            #expect(report.contains("Content-Security-Policy") == true)
            #expect(report.contains("default-src &#39;none&#39;") == true)
            #expect(report.lowercased().contains("<script") == false)
            let path = "\(night.state)/vault/\(try night.id())/test/tasks.json"
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            let tasks = try JSONValue(parsing: bytes, limits: .document)["tasks"]?.arrayValue ?? []
            #expect(tasks.count >= 27)
            // A cheat named a sealed task itself; its refusal says so and nothing else does.
            let typed = try night.bodies(.refusal).compactMap { $0["attempt"]?.stringValue }
            let kept = try night.rows().map {
                String(decoding: $0.body.canonicalBytes, as: UTF8.self)
            }
            .joined()
            let views = try view(night)
            for task in tasks {
                let id = try #require(task["id"]?.stringValue)
                let marker = try #require(task["marker"]?.stringValue)
                let isTyped = typed.contains { $0.contains(id) }
                for (place, text) in [("report", report), ("ledger", kept), ("views", views)] {
                    let holds = text.contains(marker) || (text.contains(id) && !isTyped)
                    #expect(!holds, "\(place): \(id), \(marker)")
                }
            }
        }

        // Every file of the operator's view but the report, and of what is kept for the next run.
        private func view(_ night: Night) throws -> String {
            let ended = try Program(
                "/usr/bin/find",
                [
                    "\(night.directory)/workspace", "\(night.folder())/view", "-type", "f",
                    "-not", "-name", "report.html", "-print", "-exec", "cat", "{}", "+",
                ],
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            #expect(ended.output.contains("trace.json"))
            return ended.output
        }

        private func expectRoundedReleases(_ night: Night) throws {
            let exact = try night.bodies(.decision).compactMap { $0["sealed_mean"]?.numberValue }
            let released = try (night.bodies(.decision) + night.bodies(.baseline))
                .compactMap { $0["released"]?.numberValue }
            #expect(released.count >= 5)
            for value in released {
                let steps = value / 0.05
                #expect(abs(steps - steps.rounded()) < 1e-9, "\(value)")
            }
            let said = try night.agentLog("verdict").map {
                String(decoding: $0.canonicalBytes, as: UTF8.self)
            }.joined()
            for value in exact where abs(value * 20 - (value * 20).rounded()) > 1e-9 {
                let digits = String("\(value)".prefix(6))
                #expect(!said.contains(digits), "\(digits)")
            }
        }

        @Test("the agent's table of results holds released values, the operator's the exact ones")
        func tables() throws {
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        say("table", text=open("/work/workspace/results.tsv").read())
                        write(knowing("add", "subtract"))
                        answer = judged()
                        say("reasons", text=json.dumps(answer["reasons"]))
                        say("table", text=open("/work/workspace/results.tsv").read())
                        """,
                    // A step that no mean of four tasks but 0 and 1 lies on.
                    release: "{ grid: 100ms, score: bucket, bucket: 0.3 }"
                )
            )
            try night.done(["run", night.directory])
            let decision = try #require(try night.bodies(.decision).first)
            let exact = try #require(decision["sealed_mean"]?.numberValue)
            let released = try #require(decision["released"]?.numberValue)
            #expect(exact != released)
            func scores(_ table: String) -> [Double] {
                table.split(separator: "\n").dropFirst().compactMap {
                    Double($0.split(separator: "\t")[1])
                }
            }
            let tables = try night.agentLog("table").compactMap { $0["text"]?.stringValue }
            #expect(tables.count == 2)
            #expect(scores(tables[0]).count == 1)
            #expect(scores(tables[1]).last == released)
            #expect(!scores(tables[1]).contains(exact))
            let own = try String(
                contentsOfFile: "\(night.directory)/workspace/results.tsv",
                encoding: .utf8
            )
            #expect(scores(own).last == exact)
            let reasons = try #require(try night.agentLog("reasons").first?["text"]?.stringValue)
            #expect(!reasons.contains("\(exact)".prefix(4)))
        }
    }
}
