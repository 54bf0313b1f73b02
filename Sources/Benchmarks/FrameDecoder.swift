// Benchmarks: the frames between supervisor, candidate and examiner, and the state machines that relay them.

public import StrictJSON

/// What one sender may cost over a whole stream.
public struct FrameLimits: Sendable, Equatable {
    /// The largest payload, in bytes; the length prefix is not counted.
    public let frameBytes: Int
    /// The most bytes over the stream, prefixes included.
    public let totalBytes: Int
    /// The most frames over the stream.
    public let frames: Int
    /// What one payload may cost as JSON.
    public let json: JSONLimits

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - frameBytes: the largest payload, in bytes.
    ///   - totalBytes: the most bytes over the stream.
    ///   - frames: the most frames over the stream.
    ///   - json: what one payload may cost as JSON.
    public init(
        frameBytes: Int,
        totalBytes: Int,
        frames: Int,
        json: JSONLimits
    ) {
        self.frameBytes = frameBytes
        self.totalBytes = totalBytes
        self.frames = frames
        self.json = json
    }

    /// One candidate in one rollout: 1 MiB a frame, 16 MiB and 2,000 frames in all.
    public static let candidate = FrameLimits(
        frameBytes: 1 << 20,
        totalBytes: 16 << 20,
        frames: 2_000,
        json: .frame
    )

    /// The most bytes that a candidate may make an examiner say in one session, prefixes included.
    ///
    /// The frame that passes it ends the rollout as the candidate's own fault. A benchmark whose
    /// answers need more would have to raise it together with the memory of a train trace.
    public static let answerBytes = 16 << 20

    /// The most frames of an honest examiner in one session: `start`, the first turn, one answer to
    /// each of the candidate's frames but `ready`, and the `stop` that acknowledges `gone`.
    public static let answerFrames = candidate.frames - 1 + 3

    /// One examiner over an exam of so many sessions: more than all candidates together can make an
    /// honest one say, so that none of them can make it look dishonest and void the exam.
    ///
    /// Of one session that is ``answerFrames``, and in bytes ``answerBytes``, the frame that passes
    /// it, and a turn and a `stop` that may still follow.
    ///
    /// - Parameter sessions: the planned rollouts.
    /// - Returns: the limits.
    public static func examiner(sessions: Int) -> FrameLimits {
        let frame = 4 + candidate.frameBytes
        return FrameLimits(
            frameBytes: candidate.frameBytes,
            totalBytes: (answerBytes + 3 * frame) * max(sessions, 1) + frame,
            frames: answerFrames * max(sessions, 1) + 1,
            json: .frame
        )
    }

    /// The verdict channel of an exam of so many sessions: a little over one frame each.
    ///
    /// - Parameter sessions: the planned rollouts.
    /// - Returns: the limits.
    public static func verdicts(sessions: Int) -> FrameLimits {
        FrameLimits(
            frameBytes: 1 << 18,
            totalBytes: (1 << 18) * (max(sessions, 1) + 1),
            frames: max(sessions, 1) + 1,
            json: .frame
        )
    }
}

/// Cuts a byte stream into frames: a big-endian length of four bytes, then that many bytes of JSON.
///
/// The decoder holds at most one frame and what was appended after it. After the first error it
/// stays refused: a stream that broke once has no next frame.
public struct FrameDecoder: Sendable {
    private let limits: FrameLimits
    private var buffer: [UInt8] = []
    private var start = 0
    private var receivedBytes = 0
    private var receivedFrames = 0
    private var failure: FrameError?
    /// The length of the last frame, its prefix included; 0 before the first.
    public private(set) var lastFrameBytes = 0

    /// Begins a stream.
    ///
    /// - Parameter limits: what the sender may cost.
    public init(limits: FrameLimits) {
        self.limits = limits
    }

    /// Whether nothing of a next frame has arrived.
    public var isAtBoundary: Bool { start == buffer.count }

    /// Adds bytes as they arrived, in pieces of any size.
    ///
    /// - Parameter bytes: the bytes.
    /// - Throws: ``FrameError/tooManyBytes(limit:)``, or the error the stream already has.
    public mutating func append(_ bytes: [UInt8]) throws(FrameError) {
        if let failure { throw failure }
        receivedBytes += bytes.count
        guard receivedBytes <= limits.totalBytes else {
            throw refused(.tooManyBytes(limit: limits.totalBytes))
        }
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next whole frame.
    ///
    /// - Returns: its JSON object, or nothing until more bytes arrive.
    /// - Throws: ``FrameError``; the same error again on each later call.
    public mutating func next() throws(FrameError) -> JSONValue? {
        if let failure { throw failure }
        guard let length = try announcedLength() else { return nil }
        let payload = start + 4
        guard buffer.count - payload >= length else { return nil }
        receivedFrames += 1
        guard receivedFrames <= limits.frames else {
            throw refused(.tooManyFrames(limit: limits.frames))
        }
        let bytes = Array(buffer[payload..<(payload + length)])
        start = payload + length
        lastFrameBytes = 4 + length
        do throws(JSONError) {
            return try JSONValue(parsing: bytes, limits: limits.json)
        } catch {
            throw refused(.json(error))
        }
    }

    /// Says that the stream has ended.
    ///
    /// - Throws: ``FrameError/endedInside`` where a part of a frame is left.
    public mutating func finish() throws(FrameError) {
        if let failure { throw failure }
        guard isAtBoundary else { throw refused(.endedInside) }
    }

    private mutating func announcedLength() throws(FrameError) -> Int? {
        guard buffer.count - start >= 4 else { return nil }
        let length = buffer[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length > 0 else { throw refused(.empty) }
        guard length <= limits.frameBytes else {
            throw refused(.tooLong(length: length, limit: limits.frameBytes))
        }
        return length
    }

    private mutating func refused(_ error: FrameError) -> FrameError {
        failure = error
        buffer = []
        start = 0
        return error
    }
}

/// Writes frames.
public enum FrameEncoder {
    /// The largest payload that is written, in bytes; readers on the other side allow the same.
    public static let maximumBytes = 1 << 20

    /// Frames one JSON object.
    ///
    /// - Parameter value: the object.
    /// - Returns: the length prefix and the canonical bytes.
    /// - Throws: ``FrameError/tooLong(length:limit:)``.
    public static func frame(_ value: JSONValue) throws(FrameError) -> [UInt8] {
        let payload = value.canonicalBytes
        guard payload.count <= maximumBytes else {
            throw .tooLong(length: payload.count, limit: maximumBytes)
        }
        let prefix = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        return prefix + payload
    }
}
