/// Lines that invigilator-probe prints.
///
/// They come out of a sandbox: a line that is not of the known form is no answer, and a probe without an
/// answer is judged as broken.
public struct ProbeOutput: Sendable, Equatable {
    /// Answers by the program's word.
    public private(set) var answers: [String: Answer] = [:]
    /// Settings that the victims announced.
    public private(set) var settings: [String: String] = [:]
    /// What a receiver got at once; absent where it could read nothing.
    public private(set) var received: [UInt8]?
    /// What a receiver read of a counter, in order.
    public private(set) var numbers: [Int] = []
    /// Whether the program came to its end.
    public private(set) var isComplete = false

    /// Reads what was printed.
    public init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: 10) {
            let fields = line.split(separator: 9, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            switch fields.first {
            case "answer" where fields.count == 5:
                answers[fields[1]] = Self.answer(fields[2], fields[3], fields[4])
            case "setting" where fields.count == 3: settings[fields[1]] = fields[2]
            case "bits" where fields.count == 3: received = Self.bytes(ofHex: fields[2])
            case "number" where fields.count == 3: numbers += [Int(fields[2])].compactMap(\.self)
            case "end" where fields.count == 1: isComplete = true
            default: break
            }
        }
    }

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x61 + 10
            default: nil
            }
        }
        guard digits.count == PairChannel.bitsAtOnce / 4, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    private static func answer(_ verdict: String, _ value: String, _ detail: String) -> Answer {
        switch verdict {
        case "works": .works
        case "errno": .refused(value)
        case "signal": .killed(value)
        case "absent": .absent
        case "lacks": .lacking(value)
        case "timeout": .timedOut
        default: .broken(detail.isEmpty ? verdict : detail)
        }
    }
}
