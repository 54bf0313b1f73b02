package import HTTPFront
package import NIOCore

/// The head of an answer, and what frames its body; written by one function, so that no value from
/// elsewhere reaches the wire unchecked.
package struct HTTPReply: Sendable, Equatable {
    /// How the end of the body is known.
    package enum Framing: Sendable, Equatable {
        /// The whole body is here.
        case whole([UInt8])
        /// Chunks follow, as they come.
        case chunked
        /// There is none, and its length is told nevertheless (HEAD).
        case none
    }

    /// The status, 200 to 599.
    package let status: Int
    /// Fields beside those of the framing; values that a header may not hold are left out.
    package let fields: [HTTPField]
    /// The body.
    package let framing: Framing

    /// Makes an answer.
    package init(_ status: Int, fields: [HTTPField] = [], _ framing: Framing) {
        self.status = status
        self.fields = fields
        self.framing = framing
    }

    /// A whole body of JSON.
    package static func json(
        _ status: Int,
        _ body: [UInt8],
        fields: [HTTPField] = []
    ) -> HTTPReply {
        HTTPReply(
            status,
            fields: [HTTPField("content-type", "application/json")] + fields,
            .whole(body)
        )
    }

    /// The bytes of the head, and of the body where it is whole.
    ///
    /// - Parameter isLast: whether the connection ends after it.
    /// - Returns: the bytes.
    package func bytes(isLast: Bool) -> ByteBuffer {
        var text = "HTTP/1.1 \(status) \(Self.phrase(status))\r\n"
        for field in fields where field.isSendable { text += "\(field.name): \(field.value)\r\n" }
        if isLast { text += "connection: close\r\n" }
        var body: [UInt8] = []
        switch framing {
        case .whole(let bytes):
            text += "content-length: \(bytes.count)\r\n"
            body = bytes
        case .chunked: text += "transfer-encoding: chunked\r\n"
        case .none: text += "content-length: 0\r\n"
        }
        text += "\r\n"
        var buffer = ByteBuffer()
        buffer.reserveCapacity(text.utf8.count + body.count)
        buffer.writeString(text)
        buffer.writeBytes(body)
        return buffer
    }

    /// One chunk; an empty one is left out, because it would end the body.
    package static func chunk(_ bytes: [UInt8]) -> ByteBuffer {
        guard !bytes.isEmpty else { return ByteBuffer() }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(bytes.count + 16)
        buffer.writeString(String(bytes.count, radix: 16))
        buffer.writeString("\r\n")
        buffer.writeBytes(bytes)
        buffer.writeString("\r\n")
        return buffer
    }

    /// The end of a body of chunks.
    package static let lastChunk = ByteBuffer(string: "0\r\n\r\n")
    /// The answer to `Expect: 100-continue`.
    package static let goOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 408: "Request Timeout"
        case 413: "Content Too Large"
        case 429: "Too Many Requests"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: status < 400 ? "OK" : "Refused"
        }
    }
}

extension HTTPField {
    // A token, and a value of visible ASCII and single spaces: no line end can be smuggled in.
    var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(HTTPBytes.isToken)
            && value.utf8.allSatisfy { HTTPBytes.isVisible($0) || $0 == 0x20 }
    }
}
