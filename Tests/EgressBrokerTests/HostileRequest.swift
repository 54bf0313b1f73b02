/// Bytes that a sandbox might send to be understood differently by two readers, and the status with
/// which they are refused.
struct HostileRequest: Sendable, CustomStringConvertible {
    let name: String
    let status: Int
    let bytes: [UInt8]

    var description: String { name }

    /// The same bytes for a listener at another port.
    func bytes(toPort port: Int) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return bytes }
        return Array(text.replacing("127.0.0.1:8377", with: "127.0.0.1:\(port)").utf8)
    }

    private init(_ name: String, _ status: Int, _ text: String) {
        self.name = name
        self.status = status
        bytes = Array(text.utf8)
    }

    private init(_ name: String, _ status: Int, raw: [UInt8]) {
        self.name = name
        self.status = status
        bytes = raw
    }

    private static let host = "Host: 127.0.0.1:8377\r\n"

    /// A request whose fields after the host are these.
    private static func post(_ name: String, _ status: Int, _ rest: String) -> HostileRequest {
        HostileRequest(name, status, "POST /v1/messages HTTP/1.1\r\n\(host)\(rest)")
    }

    /// A request in chunks.
    private static func chunks(_ name: String, _ status: Int, _ rest: String) -> HostileRequest {
        post(name, status, "Transfer-Encoding: chunked\r\n\r\n\(rest)")
    }

    /// A request of these first lines.
    private static func line(_ name: String, _ status: Int, _ line: String) -> HostileRequest {
        HostileRequest(name, status, "\(line)\r\n\(host)Content-Length: 0\r\n\r\n")
    }

    /// All of them.
    static let all: [HostileRequest] = lengths + chunkings + lines + fields + protocols

    private static let lengths = [
        post("two lengths", 400, "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody"),
        post("two lengths that differ", 400, "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody"),
        post("a list of lengths", 400, "Content-Length: 4, 4\r\n\r\nbody"),
        post("a signed length", 400, "Content-Length: +4\r\n\r\nbody"),
        post("a negative length", 400, "Content-Length: -4\r\n\r\nbody"),
        post("a hexadecimal length", 400, "Content-Length: 0x4\r\n\r\nbody"),
        post("a length with a leading zero", 400, "Content-Length: 04\r\n\r\nbody"),
        post("an empty length", 400, "Content-Length:\r\n\r\nbody"),
        post("a length beyond 64 bits", 400, "Content-Length: 99999999999999999999\r\n\r\n"),
        post("a length beyond the limit", 413, "Content-Length: 999999999999\r\n\r\n"),
        post("no length", 411, "\r\n"),
        post(
            "chunks beside a length",
            400,
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        post(
            "a length beside chunks",
            400,
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
        ),
        HostileRequest(
            "a GET with a body",
            400,
            "GET / HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\nx"
        ),
        HostileRequest(
            "a GET with chunks",
            400,
            "GET / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
    ]

    private static let chunkings = [
        post("gzip and chunks", 400, "Transfer-Encoding: gzip, chunked\r\n\r\n"),
        post("a coding that is none", 400, "Transfer-Encoding: xchunked\r\n\r\n"),
        post(
            "two codings",
            400,
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
        ),
        post("a coding behind a vertical tab", 400, "Transfer-Encoding: \u{0B}chunked\r\n\r\n"),
        chunks("a chunk extension", 400, "4;a=b\r\nbody\r\n0\r\n\r\n"),
        chunks("a quoted chunk extension", 400, "4;a=\"\r\n\"\r\nbody\r\n0\r\n\r\n"),
        chunks("a space after the size", 400, "4 \r\nbody\r\n0\r\n\r\n"),
        chunks("a signed size", 400, "+4\r\nbody\r\n0\r\n\r\n"),
        chunks("a size with 0x", 400, "0x4\r\nbody\r\n0\r\n\r\n"),
        chunks("an empty size", 400, "\r\nbody\r\n0\r\n\r\n"),
        chunks("a size of 17 digits", 400, "00000000000000004\r\nbody\r\n0\r\n\r\n"),
        chunks("a chunk longer than its size", 400, "4\r\nbodyx\r\n0\r\n\r\n"),
        chunks("a size ended by a line feed", 400, "4\nbody\n0\n\n"),
        chunks("a trailer field", 400, "4\r\nbody\r\n0\r\nX: y\r\n\r\n"),
    ]

    private static let lines = [
        line("an absolute target", 400, "POST http://example.com/v1/messages HTTP/1.1"),
        line("an asterisk", 400, "OPTIONS * HTTP/1.1"),
        line("CONNECT", 400, "CONNECT example.com:443 HTTP/1.1"),
        line("a tab in the request line", 400, "POST\t/v1/messages HTTP/1.1"),
        line("two spaces", 400, "POST  /v1/messages HTTP/1.1"),
        line("a space in the target", 400, "POST /v1/mess ages HTTP/1.1"),
        line("a method in lower case", 400, "post /v1/messages HTTP/1.1"),
        line("a method of many letters", 400, "POSTPOSTPOSTPOSTPOST /v1/messages HTTP/1.1"),
        line("HTTP/1.0", 505, "POST /v1/messages HTTP/1.0"),
        line("HTTP/2.0", 505, "POST /v1/messages HTTP/2.0"),
        line("HTTP/1.1 in lower case", 505, "POST /v1/messages http/1.1"),
        line("HTTP/0.9", 400, "GET /v1/models"),
        line(
            "a target of 4,000 bytes",
            414,
            "GET /" + String(repeating: "a", count: 4000) + " HTTP/1.1"
        ),
        HostileRequest("an empty line first", 400, "\r\nGET / HTTP/1.1\r\n\(host)\r\n"),
        HostileRequest("lines without carriage returns", 400, "GET / HTTP/1.1\nHost: a\n\n"),
        HostileRequest("a NUL in the target", 400, "GET /\u{0}v1 HTTP/1.1\r\n\(host)\r\n"),
    ]

    private static let fields = [
        HostileRequest("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        HostileRequest("two hosts", 400, "GET / HTTP/1.1\r\n\(host)\(host)\r\n"),
        HostileRequest("another host", 421, "GET / HTTP/1.1\r\nHost: api.openai.com\r\n\r\n"),
        HostileRequest("another port", 421, "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"),
        HostileRequest(
            "a host with a user",
            421,
            "GET / HTTP/1.1\r\nHost: a@127.0.0.1:8377\r\n\r\n"
        ),
        post("a folded field", 400, "X: a\r\n b\r\nContent-Length: 0\r\n\r\n"),
        post("a space before the colon", 400, "Content-Length : 0\r\n\r\n"),
        post("a field without a colon", 400, "Nothing\r\nContent-Length: 0\r\n\r\n"),
        post("a field without a name", 400, ": x\r\nContent-Length: 0\r\n\r\n"),
        post("a NUL in a value", 400, "X: a\u{0}b\r\nContent-Length: 0\r\n\r\n"),
        post("a lone carriage return", 400, "X: a\rContent-Length: 5\r\n\r\n"),
        post("a byte above ASCII", 400, "X: \u{E9}\r\nContent-Length: 0\r\n\r\n"),
        post("101 fields", 431, String(repeating: "X: y\r\n", count: 101) + "\r\n"),
        post("a head of 70 KiB", 431, "X: " + String(repeating: "y", count: 70 << 10)),
        post("two types", 400, "Content-Type: a\r\nContent-Type: b\r\nContent-Length: 0\r\n\r\n"),
        post("a compressed body", 415, "Content-Encoding: zstd\r\nContent-Length: 0\r\n\r\n"),
        post("an expectation", 417, "Expect: 200-ok\r\nContent-Length: 0\r\n\r\n"),
    ]

    private static let protocols = [
        post(
            "an upgrade",
            400,
            "Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n"
        ),
        post("an upgrade alone", 400, "Upgrade: h2c\r\nContent-Length: 0\r\n\r\n"),
        post("settings of HTTP/2", 400, "HTTP2-Settings: AAMAAABkAAQ\r\nContent-Length: 0\r\n\r\n"),
        post("a hop-by-hop list", 400, "Connection: Content-Length\r\nContent-Length: 0\r\n\r\n"),
        post("a promise of trailers", 400, "Trailer: X\r\nContent-Length: 0\r\n\r\n"),
        HostileRequest("the preface of HTTP/2", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        HostileRequest("TLS", 400, raw: [0x16, 0x03, 0x01, 0x00, 0xA5, 0x01]),
        HostileRequest("SOCKS", 400, raw: [0x05, 0x01, 0x00]),
    ]
}
