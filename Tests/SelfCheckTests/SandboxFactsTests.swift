import SelfCheck
import Testing

@Suite("SandboxFacts")
struct SandboxFactsTests {
    @Test("lines are read by their first word, and a cut line not at all")
    func reading() {
        let text = "call mount EPERM\r\ncall clone3 ENOSYS\n\npong 1\npong 2\nready\npong 3"
        let facts = SandboxFacts(Array(text.utf8))
        #expect(facts.table("call") == ["mount": ["EPERM"], "clone3": ["ENOSYS"]])
        #expect(facts.pongs == 2 && facts.isComplete)
        #expect(facts.values("ready") == [""] && facts.values("other").isEmpty)
    }

    @Test("bytes that are no facts are none", arguments: [[], [10, 10], [255, 10], [32, 10]])
    func rubbish(_ bytes: [UInt8]) {
        let facts = SandboxFacts(bytes)
        #expect(!facts.isComplete && facts.pongs == 0 && facts.values("call").isEmpty)
    }
}
