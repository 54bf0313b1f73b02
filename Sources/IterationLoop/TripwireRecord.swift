public import ExamResults
internal import StrictJSON
public import Workspace

/// The body of a `tripwire` row: a wire that no honest work touches was touched.
///
/// It voids the candidate that it names; without one, the candidate that is being judged, or the next
/// one that is submitted.
public struct TripwireRecord: Sendable, Equatable, RowBody {
    static let kind = "tripwire"

    /// Which kind of wire.
    public var wire: Tripwire.Kind
    /// Where it was touched.
    public var place: String
    /// What shows it; neither a secret string nor the id of a sealed task.
    public var evidence: String
    /// The iteration.
    public var iteration: Int
    /// The candidate, where one is known.
    public var digest: CandidateDigest?

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - tripwire: the wire and what touched it.
    ///   - iteration: the iteration.
    ///   - digest: the candidate, where one is known.
    public init(_ tripwire: Tripwire, iteration: Int, digest: CandidateDigest?) {
        wire = tripwire.kind
        place = tripwire.place
        evidence = tripwire.evidence
        self.iteration = iteration
        self.digest = digest
    }

    /// The record in one line.
    public var words: String { Tripwire(wire, in: place, evidence: evidence).words }

    init(from reader: inout BodyReader) throws(LoopError) {
        wire = try reader.word("wire", Tripwire.Kind.self)
        place = try reader.string("place")
        evidence = try reader.string("evidence")
        iteration = try reader.integer("iteration")
        digest = try reader.optionalDigest("digest")
        _ = try reader.string("reason")
    }

    func write(to writer: inout BodyWriter) {
        writer.add("wire", wire.rawValue)
        writer.add("place", place)
        writer.add("evidence", evidence)
        writer.add("iteration", iteration)
        writer.add("digest", digest)
        // What people read, in one sentence, where every alarm has it.
        writer.add("reason", words)
    }
}

/// How much better train tasks went than their renamed twins.
public struct TwinGap: Sendable, Equatable {
    /// The difference of the mean rewards, from -1 to 1.
    public var gap: Double
    /// How many pairs it is of.
    public var pairs: Int

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - gap: the difference of the mean rewards.
    ///   - pairs: how many pairs it is of.
    public init(gap: Double, pairs: Int) {
        self.gap = gap
        self.pairs = pairs
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        gap = try reader.number("gap")
        pairs = try reader.integer("pairs")
        try reader.finish()
    }

    var body: JSONValue { ["gap": .number(gap), "pairs": JSONValue(pairs)] }
}

extension LoopMachine {
    /// Keeps that a tripwire fired; the candidate is void from here on.
    mutating func note(_ record: TripwireRecord) throws(LoopError) {
        switch current {
        case .idle, .ended: throw unexpected(.tripped(record))
        case .editing, .copying, .training, .judging: try self.record(.tripwire(record))
        }
    }
}
