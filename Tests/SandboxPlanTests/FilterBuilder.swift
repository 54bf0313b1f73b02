import SandboxPlan
import TestSupport

/// Classic BPF by hand (seccomp(2)), so that filters are judged that no compiler of ours would make.
struct FilterBuilder {
    private(set) var bytes: [UInt8] = []

    var program: SeccompProgram { SeccompProgram(bytes: bytes) }

    mutating func add(_ code: UInt16, _ constant: UInt32, yes: UInt8 = 0, no: UInt8 = 0) {
        bytes += [UInt8(code & 255), UInt8(code >> 8), yes, no]
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(constant >> shift & 255)) }
    }

    mutating func load(_ offset: UInt32) { add(0x20, offset) }
    mutating func give(_ answer: UInt32) { add(0x06, answer) }
    mutating func ifEqual(_ constant: UInt32, give answer: UInt32) {
        add(0x15, constant, yes: 0, no: 1)
        give(answer)
    }
    mutating func ifAtLeast(_ constant: UInt32, give answer: UInt32) {
        add(0x35, constant, yes: 0, no: 1)
        give(answer)
    }

    static let allow: UInt32 = 0x7fff_0000
    static let kill: UInt32 = 0x8000_0000
    static let log: UInt32 = 0x7ffc_0000
    static func refuse(_ errno: UInt32) -> UInt32 { 0x0005_0000 | errno }

    /// What varies from one filter of these tests to the next; as it is, every invariant holds.
    struct Choices {
        var foreign = FilterBuilder.kill
        var x32 = FilterBuilder.kill
        var otherwise = FilterBuilder.refuse(1)
        var clone3 = FilterBuilder.refuse(38)
        var allowed: [UInt32] = [0, 1, 231]
        /// Left to the listener.
        var told: [UInt32] = []
        /// What stands before every rule.
        var prelude = FilterBuilder()
        /// Calls with an argument of which the low word must equal a constant, or the whole.
        var compared: [(call: UInt32, argument: UInt32, value: UInt32, alsoHigh: Bool)] = []
        /// Calls allowed unless an argument is one of these; with `alsoHigh` compared as 64 bits.
        var excepted: [(call: UInt32, argument: UInt32, values: [UInt32], alsoHigh: Bool)] = []
    }

    static func filter(_ change: (inout Choices) -> Void = { _ in }) -> SeccompProgram {
        var choices = Choices()
        change(&choices)
        var filter = FilterBuilder()
        filter.load(4)
        filter.add(0x15, FilterQuestion.x86_64, yes: 1, no: 0)
        filter.give(choices.foreign)
        filter.load(0)
        filter.ifAtLeast(FilterQuestion.x32Bit, give: choices.x32)
        filter.bytes += choices.prelude.bytes
        filter.load(0)
        filter.ifEqual(435, give: choices.clone3)
        for call in choices.allowed { filter.ifEqual(call, give: allow) }
        for call in choices.told { filter.ifEqual(call, give: 0x7fc0_0000) }
        for rule in choices.compared {
            filter.addBlock(rule.call) { block in
                block.addCompare(rule.argument, rule.value, rule.alsoHigh, give: allow)
                block.give(choices.otherwise)
            }
        }
        for rule in choices.excepted {
            filter.addBlock(rule.call) { block in
                for value in rule.values {
                    block.addCompare(rule.argument, value, rule.alsoHigh, give: refuse(1))
                }
                block.give(allow)
            }
        }
        filter.give(choices.otherwise)
        return filter.program
    }

    private mutating func addBlock(_ call: UInt32, _ fill: (inout FilterBuilder) -> Void) {
        var block = FilterBuilder()
        fill(&block)
        load(0)
        add(0x15, call, yes: 1, no: 0)
        add(0x05, UInt32(block.bytes.count / 8))
        bytes += block.bytes
    }

    private mutating func addCompare(
        _ argument: UInt32,
        _ value: UInt32,
        _ alsoHigh: Bool,
        give answer: UInt32
    ) {
        load(16 + argument * 8)
        if alsoHigh {
            add(0x15, value, yes: 0, no: 3)
            load(20 + argument * 8)
            add(0x15, 0, yes: 0, no: 1)
        } else {
            add(0x15, value, yes: 0, no: 1)
        }
        give(answer)
    }
}
