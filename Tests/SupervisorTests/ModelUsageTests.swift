import ModelDialects
import StrictJSON
import Supervisor
import Testing

@Suite("What the rows say of models")
struct ModelUsageTests {
    private func row(_ number: Int) -> JSONValue {
        let share: JSONValue = [
            "calls": JSONValue(number), "failures": 0, "input_tokens": JSONValue(number),
            "output_tokens": JSONValue(number), "microdollars": JSONValue(number),
        ]
        return [
            "gaps": JSONValue(number), "roles": ["candidate": share],
            "events": ["candidate": ["bad-request": JSONValue(number)]],
        ]
    }

    @Test("numbers that a broken broker told neither overflow nor take anything back")
    func extremes() throws {
        let most = (1 << 53) - 1
        let usage = ModelUsage(adding: Array(repeating: row(most), count: 5000))
        let calls = try #require(usage.shares[.candidate]?.calls)
        #expect(calls >= 1 << 50)
        let after = ModelUsage(adding: [row(7), row(-most)])
        #expect(after.shares[.candidate]?.inputTokens == 7 && after.gaps == 7)
    }
}
