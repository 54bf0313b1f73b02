// Finds every answer that a system-call filter can give, whatever a process asks.
//
// Only the forms are read that `SeccompCompiler` emits; any other refuses the program. Because of them
// the walk misses nothing:
// 1. the first two instructions kill every architecture but x86-64, and nothing reads it again;
// 2. numbers are only compared with constants, so one number stands for all between two constants;
// 3. arguments are only masked and compared for equality in their low halves, so what a way through
//    the program has found out is a set of known bits. Where those leave a comparison open, both ways
//    are walked. What an argument is *not* is forgotten, which can only add ways.

internal import CLinux

/// What is known of an argument's low 32 bits: those of `mask` are those of `value`.
public typealias KnownBits = (mask: UInt32, value: UInt32)

/// The walk through one program.
struct FilterWalk {
    enum Answer: Equatable {
        case allowed
        case refused(errno: UInt32)
        case killed
        // Left to the listener, which init alone ever holds: EPERM, or ENOSYS where nobody listens.
        case told
        case other

        // Return values of seccomp(2); traps, traces, logs and errno 0 are `other`.
        init(_ value: UInt32) {
            switch (value & 0xffff_0000, value & 0xffff) {
            case (0x7fff_0000, _): self = .allowed
            case (0x0005_0000, 1...4095): self = .refused(errno: value & 0xffff)
            case (0x8000_0000, _): self = .killed
            case (0x7fc0_0000, 0): self = .told
            default: self = .other
            }
        }
    }

    // What the accumulator holds: the number, an argument's upper half, or bits of its lower half.
    private enum Loaded {
        case number, high
        case low(argument: Int, mask: UInt32)
    }

    private typealias Instruction = (code: UInt16, whenTrue: Int, whenFalse: Int, constant: UInt32)
    private typealias Way = (at: Int, loaded: Loaded, known: [KnownBits])

    private let instructions: [Instruction]
    private let start: Int
    // A shipped filter takes a fiftieth; a program of which the proof takes longer is refused.
    private var stepsLeft = 1 << 20

    /// Decodes a program and checks that it kills every architecture but x86-64.
    init(_ program: SeccompProgram) throws(PlanError) {
        let bytes = program.bytes
        guard (1...4096).contains(program.count), bytes.count % 8 == 0 else {
            throw Self.refusal("length", "\(bytes.count) bytes are not 1 to 4096 instructions")
        }
        instructions = stride(from: 0, to: bytes.count, by: 8).map { at in
            let constant = bytes[at + 4..<at + 8].reversed().reduce(UInt32(0)) {
                $0 << 8 | UInt32($1)
            }
            let code = UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8
            return (code, Int(bytes[at + 2]), Int(bytes[at + 3]), constant)
        }
        let first = instructions.prefix(2)
        guard first.map(\.code) == [0x20, 0x15], first.map(\.constant) == [4, 0xc000_003e],
            case let otherwise = 2 + instructions[1].whenFalse, otherwise < instructions.count,
            instructions[otherwise].code == 0x06,
            Answer(instructions[otherwise].constant) == .killed
        else {
            throw Self.refusal("architecture", "it does not begin by killing every foreign one")
        }
        start = 2 + instructions[1].whenTrue
    }

    /// What numbers are compared with; between two neighbours all numbers are answered alike.
    var constants: [UInt32] { instructions.map(\.constant) }

    /// Every answer to calls of one number, with what is known of the arguments when it is given.
    mutating func answers(
        to number: UInt32
    ) throws(PlanError) -> [(answer: Answer, known: [KnownBits])] {
        var found: [(answer: Answer, known: [KnownBits])] = []
        let unknown = [KnownBits](repeating: (0, 0), count: 6)
        var ways: [Way] = [(start, .high, unknown)]
        while var way = ways.popLast() {
            guard stepsLeft > 0, way.at < instructions.count else {
                throw Self.refusal("instruction \(way.at)", "no proof ends here")
            }
            stepsLeft -= 1
            let step = instructions[way.at]
            way.at += 1
            switch (step.code, way.loaded) {
            case (0x06, _):  // BPF_RET | BPF_K
                found.append((Answer(step.constant), way.known))
                continue
            case (0x20, _) where Self.word(at: step.constant) != nil:  // BPF_LD | BPF_W | BPF_ABS
                way.loaded = Self.word(at: step.constant) ?? .high
            case (0x54, .low(let argument, let mask)):  // BPF_ALU | BPF_AND | BPF_K
                way.loaded = .low(argument: argument, mask: mask & step.constant)
            case (0x54, .high) where step.constant == 0:
                way.loaded = .low(argument: 0, mask: 0)
            case (0x05, _): way.at += Int(step.constant)  // BPF_JMP | BPF_JA
            case (0x15, .number):  // BPF_JMP | BPF_JEQ | BPF_K
                way.at += number == step.constant ? step.whenTrue : step.whenFalse
            case (0x25, .number):  // BPF_JMP | BPF_JGT | BPF_K
                way.at += number > step.constant ? step.whenTrue : step.whenFalse
            case (0x35, .number):  // BPF_JMP | BPF_JGE | BPF_K
                way.at += number >= step.constant ? step.whenTrue : step.whenFalse
            case (0x15, .low(let argument, let mask)):
                let isEqual = Self.equal(way.known[argument], step.constant, under: mask)
                if isEqual != true { ways.append((way.at + step.whenFalse, way.loaded, way.known)) }
                guard isEqual != false else { continue }
                way.known[argument].mask |= mask
                way.known[argument].value |= step.constant
                way.at += step.whenTrue
            default:
                throw Self.refusal("instruction \(way.at - 1)", "no compiled filter has this form")
            }
            ways.append(way)
        }
        return found
    }

    // Whether the bits of a mask equal a constant; nil when that is open.
    private static func equal(_ known: KnownBits, _ constant: UInt32, under mask: UInt32) -> Bool? {
        if constant & ~mask != 0 || (known.value ^ constant) & known.mask & mask != 0 {
            return false
        }
        return mask & ~known.mask == 0 ? true : nil
    }

    private static func word(at offset: UInt32) -> Loaded? {
        switch offset {
        case 0: .number
        case 16..<64 where offset % 8 == 0: .low(argument: Int(offset) / 8 - 2, mask: .max)
        case 16..<64 where offset % 8 == 4: .high
        default: nil
        }
    }

    static func refusal(_ location: String, _ reason: String) -> PlanError {
        PlanInvariants.refusal(
            "filter, \(location)",
            reason,
            "compile the filter from the shipped syscall groups"
        )
    }
}
