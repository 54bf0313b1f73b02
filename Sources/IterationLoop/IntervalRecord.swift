internal import GateStatistics
internal import StrictJSON

/// A 95 % interval that a row holds.
public struct IntervalRecord: Sendable, Equatable {
    /// The lower end.
    public let lower: Double
    /// The upper end.
    public let upper: Double

    init(_ interval: ClusteredInterval) {
        lower = interval.lower
        upper = interval.upper
    }

    init?(from reader: inout BodyReader, _ name: String) throws(LoopError) {
        guard var found = try reader.optionalObject(name) else { return nil }
        lower = try found.number("lower")
        upper = try found.number("upper")
        try found.finish()
    }

    var body: JSONValue { ["lower": .number(lower), "upper": .number(upper)] }
}
