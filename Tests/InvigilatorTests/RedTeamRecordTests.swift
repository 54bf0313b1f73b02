import Invigilator
import RedTeam
import Testing

@Suite("Attacks on the record")
struct RedTeamRecordTests {
    private static let attacks = Catalogue.chosen(ids: [], family: .ledger, role: nil)

    @Test("an attack works on a reader without the wall and is refused for the stated reason")
    func refused() throws {
        let scratch = try Scratch()
        let record = try RedTeamRecord(in: scratch.path)
        for probe in Self.attacks {
            let name = String(probe.id.dropFirst("ledger.".count))
            let finding = try #require(try record.attack(name), "\(name) is not made")
            #expect(finding.control == .works, "\(name)")
            #expect(probe.variants[0].expected == [finding.inside], "\(name): \(finding.inside)")
        }
    }

    @Test("an attack that nobody knows is not made")
    func unknown() throws {
        let scratch = try Scratch()
        #expect(try RedTeamRecord(in: scratch.path).attack("say-please") == nil)
    }
}
