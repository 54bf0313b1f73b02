/// Why sealed outcomes cannot be kept or opened.
public enum RevealError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A key has another number of bytes.
    case badKey(count: Int)
    /// The outcomes could not be encrypted.
    case notSealed(exam: Int, reason: String)
    /// The bytes were not encrypted for this exam with this key, or were changed since.
    case notThisExam(exam: Int)
    /// The bytes were encrypted for this exam and are not spelled as outcomes are.
    case malformed(exam: Int, reason: String)

    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .badKey(let count):
            "read a reveal key: the key: it has \(count) bytes, not \(RevealKey.byteCount); name the"
                + " file that `invigilator ledger reveal` wrote"
        case .notSealed(let exam, let reason):
            "seal outcomes: exam \(exam): \(reason); report this"
        case .notThisExam(let exam):
            "open sealed outcomes: exam \(exam): they were not sealed for this exam with this key,"
                + " or were changed since; compare with another copy"
        case .malformed(let exam, let reason):
            "open sealed outcomes: exam \(exam): \(reason); report this"
        }
    }
}
