internal import Ledger
internal import Workspace

/// What was fixed, how the run went and how to check the record.
struct RecordSection {
    private let chronicle: Chronicle
    private let verification: VerificationReport

    init(_ chronicle: Chronicle, _ verification: VerificationReport) {
        self.chronicle = chronicle
        self.verification = verification
    }

    var markup: Markup {
        Part.section("fixed", "Fixed before any score was seen", genesis)
            + Part.section("learned", "What the coding agent noted", learnings)
            + Part.section("course", "The course of the run", course)
            + Part.section("record", "The record", record)
    }

    private var genesis: Markup {
        let genesis = chronicle.genesis
        var facts: [(name: String, value: Markup)] = [
            ("Train tasks", "\(genesis.trainTasks.count)"),
            ("Sealed tasks", "\(genesis.testCount.map { "\($0)" } ?? "not recorded")"),
            ("Baseline, train", "\(Figures.exact(chronicle.baseline?.trainMean))"),
            ("Baseline, sealed", "\(Figures.exact(chronicle.baseline?.sealedMean))"),
        ]
        for floor in chronicle.floors {
            facts.append(("Floor, \(floor.name)", "\(Figures.exact(floor.sealedMean))"))
        }
        facts += [
            (
                "Suite threshold",
                "\(genesis.threshold.map { Figures.decimal($0, places: 2) } ?? "not recorded")"
            ),
            ("Sealed exam", "\(genesis.step2 ?? "not recorded")"),
            ("Sealed rule", "\(genesis.rule), \(Figures.count(genesis.trials, "trial"))"),
            (
                "Release quantum",
                "\(genesis.releaseQuantum.map { Figures.decimal($0, places: 2) } ?? "not recorded")"
            ),
            ("Split commitment", Part.digest(genesis.commitment)),
            ("Configuration", Part.digest(genesis.configDigest)),
            ("Agent file", Part.digest(genesis.agentDigest)),
        ]
        if let digest = genesis.benchmarkDigest {
            facts.append(("Benchmark's files", Part.digest(digest)))
        }
        for policy in genesis.policyDigests {
            let others = [
                "candidate-packages": "Candidate's packages",
                "coding-agent-profile": "Coding agent's profile",
                "model-requests": "What requests to models hold",
            ]
            facts.append(
                (others[policy.name] ?? "Policy \(policy.name)", Part.digest(policy.text))
            )
        }
        return Part.facts(facts)
    }

    private var learnings: Markup {
        guard !chronicle.learnings.isEmpty else {
            return "<p class=\"empty\">Nothing yet.</p>"
        }
        let (learnings, note) = chronicle.shown(chronicle.learnings)
        let items = learnings.map { learning -> Markup in
            let parts = learning.note.ordered.map { part, text -> Markup in
                "<div><b>\(part.title)</b> <span class=\"prose\">\(prose: text)</span></div>"
            }
            let text = learning.note.text.map { text -> Markup in
                "<span class=\"prose\">\(prose: text)</span>"
            }
            return """
                <li><span class="when">iteration \(learning.iteration.map { "\($0)" } ?? "?")</span> \
                \(parts.joined())\(text.orNothing)</li>

                """
        }
        return note + "<ul class=\"notes\">\n\(items.joined())</ul>"
    }

    private var course: Markup {
        guard !chronicle.course.isEmpty else { return "<p class=\"empty\">Not started.</p>" }
        let items = chronicle.course.map { passage -> Markup in
            let reason = passage.reason.map { ": \($0)" } ?? ""
            return """
                <li><span class="when">\(Figures.time(passage.time))</span> \
                <b>\(passage.kind.rawValue)</b>\(reason)</li>

                """
        }
        return "<ul class=\"notes\">\n\(items.joined())</ul>"
    }

    private var record: Markup {
        let state = verification.fault.map { "damaged: \($0.description)" } ?? "intact"
        return Part.facts(
            [
                ("State", "\(state)"),
                ("Rows verified", "\(verification.count) of \(chronicle.rowCount)"),
                (
                    "Depth",
                    "\(verification.depth.rawValue), \(Figures.count(verification.signaturesChecked, "signature"))"
                ),
            ] + keys + [
                ("Head", Part.digest(verification.head.hex))
            ]
        ) + """
            <p>To check a copy on another machine: <code>invigilator ledger export &gt; ledger.jsonl</code> \
            here, <code>invigilator ledger verify ledger.jsonl</code> there. Keep the head somewhere \
            else: it is the witness that no row was taken off the end since.</p>
            """
    }

    private var keys: [(String, Markup)] {
        verification.keys.isEmpty
            ? [("Public key", Part.digest(""))]
            : verification.keys.map { key in
                let name =
                    key.row == 0
                    ? "Public key"
                    : key.isVouchedFor
                        ? "Public key after row \(key.row)"
                        : "Public key after row \(key.row), not signed by the one before"
                return (name, Part.digest(key.publicKey))
            }
    }
}
