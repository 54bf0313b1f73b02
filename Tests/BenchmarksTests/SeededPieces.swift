import Benchmarks
import ExamResults
import StrictJSON
import TestSupport

extension SeededGenerator {
    /// The bytes in pieces of random sizes.
    mutating func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = 1 + below(min(rest.count, 40))
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}

func json(_ text: String) throws -> JSONValue {
    try JSONValue(parsing: Array(text.utf8), limits: .frame)
}

/// A frame with exactly this payload, valid or not.
func rawFrame(_ payload: String) -> [UInt8] {
    let bytes = Array(payload.utf8)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
}

/// The payloads of whole frames.
func payloads(_ bytes: [UInt8]) throws -> [JSONValue] {
    var decoder = FrameDecoder(limits: .examiner(sessions: 100))
    try decoder.append(bytes)
    var values: [JSONValue] = []
    while let value = try decoder.next() { values.append(value) }
    return values
}
