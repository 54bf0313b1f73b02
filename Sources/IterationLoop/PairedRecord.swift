public import ExamResults
internal import Gate
internal import StrictJSON

/// The member `paired` of a decision: the figures that the test was made with.
public struct PairedRecord: Sendable, Equatable {
    /// The incumbent's mean in the same exam.
    public let incumbent: Score
    /// The p-value, from 0 to 1.
    public let pValue: Double
    /// The level of the test.
    public let level: Double

    /// Whether the test shows what it was made for.
    public var isShown: Bool { pValue <= level }

    init(_ finding: PairedFinding) {
        incumbent = finding.incumbent
        pValue = finding.pValue
        level = finding.level
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        incumbent = try reader.score("incumbent_mean", "incumbent_count")
        pValue = try reader.number("p")
        level = try reader.number("level")
        try reader.finish()
    }

    var body: JSONValue {
        var writer = BodyWriter()
        writer.add("incumbent_mean", "incumbent_count", incumbent)
        writer.add("p", .number(pValue))
        writer.add("level", .number(level))
        return writer.body
    }
}
