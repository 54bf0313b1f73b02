import SandboxPlan
import TestSupport
import Testing

@Suite("FilterEvaluator")
struct FilterEvaluatorTests {
    private func answer(_ filter: FilterBuilder, _ question: FilterQuestion) -> FilterAnswer {
        FilterEvaluator(filter.program).answer(question).answer
    }

    @Test("each return value of seccomp is told apart")
    func returns() {
        let meanings: [(UInt32, FilterAnswer)] = [
            (0x7fff_0000, .allowed), (0x0005_0001, .refused(errno: 1)),
            (0x0005_0026, .refused(errno: 38)), (0x8000_0000, .killed),
            (0x0000_0000, .other), (0x0003_0000, .other), (0x7fc0_0000, .told),
            (0x7ff0_0000, .other), (0x7ffc_0000, .other),
        ]
        for (value, meaning) in meanings {
            var filter = FilterBuilder()
            filter.give(value)
            #expect(answer(filter, FilterQuestion(number: 1)) == meaning, "\(value)")
        }
    }

    @Test("number, architecture and both halves of every argument are what is loaded")
    func loads() {
        let arguments: [UInt64] = (1...6).map { $0 << 32 | ($0 + 100) }
        let question = FilterQuestion(number: 77, architecture: 99, arguments: arguments)
        var expected: [UInt32: UInt32] = [0: 77, 4: 99]
        for index in 0..<6 {
            expected[16 + UInt32(index) * 8] = UInt32(index + 101)
            expected[20 + UInt32(index) * 8] = UInt32(index + 1)
        }
        for (offset, word) in expected {
            var filter = FilterBuilder()
            filter.load(offset)
            filter.ifEqual(word, give: FilterBuilder.allow)
            filter.give(FilterBuilder.kill)
            #expect(answer(filter, question) == .allowed, "offset \(offset)")
        }
    }

    @Test("every jump goes where the kernel goes")
    func jumps() {
        let cases: [(UInt16, UInt32, UInt32, Bool)] = [
            (0x15, 5, 5, true), (0x15, 5, 6, false), (0x25, 6, 5, true), (0x25, 5, 5, false),
            (0x35, 5, 5, true), (0x35, 4, 5, false), (0x45, 6, 2, true), (0x45, 4, 3, false),
        ]
        for (code, number, constant, isTaken) in cases {
            var filter = FilterBuilder()
            filter.load(0)
            filter.add(code, constant, yes: 1, no: 0)
            filter.give(FilterBuilder.kill)
            filter.give(FilterBuilder.allow)
            let wanted: FilterAnswer = isTaken ? .allowed : .killed
            #expect(answer(filter, FilterQuestion(number: number)) == wanted, "\(code) \(number)")
        }
        var always = FilterBuilder()
        always.add(0x05, 1)
        always.give(FilterBuilder.kill)
        always.give(FilterBuilder.allow)
        #expect(answer(always, FilterQuestion(number: 0)) == .allowed)
    }

    @Test("masking keeps the masked bits alone")
    func mask() {
        var filter = FilterBuilder()
        filter.load(0)
        filter.add(0x54, 0xf0)
        filter.ifEqual(0x30, give: FilterBuilder.allow)
        filter.give(FilterBuilder.kill)
        #expect(answer(filter, FilterQuestion(number: 0x3f)) == .allowed)
        #expect(answer(filter, FilterQuestion(number: 0x4f)) == .killed)
    }

    @Test("a program that is malformed, ends early or jumps out never allows and never refuses")
    func malformed() {
        var endless = FilterBuilder()
        endless.load(0)
        var outside = FilterBuilder()
        outside.add(0x05, 9)
        outside.give(FilterBuilder.allow)
        var unknown = FilterBuilder()
        unknown.add(0x1c, 0)
        unknown.give(FilterBuilder.allow)
        var misaligned = FilterBuilder()
        misaligned.load(18)
        misaligned.give(FilterBuilder.allow)
        for filter in [FilterBuilder(), endless, outside, unknown, misaligned] {
            #expect(answer(filter, FilterQuestion(number: 0)) == .other)
        }
        let odd = SeccompProgram(bytes: [6, 0, 0, 0, 0, 0, 0xff])
        #expect(FilterEvaluator(odd).answer(FilterQuestion(number: 0)).answer == .other)
    }

    @Test("it says whether an argument was looked at on the way")
    func looks() {
        let evaluator = FilterEvaluator(
            FilterBuilder.filter { $0.compared = [(16, 1, 0x5401, false)] }
        )
        #expect(evaluator.answer(FilterQuestion(number: 0)).readsArguments == false)
        #expect(evaluator.answer(FilterQuestion(number: 16)).readsArguments)
    }

    @Test("any bytes get an answer")
    func anything() {
        var generator = SeededGenerator(seed: 0x0f11)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...80, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let evaluator = FilterEvaluator(SeccompProgram(bytes: bytes))
            _ = evaluator.answer(FilterQuestion(number: 0, arguments: [1, 2, 3]))
        }
    }
}
