import Foundation
import Invigilator
import Ledger
import StrictJSON
import Testing
import Transparency

@Suite("What is said of a record to others")
struct AttestationTests {
    private static func key() throws -> NoteKey {
        let hex = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        return NoteKey(ofLedger: try #require(PublicKey(hex: hex)))
    }

    private static func predicate(_ figures: GateAttestation.Figures) throws -> JSONValue {
        let attestation = try #require(
            GateAttestation(of: 1, in: Campaign().entries, figures: figures)
        )
        let subject = Statement.Subject(name: "agent/agent.py", digest: Campaign.better)
        let statement = attestation.statement(about: [subject], ledger: try key())
        #expect(attestation.digest == Campaign.better)
        #expect(statement.predicateType == "urn:invigilator:gate-decision:1")
        return statement.predicate
    }

    @Test("a statement says what was decided, under which rules, and where the record has it")
    func released() throws {
        let entries = try Campaign().entries
        let row = try #require(entries.first { $0.kind == .decision })
        let predicate = try Self.predicate(.released)
        #expect(
            predicate["decision"] == [
                "iteration": 1, "ticket": "T1", "verdict": "accepted", "released": 1,
                "suite_passed": 0, "suite_total": 0,
            ]
        )
        #expect(predicate["candidate"]?["digest"]?.stringValue == Campaign.better)
        #expect(predicate["gate"] == entries[0].body["rules"])
        #expect(predicate["policies"] == ["candidate": "p1"])
        #expect(predicate["plans"] == ["sealed": ["candidate": "p1"]])
        #expect(predicate["configuration"] == "d1")
        #expect(
            predicate["benchmark"]
                == ["name": "sums", "digest": nil, "split": "c1", "sealed_tasks": 2]
        )
        #expect(predicate["assurance"] == "full")
        #expect(
            predicate["told"]?["open_channels"]
                == ["object-counters": 0.1, "source-ports": "unbounded"]
        )
        #expect(predicate["told"]?["bits"]?["channels"] == 0.1)
        #expect(predicate["experiment"] == "0123456789abcdef")
        #expect(predicate["ledger"]?["row"]?.intValue == row.sequence)
        #expect(predicate["ledger"]?["origin"]?.stringValue == (try Self.key()).name)
    }

    @Test("no sealed figure is told unless it is asked for")
    func exact() throws {
        let told = try Self.predicate(.released)["decision"]?.objectValue ?? [:]
        for name in ["sealed_mean", "sealed_count", "best_before", "reasons"] {
            #expect(told[name] == nil)
        }
        let all = try Self.predicate(.exact)["decision"]
        #expect(all?["sealed_mean"] == 1 && all?["best_before"] == 0.5)
        #expect(all?["reasons"] == ["the sealed mean rose"])
    }

    @Test("the template, a refused candidate and an unknown iteration are not attested")
    func refused() throws {
        let entries = try Campaign().entries
        for iteration in [0, 2, 3, -1] {
            #expect(GateAttestation(of: iteration, in: entries, figures: .exact) == nil)
        }
        #expect(GateAttestation(of: 1, in: [], figures: .exact) == nil)
    }

    @Test("a verification that was held against a checkpoint says what came of it")
    func comparison() throws {
        let report = try Campaign().verification
        let tree = MerkleTree([[1], [2], [3]])
        let comparison = CheckpointComparison(
            of: Array("nonsense".utf8),
            with: tree,
            signedBy: [try Self.key()]
        )
        let finding = VerificationFinding(report, checkpoint: comparison)
        #expect(finding.json["checkpoint"]?["continued"] == false)
        #expect(finding.json["checkpoint"]?["size"] == .null)
        #expect(finding.text.contains("\ncheckpoint: it is no signed note: "))
        #expect(VerificationFinding(report).json["checkpoint"] == .null)
    }
}
