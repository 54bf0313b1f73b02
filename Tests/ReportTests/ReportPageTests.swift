import Foundation
import Ledger
import Report
import StrictJSON
import Testing
import Workspace

@Suite("Report page")
struct ReportPageTests {
    /// The sample's rows in a real ledger, so that its verification is a real one.
    private static func page(
        _ sample: SampleCampaign = SampleCampaign(),
        newest: Int? = ReportPage.usualLength,
        damaged: Bool = false
    ) throws -> String {
        let path = NSTemporaryDirectory() + "report-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false
        )
        // A directory that stays behind is a nuisance, not a wrong test.
        defer { try? FileManager.default.removeItem(atPath: path) }
        let ledger = try Ledger.create(at: path + "/ledger", keyAt: path + "/key", time: 1)
        for entry in sample.entries {
            try ledger.append(entry.kind, entry.body, time: entry.time)
        }
        var bytes: [UInt8] = []
        try ledger.export { bytes += $0 }
        if damaged { bytes[bytes.count / 2] ^= 1 }
        return ReportPage.render(
            entries: try ledger.entries(),
            verification: Ledger.verifyExport(bytes),
            newest: newest
        ) { sample.texts[$0].map { ["agent/agent.py": $0] } }
    }

    @Test("each list shows its newest entries, says so, and loses no sum")
    func newest() throws {
        let (all, part) = (try Self.page(newest: nil), try Self.page(newest: 3))
        func count(_ text: String, _ page: String) -> Int {
            page.components(separatedBy: text).count - 1
        }
        #expect(count("<article", all) == 8 && count("<article", part) == 3)
        #expect(part.contains("The newest 3 of 8;") && !all.contains("The newest "))
        #expect(part.contains("Candidate 8 ") && !part.contains("Candidate 5 "))
        // What was accepted keeps its mark, and every candidate its place.
        let mark = "class=\"mark accepted\" x="
        #expect(count(mark, part) == count(mark, all) && count(mark, all) > 3)
        for sum in ["accepted candidates of 8", "7 exams"] {
            #expect(all.contains(sum) && part.contains(sum))
        }
        #expect(Outline(part).problems.isEmpty)
    }

    @Test("a line of a mebibyte is cut, and the page stays a page")
    func longLines() throws {
        let page = try Self.page()
        let long = try Self.page(SampleCampaign().withLongLines)
        #expect(long.utf8.count > page.utf8.count)
        #expect(long.utf8.count < page.utf8.count + 100_000)
        #expect(long.contains("é…"))
    }

    @Test("the sample's page reads as the golden text does")
    func golden() throws {
        var text = try Outline(Self.page()).text
        // Each run makes a new key, so what follows from it is masked.
        text.replace(/signed by the key [0-9a-f]{12}…; the last row's seal is [0-9a-f]{12}…/) { _ in
            "signed by the key KEY…; the last row's seal is HEAD…"
        }
        text.replace(/Public key\n[0-9a-f]{64}\nHead\n[0-9a-f]{64}/) { _ in
            "Public key\nKEY\nHead\nHEAD"
        }
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Goldens/report.txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
            try Data(text.utf8).write(to: path)
        }
        let golden = try String(contentsOf: path, encoding: .utf8)
        let diff = UnifiedDiff(from: golden, to: text).text(oldName: "golden", newName: "page")
        #expect(diff.isEmpty, "\(diff)")
    }

    @Test("every element is closed, and no attribute carries a script, a style or an address")
    func wellFormed() throws {
        let outline = try Outline(Self.page())
        #expect(outline.problems.isEmpty, "\(outline.problems)")
        #expect(
            outline.elements.isDisjoint(with: [
                "script", "iframe", "object", "embed", "img", "link", "form", "base",
                "foreignObject",
                "use", "image", "animate",
            ])
        )
        for (name, value) in outline.attributes {
            #expect(name != "style" && name != "src" && !name.hasPrefix("on"))
            #expect(name != "href" || value.hasPrefix("#"))
        }
    }

    @Test("the policy allows the page's own style sheet and nothing else")
    func policy() throws {
        let page = try Self.page()
        let policies = page.split(separator: "\n").filter { $0.contains("Content-Security-Policy") }
        #expect(policies.count == 1)
        let policy = policies[0].replacing("&#39;", with: "'")
        #expect(policy.contains("default-src 'none'; style-src 'sha256-"))
        #expect(policy.contains("base-uri 'none'; form-action 'none'"))
        #expect(!policy.contains("unsafe") && !policy.contains("script-src"))
    }

    @Test("the coding agent's text is shown and cannot become markup or hide")
    func hostile() throws {
        let page = try Self.page()
        #expect(!page.contains("<script"))
        #expect(
            page.contains(
                "&lt;script&gt;alert(1)&lt;/script&gt;⟦U+202E⟧txt.evil⟦U+200B⟧⟦U+001B⟧[31m"
            )
        )
        let hidden = page.unicodeScalars.filter {
            $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
        }
        #expect(hidden.isEmpty)
    }

    @Test("text in every member that the page reads cannot become markup")
    func everyMember() throws {
        let evil = JSONValue.string("\"><script>x</script><b onclick='x'>")
        func poisoned(_ value: JSONValue) -> JSONValue {
            switch value {
            case .string: evil
            case .array(let items): .array(items.map(poisoned))
            case .object(let members):
                .object(members.mapValues(poisoned).merging(["x\"><script>": evil]) { $1 })
            case .null, .bool, .integer, .number: value
            }
        }
        let sample = SampleCampaign()
        let entries = sample.entries.map {
            LedgerEntry.unsigned(
                sequence: $0.sequence,
                time: $0.time,
                kind: $0.kind,
                body: poisoned($0.body)
            )
        }
        let page = ReportPage.render(entries: entries, verification: Ledger.verifyExport([])) { _ in
            ["agent/</pre>.py": "</pre><script>x</script>\n"]
        }
        let outline = Outline(page)
        #expect(outline.problems.isEmpty && !outline.elements.contains("script"))
        #expect(!outline.attributes.contains { $0.name == "onclick" })
    }

    @Test("the outcome of a sealed task is not shown even if a row had one")
    func sealedOutcomes() throws {
        #expect(try !Self.page().contains("sealed-task-marker"))
    }

    @Test("a judgement that was cut off is void, and the second one of the same file stands alone")
    func judgedAgain() {
        let digest = JSONValue.string(SampleCampaign.digest(1))
        let bodies: [(EventKind, JSONValue)] = [
            (.intent, ["iteration": 1, "ticket": "T1", "digest": digest, "manifest": [:]]),
            (.void, ["iteration": 1, "ticket": "T1", "reason": "the run before ended"]),
            (.intent, ["iteration": 2, "ticket": "T2", "digest": digest, "manifest": [:]]),
            (
                .decision,
                [
                    "iteration": 2, "ticket": "T2", "digest": digest, "verdict": "rejected",
                    "step": 2, "reasons": ["mean below the best"],
                ]
            ),
        ]
        let entries = bodies.enumerated().map { index, row in
            LedgerEntry.unsigned(sequence: index + 1, time: 0, kind: row.0, body: row.1)
        }
        let page = ReportPage.render(entries: entries, verification: Ledger.verifyExport([])) { _ in
            nil
        }
        let text = Outline(page).text
        #expect(text.contains("Candidate 1 void\n"))
        #expect(text.contains("- the run before ended\n"))
        #expect(text.contains("Candidate 2 rejected by the sealed exam\n"))
    }

    @Test("a damaged ledger is said at the top, with its first bad row")
    func damaged() throws {
        let text = try Outline(Self.page(damaged: true)).text
        #expect(text.contains("✗ The ledger is damaged. First fault: row "))
        #expect(!text.contains("Ledger verified"))
    }

    @Test("a ledger without rows, and rows without members, make a page all the same")
    func sparse() throws {
        let none = ReportPage.render(entries: [], verification: Ledger.verifyExport([])) { _ in nil
        }
        #expect(Outline(none).problems.isEmpty)
        let bare = EventKind.allCases.enumerated().map { index, kind in
            LedgerEntry.unsigned(sequence: index + 1, time: 0, kind: kind, body: [:])
        }
        let page = ReportPage.render(entries: bare, verification: Ledger.verifyExport([])) { _ in
            nil
        }
        #expect(Outline(page).problems.isEmpty)
    }
}
