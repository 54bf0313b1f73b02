import EgressBroker
import HTTPFront
import NIOCore
import Testing

@Suite("HTTPReply")
struct HTTPReplyTests {
    @Test("a field that would begin a line of its own, or is no field, is left out")
    func smuggled() {
        let reply = HTTPReply(
            200,
            fields: [
                HTTPField("retry-after", "5\r\nset-cookie: a=b"), HTTPField("x: y", "z"),
                HTTPField("", "empty"), HTTPField("content-type", "text/plain"),
            ],
            .whole(Array("hi".utf8))
        )
        let text = String(buffer: reply.bytes(isLast: true))
        #expect(
            text == "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n"
                + "content-length: 2\r\n\r\nhi"
        )
    }

    @Test("an empty chunk is not sent, because it would end the body")
    func emptyChunk() {
        #expect(HTTPReply.chunk([]).readableBytes == 0)
        #expect(
            String(buffer: HTTPReply.chunk(Array("hello, you there".utf8)))
                == "10\r\nhello, you there\r\n"
        )
    }
}
