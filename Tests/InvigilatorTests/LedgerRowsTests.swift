import Invigilator
import Ledger
import StrictJSON
import Testing

@Suite struct LedgerRowsTests {
    @Test("rows are shown one a line as the golden text says")
    func rows() throws {
        #expect(try LedgerRows(Campaign().entries).text == golden("ledger.txt"))
    }

    @Test("what an agent wrote cannot steer the terminal that shows it")
    func hostileText() throws {
        let text = try LedgerRows(Campaign().entries).text
        let steering = text.unicodeScalars.filter { $0.value < 32 && $0 != "\n" }
        #expect(steering.isEmpty)
    }

    @Test("rows for programs hold whole bodies and hashes")
    func rowsForPrograms() throws {
        let campaign = try Campaign()
        let rows = try #require(LedgerRows(campaign.entries).json["rows"]?.arrayValue)
        #expect(rows.count == campaign.entries.count)
        #expect(rows.first?["body"] == campaign.entries.first?.body)
        #expect(rows.last?["hash"]?.stringValue == campaign.entries.last?.hash.hex)
    }

    @Test("a verification names its witness, so that it can be kept elsewhere")
    func witness() throws {
        let report = try Campaign().verification
        let finding = VerificationFinding(report)
        #expect(finding.text.contains("witness \(report.count):\(report.head)"))
        #expect(finding.json["intact"] == true)
    }

    @Test("a damaged export is told with the first bad place")
    func damagedExport() {
        let finding = VerificationFinding(Ledger.verifyExport(Array("nonsense\n".utf8)))
        #expect(finding.text.hasPrefix("damaged: 0 rows are good, then: header"))
        #expect(finding.json["intact"] == false)
        #expect(finding.json["fault"]?["location"] == "header")
    }
}
