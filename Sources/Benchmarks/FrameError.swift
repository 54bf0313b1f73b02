public import StrictJSON

/// Why a frame was refused.
public enum FrameError: Error, Sendable, Equatable {
    /// The length prefix announces more than a frame may have.
    case tooLong(length: Int, limit: Int)
    /// The length prefix announces nothing.
    case empty
    /// The sender has sent more bytes than a session may cost.
    case tooManyBytes(limit: Int)
    /// The sender has sent more frames than a session may cost.
    case tooManyFrames(limit: Int)
    /// The stream ended inside a frame.
    case endedInside
    /// The payload is no strict JSON, or a member is missing, unknown or of another kind.
    case json(JSONError)
    /// The payload is of a type that this sender may not send.
    case unknownType
    /// A member has the right kind and a value outside its rule.
    case badMember(location: String, rule: String)
}

extension FrameError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .tooLong(let length, let limit):
            "read frame: length prefix: \(length) bytes, \(limit) allowed; remedy: send less in"
                + " one frame"
        case .empty:
            "read frame: length prefix: 0 bytes; remedy: send one JSON object a frame"
        case .tooManyBytes(let limit):
            "read frame: stream: more than \(limit) bytes in one session; remedy: send less"
        case .tooManyFrames(let limit):
            "read frame: stream: more than \(limit) frames in one session; remedy: send fewer"
        case .endedInside:
            "read frame: stream: it ended inside a frame; remedy: write whole frames before closing"
        case .json(let error):
            "read frame: \(error)"
        case .unknownType:
            "read frame: type: not one that this sender may send; remedy: see the frame reference"
        case .badMember(let location, let rule):
            "read frame: \(location): it must be \(rule); remedy: correct the value"
        }
    }
}
