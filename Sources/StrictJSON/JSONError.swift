/// Why a JSON text or one of its members was refused.
public enum JSONError: Error, Sendable, Equatable {
    /// The text breaks RFC 8259 or one of the stricter rules; `offset` counts bytes from 0.
    case malformed(offset: Int, fault: SyntaxFault)
    /// The text is larger than allowed; `offset` is where the limit was met.
    case limitExceeded(offset: Int, limit: Limit, value: Int)
    /// The text is JSON, but a member is not what its place demands.
    case member(location: String, fault: MemberFault)

    /// What was wrong with the text itself.
    public enum SyntaxFault: String, Sendable, Equatable {
        /// The text ends inside a value.
        case ended = "the text ends inside a value"
        /// A byte that no value may have here.
        case unexpectedByte = "a byte that is not allowed here"
        /// Bytes after the value.
        case trailingBytes = "bytes follow the value"
        /// A number outside the grammar, such as `01`, `+1`, `1.` or `NaN`.
        case number = "a number outside the grammar of RFC 8259"
        /// A number that no 64-bit float or integer holds without loss of its magnitude.
        case numberRange = "a number that cannot be represented"
        /// A control character inside a string.
        case controlCharacter = "an unescaped control character in a string"
        /// An escape outside the grammar.
        case escape = "an escape outside the grammar of RFC 8259"
        /// Half of a surrogate pair.
        case loneSurrogate = "half of a surrogate pair"
        /// Bytes that are no UTF-8.
        case encoding = "bytes that are not UTF-8"
        /// A member name that occurs twice, or twice up to canonical equivalence.
        case duplicateName = "a member name that occurs twice"
    }

    /// The limits that a text can exceed; see ``JSONLimits``.
    public enum Limit: String, Sendable, Equatable {
        /// ``JSONLimits/maximumBytes``
        case bytes
        /// ``JSONLimits/maximumDepth``
        case depth
        /// ``JSONLimits/maximumNodes``
        case nodes
        /// ``JSONLimits/maximumStringBytes``
        case stringBytes = "bytes in one string"
    }

    /// What was wrong with one member.
    public enum MemberFault: Sendable, Equatable {
        /// The member is absent.
        case missing
        /// The member is known to nobody; unknown members are refused, not skipped.
        case unknown
        /// The member has another kind than its place demands.
        case kind(expected: String, found: String)
    }
}

extension JSONError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .malformed(let offset, let fault):
            "read JSON: at byte \(offset): \(fault.rawValue); remedy: have the writer emit strict"
                + " RFC 8259 with unique member names"
        case .limitExceeded(let offset, let limit, let value):
            "read JSON: at byte \(offset): more than \(value) \(limit.rawValue); remedy: have the"
                + " writer send less"
        case .member(let location, .missing):
            "read JSON: \(location): the member is missing; remedy: add it"
        case .member(let location, .unknown):
            "read JSON: \(location): no such member is known here; remedy: remove it or correct"
                + " its name"
        case .member(let location, .kind(let expected, let found)):
            "read JSON: \(location): found \(found) in place of \(expected); remedy: correct the"
                + " value"
        }
    }
}
