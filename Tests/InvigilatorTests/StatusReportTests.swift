import Invigilator
import Ledger
import StrictJSON
import Testing
import Workspace

@Suite struct StatusReportTests {
    private func report(
        of campaign: Campaign,
        control: JSONValue? = nil
    ) -> StatusReport {
        StatusReport(
            directory: "/home/user/night",
            state: campaign.state,
            entries: campaign.entries,
            verification: campaign.verification,
            surroundings: StatusSurroundings(
                control: control,
                configuration: nil,
                now: Campaign.start
            )
        )
    }

    @Test("an ended campaign is told as the golden text says")
    func endedCampaign() throws {
        #expect(try report(of: Campaign()).text == golden("status.txt"))
    }

    @Test("an ended campaign is told to programs as the golden document says")
    func endedCampaignForPrograms() throws {
        var members = try #require(report(of: Campaign()).json.objectValue)
        // The key of each ledger is another.
        members["verification"] = nil
        #expect(try JSONValue.object(members).prettyText() + "\n" == golden("status.json"))
    }

    @Test("an ended campaign is told to a monitoring system as the golden text says")
    func metrics() throws {
        let page = try report(of: Campaign()).prometheus
        #expect(page == (try golden("status.prom")))
        #expect(!page.contains("sealed_mean"), "what leaves the host tells what was released")
    }

    @Test("a key that replaced another is counted apart from one that its predecessor signed")
    func keyChanges() throws {
        func counted(_ kind: EventKind) throws -> (replaced: Bool, rotated: Bool) {
            let change: (EventKind, JSONValue) = (kind, ["public_key": "none", "by": "uid 0"])
            let rows = Campaign.rows.dropLast() + [change]
            let lines = try report(of: Campaign(rows: Array(rows))).prometheus.split(
                separator: "\n"
            )
            func isOne(_ name: String) -> Bool {
                lines.contains {
                    $0.hasPrefix("invigilator_key_changes_total") && $0.contains("\"\(name)\"} 1")
                }
            }
            return (isOne("replaced"), isOne("rotated"))
        }
        #expect(try counted(.keyReplaced) == (true, false))
        #expect(try counted(.keyRotated) == (false, true))
    }

    @Test("an extended budget has another limit")
    func extended() throws {
        let rows = Campaign.rows + [(.extended, ["iterations": 5, "by": "uid 0"])]
        let page = try report(of: Campaign(rows: rows)).prometheus
        #expect(page.contains("invigilator_extensions_total{experiment=\"0123456789abcdef\"} 1\n"))
    }

    @Test("a name of the record cannot break out of its label")
    func labels() throws {
        let layer: JSONValue = "a\"} 1\nforged{x=\"\\"
        let refusal: (EventKind, JSONValue) = (
            .refusal,
            ["layer": layer, "attempt": "a", "detail": "d", "iteration": 1, "by": "operator"]
        )
        let page = try report(of: Campaign(rows: Campaign.rows.dropLast() + [refusal])).prometheus
        #expect(!page.split(separator: "\n").contains { $0.hasPrefix("forged") }, "\(page)")
    }

    @Test("a running supervisor says what it does and whether the agent is frozen")
    func runningSupervisor() throws {
        let answer: JSONValue = ["ok": true, "phase": "judging", "paused": false, "frozen": true]
        let status = try report(of: Campaign(), control: answer).json
        #expect(status["phase"] == "judging")
        #expect(status["running"] == true)
        #expect(status["frozen"] == true)
    }

    @Test("a preparation says which exam runs and how far it is, and is neither a run nor cut off")
    func preparing() throws {
        let exam: JSONValue = ["purpose": "baseline", "split": "test", "done": 3, "count": 29]
        let answer: JSONValue = [
            "ok": true, "phase": "preparing", "paused": false, "waiting": nil, "exam": exam,
        ]
        let begun = Array(Campaign.rows.prefix(1))
        let status = try report(of: Campaign(rows: begun), control: answer)
        #expect(status.json["phase"] == "preparing" && status.json["running"] == false)
        #expect(status.json["exam"] == exam && status.json["frozen"] == .null)
        let line = "preparing; baseline exam over the test split, 3 of 29 rollouts done"
        #expect(status.text.contains(line), "\(status.text)")
        #expect(!status.text.contains("cut off"), "\(status.text)")
        #expect(
            status.prometheus.contains("invigilator_run_active{experiment=\"0123456789abcdef\"} 0")
        )
        // Nobody prepares: then it was cut off.
        let cut = try report(of: Campaign(rows: begun))
        #expect(cut.json["exam"] == .null && cut.text.contains("preparing was cut off"))
    }

    @Test("a run that nobody ended is called interrupted, with what to do")
    func interruptedRun() throws {
        let rows = Array(Campaign.rows.dropLast())
        let text = try report(of: Campaign(rows: rows)).text
        #expect(text.contains("phase       interrupted"))
        #expect(text.contains("`invigilator run` goes on where it ended"))
    }

    @Test("an experiment that was only set up is told without figures")
    func initialisedExperiment() throws {
        let status = try report(of: Campaign(rows: []))
        #expect(status.json["phase"] == "initialised")
        #expect(status.json["best"] == .null)
        #expect(!status.text.contains("budgets"))
    }

    @Test("restarts are counted by how the coding agent had ended; other sandboxes' ends are none")
    func restarts() throws {
        let ends: [(EventKind, JSONValue)] = [
            (.sandboxExited, ["role": "coding", "restart": 1, "kind": "idle", "code": 137]),
            (.sandboxExited, ["role": "coding", "restart": 2, "kind": "exited", "code": 1]),
            (.sandboxExited, ["role": "coding", "restart": 3, "kind": "idle", "code": 137]),
            (.sandboxExited, ["role": "candidate", "kind": "oom"]),
        ]
        let rows = Array(Campaign.rows.dropLast()) + ends + Campaign.rows.suffix(1)
        let status = try report(of: Campaign(rows: rows))
        #expect(status.json["restarts"] == ["total": 3, "by_end": ["idle": 2, "exited": 1]])
        let title = "coding agent started again, by how it had ended:"
        #expect(status.text.contains("\(title)\n  idle    2\n  exited  1\n"), "\(status.text)")
    }

    @Test("refusals are counted by the layer that answered, the most frequent first")
    func refusalsByLayer() throws {
        let refusals = try report(of: Campaign()).json["refusals"]
        #expect(refusals?["total"] == 2)
        #expect(refusals?["by_kind"] == ["attempt": 1, "denied": 1])
        #expect(refusals?["by_layer"] == ["vault": 1, "snapshot": 1])
    }

    @Test(
        "kinds of refusals are coloured apart, and a text of others never reaches the terminal raw"
    )
    func colouredRefusals() throws {
        let text = try report(of: Campaign()).text(RefusalColours(isOn: true))
        #expect(text.contains("refusals: 1 attempt; besides, 1 denied and 0 adjusted:\n"))
        #expect(text.contains("\u{1B}[1;31m  attempt"), "\(text)")
        #expect(text.contains("\u{1B}[33m  denied"), "\(text)")
        #expect(!text.contains("\u{1B}[2J"), "the record's own escape is shown as a question mark")
    }
}
