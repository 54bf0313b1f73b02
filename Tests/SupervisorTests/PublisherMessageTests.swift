import Supervisor
import Testing

@Suite("Messages to the process that keeps checkpoints")
struct PublisherMessageTests {
    @Test("messages that arrive in any pieces are taken one by one")
    func pieces() throws {
        let messages: [[UInt8]] = [[], [1, 2, 3], [UInt8](repeating: 7, count: 300)]
        let stream = messages.flatMap(PublisherMessage.framed)
        for size in 1...9 {
            var received: [UInt8] = []
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                received += stream[start..<min(start + size, stream.count)]
                while let message = try PublisherMessage.next(of: &received) {
                    found.append(message)
                }
            }
            #expect(found == messages)
            #expect(received.isEmpty)
        }
    }

    @Test("a message that announces more than any has is refused before it is there")
    func tooLong() {
        var received: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]
        #expect(throws: PublisherMessage.TooLong.self) {
            try PublisherMessage.next(of: &received)
        }
    }

    @Test("replies come back as they were, and nothing else is one")
    func replies() {
        for reply in [PublisherReply.kept([]), .kept([1, 2]), .done, .failed("no room")] {
            #expect(PublisherReply(message: reply.message) == reply)
        }
        for message: [UInt8] in [[], [UInt8(ascii: "d"), 1], [UInt8(ascii: "x")]] {
            #expect(PublisherReply(message: message) == nil)
        }
    }
}
