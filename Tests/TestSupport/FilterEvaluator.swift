// A classic-BPF evaluator for seccomp programs: what a filter answers to one call, found by running
// it. `SandboxPlan.FilterInvariants` proves its answers another way, and is compared with this one.

public import SandboxPlan

/// One system call as a filter sees it (`struct seccomp_data`).
public struct FilterQuestion: Sendable, Equatable {
    /// The call's number.
    public var number: UInt32
    /// The audit architecture value.
    public var architecture: UInt32
    /// The first arguments, at most six; those that follow are zero.
    public var arguments: [UInt64]

    /// The audit value of x86-64 (`AUDIT_ARCH_X86_64`).
    public static let x86_64: UInt32 = 0xc000_003e
    /// The audit value of 32-bit x86 (`AUDIT_ARCH_I386`).
    public static let i386: UInt32 = 0x4000_0003
    /// The bit that marks an x32 call number.
    public static let x32Bit: UInt32 = 0x4000_0000

    /// Creates a question about a native call.
    public init(
        number: UInt32,
        architecture: UInt32 = FilterQuestion.x86_64,
        arguments: [UInt64] = []
    ) {
        self.number = number
        self.architecture = architecture
        self.arguments = arguments
    }

    fileprivate func word(at offset: UInt32) -> UInt32? {
        switch offset {
        case 0: return number
        case 4: return architecture
        case 16..<64 where offset % 4 == 0:
            let index = Int(offset - 16) / 8
            let argument = index < arguments.count ? arguments[index] : 0
            return UInt32(truncatingIfNeeded: offset % 8 == 0 ? argument : argument >> 32)
        default: return nil
        }
    }
}

/// What a filter answers to one question.
public enum FilterAnswer: Sendable, Equatable {
    /// The call runs.
    case allowed
    /// The call fails with this errno.
    case refused(errno: UInt16)
    /// The process is killed with SIGSYS.
    case killed
    /// The call waits until the listener refuses it: EPERM.
    case told
    /// Anything else: a trap, a trace, a log, or a malformed program.
    case other

    /// Whether the call cannot run.
    public var isRefusal: Bool {
        switch self {
        case .refused, .killed, .told: true
        case .allowed, .other: false
        }
    }
}

/// A filter decoded once, to be asked many questions.
public struct FilterEvaluator: Sendable {
    private struct Instruction: Sendable {
        let code: UInt16
        let whenTrue: Int
        let whenFalse: Int
        let constant: UInt32
    }

    private let instructions: [Instruction]

    /// Decodes a program; an odd length leaves it empty, and an empty program answers `other`.
    public init(_ program: SeccompProgram) {
        let bytes = program.bytes
        guard bytes.count % 8 == 0 else {
            instructions = []
            return
        }
        instructions = stride(from: 0, to: bytes.count, by: 8).map { at in
            let code = UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8
            let low = UInt32(bytes[at + 4]) | UInt32(bytes[at + 5]) << 8
            let high = UInt32(bytes[at + 6]) | UInt32(bytes[at + 7]) << 8
            return Instruction(
                code: code,
                whenTrue: Int(bytes[at + 2]),
                whenFalse: Int(bytes[at + 3]),
                constant: low | high << 16
            )
        }
    }

    /// Runs the program for one question.
    ///
    /// - Returns: the answer, and whether an argument was looked at on the way to it.
    public func answer(
        _ question: FilterQuestion
    ) -> (answer: FilterAnswer, readsArguments: Bool) {
        var accumulator: UInt32 = 0
        var readsArguments = false
        var at = 0
        while at < instructions.count {
            let step = instructions[at]
            at += 1
            switch step.code {
            case 0x20:  // BPF_LD | BPF_W | BPF_ABS
                guard let word = question.word(at: step.constant) else {
                    return (.other, readsArguments)
                }
                readsArguments = readsArguments || step.constant >= 16
                accumulator = word
            case 0x54: accumulator &= step.constant  // BPF_ALU | BPF_AND | BPF_K
            case 0x05: at += Int(step.constant)  // BPF_JMP | BPF_JA
            case 0x15: at += accumulator == step.constant ? step.whenTrue : step.whenFalse
            case 0x25: at += accumulator > step.constant ? step.whenTrue : step.whenFalse
            case 0x35: at += accumulator >= step.constant ? step.whenTrue : step.whenFalse
            case 0x45: at += accumulator & step.constant != 0 ? step.whenTrue : step.whenFalse
            case 0x06: return (Self.meaning(of: step.constant), readsArguments)  // BPF_RET | BPF_K
            default: return (.other, readsArguments)
            }
        }
        return (.other, readsArguments)
    }

    // Return values of seccomp(2): the upper half names the action, the lower half carries data.
    private static func meaning(of value: UInt32) -> FilterAnswer {
        switch value & 0xffff_0000 {
        case 0x7fff_0000: .allowed
        case 0x0005_0000: .refused(errno: UInt16(truncatingIfNeeded: value))
        case 0x8000_0000: .killed
        case 0x7fc0_0000: .told
        default: .other
        }
    }
}
