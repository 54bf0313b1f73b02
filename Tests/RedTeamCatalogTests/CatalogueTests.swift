import Foundation
import HostKernel
import LinuxKernel
import RedTeam
import SandboxPlan
import Testing

@Suite("The catalogue of attacks")
struct CatalogueTests {
    /// The attacks' program, beside the test runner.
    private static let program: String = {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().path + "/invigilator-probe"
    }()

    @Test("there are more than a hundred attacks, each with an id of its own")
    func ids() {
        #expect(Catalogue.all.count > 100)
        #expect(Set(Catalogue.all.map(\.id)).count == Catalogue.all.count)
        for probe in Catalogue.all {
            #expect(probe.id.hasPrefix(probe.family.rawValue + "."))
            #expect(!probe.variants.isEmpty && !probe.title.isEmpty)
            #expect(probe.roles.isEmpty == (probe.launch == .record))
        }
    }

    @Test("every family has attacks")
    func families() {
        #expect(Set(Catalogue.all.map(\.family)) == Set(ProbeFamily.allCases))
    }

    @Test("an attack of the conversation is a candidate's, one of the record is nobody's sandbox")
    func places() {
        let relay = Catalogue.chosen(ids: [], family: .relay, role: nil)
        #expect(relay.allSatisfy { $0.launch == .exam && $0.places == "candidate" })
        let ledger = Catalogue.chosen(ids: [], family: .ledger, role: nil)
        #expect(ledger.allSatisfy { $0.launch == .record && $0.places == "record" })
        #expect(Catalogue.chosen(ids: [], family: .ledger, role: .examiner).isEmpty)
    }

    @Test("every call that no policy can allow is attacked, by its number")
    func calls() {
        for role in [SandboxRole].everywhere {
            let attacked = Set(
                Catalogue.chosen(ids: [], family: .calls, role: role).map(\.word)
            )
            let refused = RefusedCalls.all.map { "calls.\($0.name)@\($0.number)" }
            #expect(attacked == Set(refused))
        }
    }

    @Test("the attacks' program has every attack of the catalogue and no other")
    func program() throws {
        let outcome = try Spawn.run(Self.program, arguments: ["list"])
        let known = Set(
            String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
        )
        let wanted = Set(
            Catalogue.all.filter {
                [.shared, .race, .endpoint].contains($0.launch) && $0.family != .calls
            }
            .map(\.word)
        )
        #expect(known == wanted)
    }

    @Test(
        "the attacks' program starts nowhere but in a sandbox or on a control",
        arguments: [
            ["run", "files.host-secret"], ["run", "--without-filter", "files.host-secret"],
            ["load", "print", "1"], ["pair"], ["victims"], [],
            ["control", "/nonexistent", "0123456789abcdef", "word=x", "files.host-secret"],
        ]
    )
    func refusesToStart(_ words: [String]) throws {
        let outcome = try Spawn.run(Self.program, arguments: words)
        #expect(outcome.end.exitCode == 77)
        #expect(outcome.output.isEmpty)
    }
}
