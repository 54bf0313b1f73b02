public import SandboxPolicy
internal import StrictJSON

/// What the channels beside the answers can have told the coding agent of sealed tasks: for each that the
/// policies and the host leave open a bound in bits, or that there is none.
public struct OpenChannels: Sendable, Equatable {
    /// Bits at the most, by channel.
    public private(set) var bits: [HostChannel: Double] = [:]
    /// The channels that nothing bounds.
    public private(set) var unbounded: Set<HostChannel>

    // The word of a channel that nothing bounds, where others have a number.
    private static let word = "unbounded"

    /// Makes the channels of an experiment.
    ///
    /// - Parameter unbounded: those that nothing bounds.
    public init(unbounded: [HostChannel] = []) {
        self.unbounded = Set(unbounded)
    }

    /// Charges a channel with bits, rounded up to hundredths; none charges nothing.
    public mutating func charge(_ channel: HostChannel, _ more: Double) {
        guard more > 0 else { return }
        bits[channel, default: 0] += ReleasedBits.hundredths(more)
    }

    /// All bounds together, in hundredths as each of them.
    var sum: Double { (bits.values.reduce(0, +) * 100).rounded() / 100 }

    init(from reader: inout BodyReader) throws(LoopError) {
        self.init()
        for channel in HostChannel.allCases where reader.contains(channel.rawValue) {
            let value = try reader.value(channel.rawValue)
            if value.stringValue == Self.word {
                unbounded.insert(channel)
            } else if let bound = value.numberValue, bound >= 0 {
                bits[channel] = bound
            } else {
                throw reader.refused("\(channel.rawValue) is neither bits nor \(Self.word)")
            }
        }
        try reader.finish()
    }

    var body: JSONValue {
        let bounds = bits.map { ($0.rawValue, JSONValue.number($1)) }
        let others = unbounded.map { ($0.rawValue, JSONValue.string(Self.word)) }
        return .object(Dictionary(bounds + others) { _, last in last })
    }
}
