import Benchmarks
import StrictJSON
import TestSupport
import Testing

@Suite("The frame decoder")
struct FrameDecoderTests {
    private let limits = FrameLimits(frameBytes: 32, totalBytes: 100, frames: 4, json: .frame)

    @Test("frames survive any cutting into pieces", arguments: 0..<30)
    func pieces(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let values = (0..<20).map { index in
            JSONValue.object([
                "n": JSONValue(index), "t": .string(String(repeating: "é", count: index)),
            ])
        }
        let bytes = try values.flatMap { try FrameEncoder.frame($0) }
        var decoder = FrameDecoder(limits: .candidate)
        var read: [JSONValue] = []
        for piece in generator.pieces(bytes) {
            try decoder.append(piece)
            while let value = try decoder.next() { read.append(value) }
        }
        #expect(read == values)
        #expect(decoder.isAtBoundary)
        try decoder.finish()
    }

    @Test("a length above the limit is refused before its bytes arrive")
    func tooLong() throws {
        var decoder = FrameDecoder(limits: limits)
        try decoder.append([0, 0, 0, 33])
        #expect(throws: FrameError.tooLong(length: 33, limit: 32)) { try decoder.next() }
        decoder = FrameDecoder(limits: limits)
        try decoder.append([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: FrameError.self) { try decoder.next() }
    }

    @Test("an empty frame, too many bytes, too many frames and a cut frame are refused")
    func refusals() throws {
        var decoder = FrameDecoder(limits: limits)
        try decoder.append([0, 0, 0, 0])
        #expect(throws: FrameError.empty) { try decoder.next() }

        decoder = FrameDecoder(limits: limits)
        try decoder.append(Array(repeating: 0, count: 100))
        #expect(throws: FrameError.tooManyBytes(limit: 100)) { try decoder.append([0]) }

        decoder = FrameDecoder(limits: limits)
        for _ in 0..<5 { try decoder.append(rawFrame("{}")) }
        for _ in 0..<4 { #expect(try decoder.next() == [:]) }
        #expect(throws: FrameError.tooManyFrames(limit: 4)) { try decoder.next() }

        decoder = FrameDecoder(limits: limits)
        try decoder.append([0, 0, 0, 2, 0x7B])
        #expect(try decoder.next() == nil)
        #expect(throws: FrameError.endedInside) { try decoder.finish() }
    }

    @Test("a stream that broke once stays broken")
    func poisoned() throws {
        var decoder = FrameDecoder(limits: limits)
        try decoder.append(rawFrame("{") + rawFrame("{}"))
        let first = try #require(throws: FrameError.self) { try decoder.next() }
        for _ in 0..<3 {
            #expect(throws: first) { try decoder.next() }
            #expect(throws: first) { try decoder.append(rawFrame("{}")) }
            #expect(throws: first) { try decoder.finish() }
        }
    }

    @Test("random bytes never crash it and never cost more than the limits", arguments: 0..<50)
    func noise(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var decoder = FrameDecoder(limits: limits)
        var frames = 0
        do throws(FrameError) {
            for _ in 0..<200 {
                var bytes = generator.chance(70) ? rawFrame("{\"a\":1}") : []
                for index in bytes.indices where generator.chance(3) {
                    bytes[index] = UInt8(truncatingIfNeeded: generator.next())
                }
                try decoder.append(bytes)
                while try decoder.next() != nil { frames += 1 }
            }
        } catch {
            #expect(error.description.contains("remedy"))
        }
        #expect(frames <= 4)
    }

    @Test("the encoder refuses what no reader would take")
    func encoderLimit() throws {
        let long = JSONValue.object(["t": .string(String(repeating: "x", count: 1 << 20))])
        #expect(throws: FrameError.self) { try FrameEncoder.frame(long) }
        #expect(try FrameEncoder.frame([:]) == [0, 0, 0, 2, 0x7B, 0x7D])
    }
}
