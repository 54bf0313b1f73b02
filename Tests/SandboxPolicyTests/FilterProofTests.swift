import SandboxPlan
import SandboxPolicy
import TestSupport
import Testing

@Suite("The proof of the shipped filters")
struct FilterProofTests {
    private static let programs: [SeccompProgram] = {
        do {
            let library = try PolicyLibrary(directory: policyDirectory)
            let resolver = PolicyResolver(groups: library.groups, context: plainContext())
            return try library.policyNames.map { name in
                try resolver.resolve(try library.policy(named: name)).plan.filter
            }
        } catch { fatalError("the shipped policies resolve: \(error)") }
    }()

    @Test("what passes the proof opens nothing, however the filter was changed", arguments: 0..<40)
    func mutations(seed: UInt64) {
        var generator = SeededGenerator(seed: 0xbadf00d + seed)
        var passed = 0
        for _ in 0..<30 {
            let program = Self.mutated(&generator)
            do throws(PlanError) { try FilterInvariants.check(program) } catch { continue }
            passed += 1
            let evaluator = FilterEvaluator(program)
            for question in Self.questions(program, &generator) {
                let answer = evaluator.answer(question).answer
                #expect(Self.isRight(answer, question), "seed \(seed): \(question) is \(answer)")
            }
        }
        #expect(passed > 0, "no changed filter passed: nothing was tried")
    }

    @Test("the questions find what a filter opens: the instrument works")
    func instrument() {
        var generator = SeededGenerator(seed: 4)
        var found = 0
        for _ in 0..<400 {
            let program = Self.mutated(&generator)
            let evaluator = FilterEvaluator(program)
            let opens = Self.questions(program, &generator).contains { question in
                !Self.isRight(evaluator.answer(question).answer, question)
            }
            guard opens else { continue }
            found += 1
            #expect(throws: PlanError.self) { try FilterInvariants.check(program) }
        }
        #expect(found > 20, "\(found)")
    }

    // MARK: - changes

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        (4..<8).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[8 * index + $1]) }
    }

    private static func mutated(_ generator: inout SeededGenerator) -> SeccompProgram {
        var bytes = programs.randomElement(using: &generator)?.bytes ?? []
        let count = bytes.count / 8
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 1..<count, using: &generator)
            var constant = word(bytes, at)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: constant &+= 1
            case 1: constant ^= 1 << UInt32.random(in: 0..<32, using: &generator)
            case 2: constant = word(bytes, Int.random(in: 0..<count, using: &generator))
            case 3: bytes[8 * at + 2] = UInt8.random(in: 0...40, using: &generator)
            case 4: bytes[8 * at + 3] = UInt8.random(in: 0...40, using: &generator)
            case 5: bytes.swapAt(8 * at + 2, 8 * at + 3)
            case 6:
                bytes[8 * at] =
                    [0x20, 0x54, 0x15, 0x25, 0x35, 0x45, 0x05, 0x06]
                    .randomElement(using: &generator) ?? 0
            default:
                constant =
                    [
                        0, .max, 0x7fff_0000, 0x7fc0_0000, 0x0005_0001, 0x8000_0000, 16, 20, 24, 32,
                    ]
                    .randomElement(using: &generator) ?? 0
            }
            for byte in 0..<4 {
                bytes[8 * at + 4 + byte] = UInt8(truncatingIfNeeded: constant >> (8 * byte))
            }
        }
        return SeccompProgram(bytes: bytes)
    }

    // MARK: - questions

    private static func questions(
        _ program: SeccompProgram,
        _ generator: inout SeededGenerator
    ) -> [FilterQuestion] {
        let constants = (0..<program.count).map { word(program.bytes, $0) }
        func pick(_ generator: inout SeededGenerator) -> UInt32 {
            let known = constants.randomElement(using: &generator) ?? 0
            return switch Int.random(in: 0..<5, using: &generator) {
            case 0: UInt32.random(in: 0...20, using: &generator)
            case 1: UInt32.random(in: 0...(.max), using: &generator)
            case 2: known &+ 1
            default: known
            }
        }
        let ruled = ArgumentRule.all.map(\.number)
        let numbers =
            (0..<480).map { $0 } + RefusedCalls.all.map(\.number) + [.max, 0x4000_0000, 512, 1023]
            + (0..<20).flatMap { _ in ruled }
        let dangerous: [UInt32] = [
            40, 16, 3, 22, 0x5412, 0x541c, 0x1000_0011, 0x1011, 57, 77, 76, 26, 31, 0x6000, 0x2000,
            0x1012, 1, 6, 21,
        ]
        return numbers.map { number in
            var question = FilterQuestion(number: number)
            if Int.random(in: 0..<20, using: &generator) == 0 { question.number = pick(&generator) }
            if Int.random(in: 0..<20, using: &generator) == 0 {
                question.architecture =
                    [FilterQuestion.i386, 0, .max, pick(&generator)]
                    .randomElement(using: &generator) ?? 0
            }
            question.arguments = (0..<6).map { _ in
                let isDangerous = Bool.random(using: &generator)
                let low = isDangerous ? dangerous.randomElement(using: &generator) : nil
                let high = Bool.random(using: &generator) ? 0 : pick(&generator)
                return UInt64(low ?? pick(&generator)) | UInt64(high) << 32
            }
            return question
        }
    }

    // What every filter must answer, said once more and for one question.
    private static func isRight(_ answer: FilterAnswer, _ question: FilterQuestion) -> Bool {
        if question.architecture != FilterQuestion.x86_64 { return answer == .killed }
        let number = question.number
        if number >= FilterQuestion.x32Bit && number != .max { return answer == .killed }
        if number == 435 { return answer == .refused(errno: 38) }
        guard answer == .allowed else { return answer.isRefusal }
        let isKnown = number < 335 || (424...470).contains(number)
        guard isKnown, !RefusedCalls.all.contains(where: { $0.number == number }) else {
            return false
        }
        let low = question.arguments.map { UInt32(truncatingIfNeeded: $0) }
        return switch number {
        case 41: [1, 2, 10, 16].contains(low[0])
        case 53: low[0] == 1
        case 16: ![0x5412, 0x541c, 0x541d, 0x5423, 0x5437, 1, 0xc020_660b].contains(low[1])
        case 56: low[0] & 0x7e02_1000 == 0
        case 157: ![8, 22, 24, 28, 33, 35, 47, 57, 59, 62, 0x5961_6d61].contains(low[0])
        case 135: [0, .max].contains(low[0])
        case 158: low[0] != 0x1012
        case 133: [0x1000, 0x8000].contains(low[1] & 0xf000)
        case 259: [0x1000, 0x8000].contains(low[2] & 0xf000)
        case 28: ![3, 9, 12, 100, 101, 20, 21, 22, 23].contains(low[2])
        case 55: low[1] != 1 || ![55, 57, 71, 77].contains(low[2])
        case 54:
            !(low[1] == 1 && [26, 50, 51, 52, 76].contains(low[2]))
                && !(low[1] == 6 && low[2] == 31)
        default: true
        }
    }
}
