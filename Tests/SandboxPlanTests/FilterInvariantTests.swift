import Foundation
import SandboxPlan
import TestSupport
import Testing

@Suite("FilterInvariants")
struct FilterInvariantTests {
    /// A program that a taken-over supervisor could send, and the place that the refusal names.
    struct Hostile: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let location: String
        let program: SeccompProgram
        /// A call that it lets through; nil for a form that is refused unread.
        let opens: FilterQuestion?

        init(
            _ what: String,
            _ location: String,
            opens: FilterQuestion? = nil,
            _ fill: (inout FilterBuilder) -> Void
        ) {
            testDescription = what
            self.location = location
            self.opens = opens
            program = FilterBuilder.filter { fill(&$0.prelude) }
        }
    }

    /// Each of these answers every sample of a finite list as it should.
    static let openings: [Hostile] = [
        Hostile(
            "vsock of a type that nobody asks for",
            "filter, socket",
            opens: FilterQuestion(number: 41, arguments: [40, 0x80001])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 41, no: 3)
            filter.load(24)
            filter.add(0x15, 1, yes: 1)
            filter.give(FilterBuilder.allow)
        },
        Hostile(
            "TIOCSTI on standard output",
            "filter, ioctl",
            opens: FilterQuestion(number: 16, arguments: [1, 0x5412])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 16, no: 3)
            filter.load(16)
            filter.add(0x15, 0, yes: 1)
            filter.give(FilterBuilder.allow)
        },
        Hostile(
            "two namespaces at once",
            "filter, clone",
            opens: FilterQuestion(number: 56, arguments: [0x1002_0011])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 56, no: 3)
            filter.load(16)
            filter.add(0x15, 0x1002_0011, no: 1)
            filter.give(FilterBuilder.allow)
        },
        Hostile(
            "a socket option of another descriptor",
            "filter, getsockopt",
            opens: FilterQuestion(number: 55, arguments: [4, 1, 57])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 55, no: 3)
            filter.load(16)
            filter.add(0x15, 3, yes: 1)
            filter.give(FilterBuilder.allow)
        },
        Hostile(
            "an unknown number between two samples",
            "filter, default",
            opens: FilterQuestion(number: 777)
        ) { filter in
            filter.load(0)
            filter.ifEqual(777, give: FilterBuilder.allow)
        },
        Hostile(
            "a refused call with one argument",
            "filter, add_key",
            opens: FilterQuestion(number: 248, arguments: [0, 0, 0, 0, 9])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 248, no: 3)
            filter.load(48)
            filter.add(0x15, 9, no: 1)
            filter.give(FilterBuilder.allow)
        },
        Hostile(
            "clone3 with one argument",
            "filter, clone3",
            opens: FilterQuestion(number: 435, arguments: [7])
        ) { filter in
            filter.load(0)
            filter.add(0x15, 435, no: 3)
            filter.load(16)
            filter.add(0x15, 7, no: 1)
            filter.give(FilterBuilder.allow)
        },
    ]

    @Test("what a sample misses is found: the filter opens it, and is refused", arguments: openings)
    func opened(_ hostile: Hostile) throws {
        let question = try #require(hostile.opens)
        #expect(FilterEvaluator(hostile.program).answer(question).answer == .allowed)
        let error = #expect(throws: PlanError.self) { try FilterInvariants.check(hostile.program) }
        #expect(error?.location == hostile.location, "\(String(describing: error))")
    }

    static let forms: [Hostile] = [
        Hostile("the instruction pointer decides", "filter, instruction") { filter in
            filter.load(8)
            filter.ifEqual(0x1000, give: FilterBuilder.allow)
        },
        Hostile("the architecture is asked again", "filter, instruction") { filter in
            filter.load(4)
            filter.ifEqual(FilterQuestion.i386, give: FilterBuilder.allow)
        },
        Hostile("an argument's upper half decides", "filter, instruction") { filter in
            filter.load(20)
            filter.ifEqual(0, give: FilterBuilder.refuse(1))
        },
        Hostile("some bits of an upper half decide", "filter, instruction") { filter in
            filter.load(20)
            filter.add(0x54, 1)
            filter.ifEqual(0, give: FilterBuilder.refuse(1))
        },
        Hostile("a number is masked", "filter, instruction") { filter in
            filter.load(0)
            filter.add(0x54, 0xff)
            filter.ifEqual(41, give: FilterBuilder.refuse(1))
        },
        Hostile("an argument is compared by size", "filter, instruction") { filter in
            filter.load(16)
            filter.ifAtLeast(5, give: FilterBuilder.refuse(1))
        },
        Hostile("an argument is tested by bits", "filter, instruction") { filter in
            filter.load(16)
            filter.add(0x45, 1)
        },
        Hostile("a number is computed with", "filter, instruction") { filter in
            filter.load(0)
            filter.add(0x04, 1)
        },
        Hostile("scratch memory is used", "filter, instruction") { filter in
            filter.load(0)
            filter.add(0x02, 0)
        },
        Hostile("a jump leads out of the program", "filter, instruction") { $0.add(0x05, .max) },
        Hostile("a load is misaligned", "filter, instruction") { filter in
            filter.load(18)
            filter.ifEqual(0, give: FilterBuilder.refuse(1))
        },
        Hostile("a listed call is logged", "filter, default") { filter in
            filter.load(0)
            filter.ifEqual(0, give: FilterBuilder.log)
        },
        Hostile("the proof takes too long", "filter, instruction") { filter in
            for argument: UInt32 in 0..<6 {
                for bit: UInt32 in 0..<32 {
                    filter.load(16 + 8 * argument)
                    filter.add(0x54, 1 << bit)
                    filter.add(0x15, 1 << bit)
                }
            }
        },
    ]

    @Test("a form that the compiler does not emit is refused, harmless or not", arguments: forms)
    func form(_ hostile: Hostile) {
        let error = #expect(throws: PlanError.self) { try FilterInvariants.check(hostile.program) }
        #expect(error?.location.hasPrefix(hostile.location) == true, "\(String(describing: error))")
    }

    @Test("a program that looks at anything before the architecture is refused")
    func architectureFirst() throws {
        var numberFirst = FilterBuilder()
        numberFirst.load(0)
        numberFirst.ifEqual(0, give: FilterBuilder.allow)
        // The report's program: 32-bit calls but for nine samples go through.
        var samples = FilterBuilder()
        samples.load(4)
        samples.add(0x15, FilterQuestion.i386, no: 3)
        samples.load(0)
        samples.ifEqual(248, give: FilterBuilder.allow)
        for hostile in [numberFirst, samples] {
            let program = SeccompProgram(bytes: hostile.bytes + FilterBuilder.filter().bytes)
            let error = #expect(throws: PlanError.self) { try FilterInvariants.check(program) }
            #expect(error?.location == "filter, architecture")
        }
        try FilterInvariants.check(FilterBuilder.filter())
    }

    @Test("any bytes get an answer")
    func anything() {
        var generator = SeededGenerator(seed: 0x0f12)
        for _ in 0..<2000 {
            let count = 8 * Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let program = SeccompProgram(
                bytes: Array(FilterBuilder.filter().bytes.prefix(24)) + bytes
            )
            #expect(throws: PlanError.self) { try FilterInvariants.check(program) }
        }
    }

    @Test("the numbers of refused calls are those of the kernel's header")
    func numbers() throws {
        let header = try String(
            contentsOfFile: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
            encoding: .utf8
        )
        var known: [Substring: UInt32] = [:]
        for line in header.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, words[1].hasPrefix("__NR_") else { continue }
            known[words[1].dropFirst(5)] = UInt32(words[2])
        }
        var compared = 0
        for call in RefusedCalls.all {
            guard let number = known[Substring(call.name)] else { continue }
            #expect(call.number == number, "\(call.name)")
            compared += 1
        }
        for rule in ArgumentRule.all { #expect(known[Substring(rule.call)] == rule.number) }
        #expect(compared > 75)
        #expect(Set(RefusedCalls.all.map(\.number)).count == RefusedCalls.all.count)
    }
}
