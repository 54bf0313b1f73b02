import Ledger
import StrictJSON

/// A short invented night: honest candidates, a regression, an idle change, a void exam, cheats.
struct SampleCampaign {
    private(set) var entries: [LedgerEntry] = []
    private(set) var texts: [String: String] = [:]
    private var time: Int64 = 1_764_000_000_000
    private var best = ""
    private var score = 0.5185
    private var suite = 0

    /// Text that would do harm in a page that believed it.
    static let hostile = "</code><script>alert(1)</script>\u{202E}txt.evil\u{200B}\u{1B}[31m & \"'"

    init() {
        let first = Self.agent(rules: 0)
        best = Self.digest(0)
        texts[best] = first
        prepare()
        add(.runStarted, ["assurance": "full"])
        add(.sandboxStarted, ["role": "coding-agent"])
        refuse("landlock", "read the vault", "/var/lib/invigilator/vault: EACCES", 1)
        refuse("landlock", "read the vault", "second try", 1)
        judge(1, rules: 1, "accepted", sealed: 0.5926, fixes: ["train-004", "train-011"])
        refuse("request socket", "type a score", "record with score=0.99", 2)
        judge(2, rules: 2, "accepted", sealed: 0.6667, fixes: ["train-017"])
        judge(3, rules: -2, "rejected", step: 1, reason: "suite 1 of 3 passed, below 0.80")
        judge(4, rules: 3, "void", reason: "the examiner died: evidence in row 31")
        add(.void, ["iteration": 4, "reason": "the examiner ended with signal 9"])
        judge(
            5,
            rules: 3,
            "accepted",
            sealed: 0.7778,
            fixes: ["train-023", "train-040", "train-041"]
        )
        add(
            .learning,
            ["iteration": 5, "text": "Verify identity first.\nThen ask for the reason."]
        )
        refuse("snapshot", "hand in a symbolic link", "agent.py: ELOOP", 6)
        judge(6, rules: 4, "rejected", step: 2, sealed: 0.7407, reason: "mean 0.7407 < best 0.7778")
        refuse("frame decoder", "forge a verdict frame", Self.hostile, 7, by: "candidate")
        judge(7, rules: 3, "rejected", step: 2, sealed: 0.7407, reason: "mean 0.7407 < best 0.7778")
        judge(8, rules: 5, "accepted", sealed: 0.8148, fixes: ["train-052"])
        add(
            .learning,
            [
                "iteration": 6, "tried": "fees first", "happened": "rejected at step 2",
                "pattern": .string(Self.hostile), "needs": "the list of fees",
            ]
        )
        add(.learning, ["iteration": 8, "text": .string(Self.hostile)])
        add(.stop, ["reason": "5 iterations without improvement"])
        add(.runEnded, ["reason": "stop rule"])
        add(.retirement, ["task": "train-017", "reason": .string("its gold " + Self.hostile)])
        add(.retirement, ["task": "sealed-task-marker", "reason": "no train task"])
    }

    static func digest(_ number: Int) -> String {
        let digits = Array("0123456789abcdef")
        return String((0..<64).map { digits[(number * 7 + $0 * (number + 3)) % 16] })
    }

    private static func agent(rules: Int) -> String {
        var lines = [
            "\"\"\"The customer-service agent.\"\"\"", "from harness import HarnessAgent", "",
            "", "class Agent(HarnessAgent):", "    def reply(self, messages):",
            "        text = messages[-1][\"content\"].lower()",
        ]
        let extra = [
            "        if not self.verified:\n            return self.ask(\"order number and e-mail\")",
            "        if \"refund\" in text and not self.reason:\n            return self.ask(\"reason\")",
            "        if len(self.orders) > 1:\n            return self.ask(\"which order\")",
            "        if self.fee:\n            return self.say(f\"There is a fee of {self.fee}.\")",
            "        if \"exchange\" in text:\n            return self.tool(\"exchange_item\")",
        ]
        if rules >= 0 {
            lines += extra.prefix(rules).flatMap { $0.split(separator: "\n").map(String.init) }
        }
        lines += ["        return self.say(\"How can I help?\")"]
        if rules < 0 { lines.removeLast(2) }
        return lines.joined(separator: "\n") + "\n"
    }

    private mutating func prepare() {
        let train = (1...63).map { number in
            JSONValue.string(
                "train-" + String(repeating: "0", count: number < 10 ? 2 : 1) + "\(number)"
            )
        }
        add(
            .genesis,
            [
                "experiment": "helpdesk-night", "benchmark": "helpdesk", "assurance": "full",
                "config_digest": .string(Self.digest(50)), "agent_digest": .string(best),
                "policy_digests": [
                    "candidate": .string(Self.digest(51)), "coding-agent": .string(Self.digest(52)),
                    "examiner": .string(Self.digest(53)),
                ],
                "split": [
                    "train": .array(train), "test_count": 27,
                    "commitment": .string(Self.digest(54)),
                ],
                "rules": ["threshold": 0.8, "step2": "afterStep1", "release_quantum": 0.05],
            ]
        )
        exam(0, "baseline", "test", mean: 0.5185, passed: 14, count: 27)
        add(
            .baseline,
            [
                "digest": .string(best), "train_mean": 0.5238, "sealed_mean": 0.5185,
                "sealed_count": 27, "released": 0.5, "train": ["train-001": 1],
            ]
        )
        add(.floor, ["name": "do-nothing", "sealed_mean": 0.037, "released": 0.05])
        add(.floor, ["name": "dump-everything", "sealed_mean": 0.0741, "released": 0.05])
    }

    private mutating func add(_ kind: EventKind, _ body: JSONValue) {
        time += 47_000
        entries.append(.unsigned(sequence: entries.count + 1, time: time, kind: kind, body: body))
    }

    private mutating func refuse(
        _ layer: String,
        _ attempt: String,
        _ detail: String,
        _ iteration: Int,
        by author: String = "coding-agent"
    ) {
        add(
            .refusal,
            [
                "class": layer == "landlock" ? "denied" : "attempt", "layer": .string(layer),
                "attempt": .string(attempt), "detail": .string(detail),
                "iteration": JSONValue(iteration), "by": .string(author),
            ]
        )
    }

    private mutating func exam(
        _ iteration: Int,
        _ purpose: String,
        _ split: String,
        mean: Double,
        passed: Int,
        count: Int
    ) {
        add(
            .examEnded,
            [
                "iteration": JSONValue(iteration), "purpose": .string(purpose),
                "split": .string(split), "mean": .number(mean), "passed": JSONValue(passed),
                "count": JSONValue(count), "faults": ["wallClock": 1], "duration_ms": 3_214,
                // No ledger has this for a sealed exam; the page must not show it if one had.
                "outcomes": ["sealed-task-marker": ["outcome": "graded", "reward": 1]],
            ]
        )
    }

    private mutating func judge(
        _ iteration: Int,
        rules: Int,
        _ verdict: String,
        step: Int? = nil,
        sealed: Double? = nil,
        reason: String? = nil,
        fixes: [String] = []
    ) {
        let digest = Self.digest(iteration)
        let ticket = JSONValue.string("T\(iteration)")
        texts[digest] = Self.agent(rules: rules)
        add(
            .snapshot,
            [
                "iteration": JSONValue(iteration), "digest": .string(digest),
                "size": JSONValue(texts[digest]?.utf8.count ?? 0),
            ]
        )
        if iteration == 6 {
            add(
                .audit,
                [
                    "digest": .string(digest),
                    "findings": [
                        ["kind": "size-growth", "line": nil, "detail": "465 to 548 bytes"],
                        ["kind": "frame-walking", "line": 2, "detail": "names <f_back>"],
                        ["kind": "network", "line": 9_999, "detail": "imports socket"],
                    ],
                ]
            )
        }
        add(
            .intent,
            [
                "iteration": JSONValue(iteration), "ticket": ticket, "digest": .string(digest),
                "manifest": [
                    "hypothesis": .string("Rule \(abs(rules)) covers the largest failing family."),
                    "target_cluster": "identity",
                    "expected_fixes": JSONValue(iteration == 2 ? fixes + ["elsewhere"] : fixes),
                ],
            ]
        )
        if let sealed {
            let passed = Int((sealed * 27).rounded())
            exam(iteration, "sealed", "test", mean: sealed, passed: passed, count: 27)
        }
        var body: [String: JSONValue] = [
            "iteration": JSONValue(iteration), "ticket": ticket, "digest": .string(digest),
            "verdict": .string(verdict), "suite_passed": JSONValue(step == 1 ? 1 : suite),
            "suite_total": JSONValue(suite), "best_before": .number(score),
            "reasons": [.string(reason ?? "mean \(sealed ?? 0) is at least the best")],
        ]
        body["step"] = step.map { JSONValue($0) }
        body["sealed_mean"] = sealed.map { .number($0) }
        if verdict == "accepted", let sealed {
            score = sealed
            suite += fixes.count
            body["released"] = .number((sealed * 20).rounded() / 20)
            body["commit"] = .string(String(Self.digest(iteration + 60).prefix(40)))
        }
        add(.decision, .object(body))
        if iteration == 1 {
            let bits: JSONValue = ["verdict": 1.59, "score": 4.4, "slot": 1, "channels": 0.1]
            let open: JSONValue = ["object-counters": 0.1, "running-agents": "unbounded"]
            let score: JSONValue = [
                "agent": .string("scripted " + Self.hostile), "fixed": JSONValue(fixes),
                "not_fixed": ["train-030"], "surprises": ["sealed-task-marker"], "broken": [],
                "spared": [], "shocks": ["train-002"], "unexamined": [], "examined": 8,
                "squared_error": 3, "foreseen": 1,
            ]
            add(
                .release,
                [
                    "iteration": 1, "ticket": ticket, "verdict": .string(verdict), "bits": bits,
                    "open_channels": open, "manifest": score,
                ]
            )
        }
        if !fixes.isEmpty {
            let promoted = JSONValue(fixes + ["sealed-task-marker"])
            let doubted = JSONValue(iteration < 8 ? [] : ["train-060", "sealed-task-marker"])
            add(
                .promotion,
                [
                    "iteration": JSONValue(iteration), "promoted": promoted,
                    "quarantined": doubted,
                ]
            )
        }
    }
}

extension SampleCampaign {
    /// The same with a line of a mebibyte at the end of each text.
    var withLongLines: SampleCampaign {
        var long = self
        long.texts = texts.reduce(into: [:]) { texts, text in
            texts[text.key] = text.value + text.key + String(repeating: "é", count: 1 << 19) + "\n"
        }
        return long
    }
}
