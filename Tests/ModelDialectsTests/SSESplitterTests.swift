import ModelDialects
import StrictJSON
import TestSupport
import Testing

@Suite("A stream of events")
struct SSESplitterTests {
    private static func events(_ text: String) throws -> [SSEEvent] {
        var splitter = SSESplitter(maximumEventBytes: 1_000)
        var events = try splitter.feed(Array(text.utf8))
        if let last = try splitter.finish() { events.append(last) }
        return events
    }

    @Test("is cut at empty lines, whatever ends a line", arguments: ["\n", "\r\n", "\r"])
    func lines(end: String) throws {
        let text = ["event: a", "data: 1", "data:2", "", ": comment", "", "data: [DONE]", "", ""]
        let events = try Self.events(text.joined(separator: end))
        #expect(events.map(\.name) == ["a", nil])
        #expect(events.map(\.data) == [Array("1\n2".utf8), Array("[DONE]".utf8)])
        #expect(events[0].wire == Array("event: a\ndata: 1\ndata: 2\n\n".utf8))
    }

    @Test("has an event at its end whose empty line never came")
    func cutEnd() throws {
        #expect(try Self.events("data: 1\n\ndata: 2").map(\.data) == [[0x31], [0x32]])
        #expect(try Self.events("data: 1\n\nevent: x").count == 1)
    }

    @Test("keeps the bytes of an event as they came")
    func raw() throws {
        let events = try Self.events("id: 4\ndata: 1\n\nretry: 9\n\ndata: 2\r\n\r\n")
        #expect(events[0].raw == Array("id: 4\ndata: 1\n\n".utf8))
        #expect(events[1].raw == Array("data: 2\r\n\r\n".utf8))
        #expect(events[0].wire == Array("data: 1\n\n".utf8))
    }

    @Test("goes on as one event, whatever stands in its name")
    func injection() throws {
        for name in ["a\ndata: x", "a\r\revent: b", "a b", String(repeating: "a", count: 101), ""] {
            let event = SSEEvent(name: name, data: Array("1\r2".utf8), raw: [])
            #expect(event.wire == Array("data: 1\ndata: 2\n\n".utf8))
            let value: JSONValue = ["type": .string(name)]
            let typed = SSEEvent(name: "x", data: value.canonicalBytes, raw: [])
            let wire = ResponseScrub.event(typed, dialect: .openAIResponses, isSealed: true)
            #expect(try Self.events(String(decoding: wire, as: UTF8.self)).map(\.name) == [nil])
        }
    }

    @Test("says the same however it is cut")
    func cuts() throws {
        for seed in 0..<400 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let pieces = [
                "data: x\n", "data:y\r\n", "event: a\n", "\n", "\r\n", "\r", ": c\n", "data\n",
                "id: 1\n", "data: \u{E4}\r", "\u{FEFF}", "data: a: b\n\n",
            ]
            let text = (0..<30).map { _ in generator.pick(pieces) }.joined()
            let bytes = Array(text.utf8)
            var splitter = SSESplitter(maximumEventBytes: 1_000)
            var events: [SSEEvent] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + 1 + generator.below(5))
                events += try splitter.feed(bytes[start..<end])
                start = end
            }
            if let last = try splitter.finish() { events.append(last) }
            let whole = try Self.events(text)
            #expect(events == whole, "seed \(seed)")
        }
    }

    @Test("with an event beyond the limit breaks, and stays broken")
    func limit() throws {
        for end in ["", "\n\n"] {
            var splitter = SSESplitter(maximumEventBytes: 100)
            let bytes = Array(("data: " + String(repeating: "x", count: 100) + end).utf8)
            #expect(throws: SSEError.eventTooLong(limit: 100)) { try splitter.feed(bytes) }
            #expect(throws: SSEError.eventTooLong(limit: 100)) { try splitter.feed([0x0A]) }
            #expect(throws: SSEError.eventTooLong(limit: 100)) { try splitter.finish() }
        }
    }

    @Test("of many small events may be longer than the limit of one")
    func many() throws {
        var splitter = SSESplitter(maximumEventBytes: 100)
        let bytes = Array(String(repeating: "data: x\n\n", count: 1_000).utf8)
        #expect(try splitter.feed(bytes).count == 1_000)
    }

    @Test("with a name that is none breaks")
    func name() {
        var splitter = SSESplitter()
        #expect(throws: SSEError.badName) { try splitter.feed(Array("event: a b\n".utf8)) }
    }
}
