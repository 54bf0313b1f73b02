import Invigilator
import IterationLoop
import Ledger
import StrictJSON

/// A small campaign: prepared, one candidate accepted, one refused, two attempts stopped.
struct Campaign {
    let scratch: Scratch
    let entries: [LedgerEntry]
    let verification: VerificationReport
    let state: CampaignState

    static let start: Int64 = 1_767_225_600_000  // 2026-01-01 00:00:00Z
    static let template = String(repeating: "a", count: 64)
    static let better = String(repeating: "b", count: 64)
    static let worse = String(repeating: "c", count: 64)

    init(rows: [(EventKind, JSONValue)] = Campaign.rows) throws {
        scratch = try Scratch()
        let ledger = try Ledger.create(
            at: scratch.path + "/ledger.sqlite",
            keyAt: scratch.path + "/key.ed25519",
            time: Self.start
        )
        for (index, row) in rows.enumerated() {
            try ledger.append(row.0, row.1, time: Self.start + Int64(index) * 60_000)
        }
        entries = try ledger.entries()
        verification = try ledger.verify()
        state = try CampaignState(replaying: entries.map(RecordedRow.init(reading:)))
        try ledger.close()
    }

    private static let prepared: [(EventKind, JSONValue)] = [
        (
            .genesis,
            [
                "experiment": "0123456789abcdef", "benchmark": "sums", "config_digest": "d1",
                "policy_digests": ["candidate": "p1"],
                "split": ["train": ["t1", "t2", "t3"], "test_count": 2, "commitment": "c1"],
                "rules": ["threshold": 0.8, "step2": "after-step-1", "release_quantum": 0.05],
                "host": ["python": "3.11"], "assurance": "full",
                "agent_digest": .string(template),
            ]
        ),
        (
            .baseline,
            [
                "digest": .string(template), "train": ["t1": 1, "t2": 0, "t3": 0],
                "train_mean": 0.333333, "sealed_mean": 0.5, "sealed_count": 2, "released": 0.5,
                "commit": .string(String(repeating: "1", count: 40)),
            ]
        ),
        (.floor, ["name": "do-nothing", "sealed_mean": 0, "sealed_count": 2, "released": 0]),
        (.runStarted, ["run": 1, "facts": [:]]),
    ]

    private static func intent(_ number: Int, _ digest: String) -> (EventKind, JSONValue) {
        (
            .intent,
            [
                "iteration": JSONValue(number), "ticket": .string("T\(number)"),
                "digest": .string(digest), "manifest": ["hypothesis": "carry the one"],
                "commit": .string(String(repeating: "\(number + 1)", count: 40)),
            ]
        )
    }

    private static func release(
        _ number: Int,
        _ verdict: String,
        _ score: [String: JSONValue] = [:]
    ) -> (EventKind, JSONValue) {
        let members: [String: JSONValue] = [
            "iteration": JSONValue(number), "ticket": .string("T\(number)"),
            "verdict": .string(verdict), "slot_ms": .integer(start),
            "bits": [
                "verdict": 1.59, "score": score.isEmpty ? 0 : 4.4, "slot": 1,
                "channels": score.isEmpty ? 0 : 0.1,
            ],
        ]
        return (.release, .object(members.merging(score) { own, _ in own }))
    }

    private static func sealed(_ digest: String, _ mean: Double) -> [(EventKind, JSONValue)] {
        let shared: [String: JSONValue] = [
            "iteration": 1, "purpose": "sealed", "split": "test", "count": 2,
            "digest": .string(digest), "assurance": "full",
        ]
        let ended: [String: JSONValue] = [
            "mean": .number(mean), "passed": 2, "faults": [:], "duration_ms": 900,
            "plan_digests": ["candidate": "p1"],
        ]
        return [
            (.examStarted, .object(shared)),
            (.examEnded, .object(shared.merging(ended) { own, _ in own })),
        ]
    }

    static let rows: [(EventKind, JSONValue)] =
        prepared + [
            (
                .refusal,
                [
                    "layer": "vault", "attempt": "test\u{1b}[2J", "iteration": 1,
                    "detail": "the test split is sealed", "by": "coding-agent",
                ]
            ),
            intent(1, better),
        ] + sealed(better, 1) + [
            (
                .decision,
                [
                    "iteration": 1, "ticket": "T1", "digest": .string(better),
                    "verdict": "accepted", "reasons": ["the sealed mean rose"],
                    "sealed_mean": 1, "sealed_count": 2, "suite_passed": 0, "suite_total": 0,
                    "best_before": 0.5, "released": 1,
                    "commit": .string(String(repeating: "2", count: 40)),
                ]
            ),
            (.promotion, ["iteration": 1, "promoted": []]),
            release(
                1,
                "accepted",
                [
                    "released": 1,
                    "open_channels": ["object-counters": 0.1, "source-ports": "unbounded"],
                ]
            ),
            (
                .refusal,
                [
                    "class": "denied", "layer": "snapshot",
                    "attempt": "submit a file that is empty",
                    "iteration": 2, "detail": "it has no byte", "by": "coding-agent",
                ]
            ),
            intent(2, worse),
            (
                .decision,
                [
                    "iteration": 2, "ticket": "T2", "digest": .string(worse),
                    "verdict": "rejected", "step": 1, "reasons": ["the suite is broken"],
                    "suite_passed": 0, "suite_total": 1, "best_before": 1,
                ]
            ),
            release(2, "rejected"),
            (.runEnded, ["reason": "the coding agent ended with 0"]),
        ]
}
