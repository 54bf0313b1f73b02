/// Reads one head: the request line and the fields, and how long the body is.
struct HTTPHeadReader {
    /// How the length of a body is known.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    /// A head, read.
    struct Head {
        let request: HTTPRequest
        let framing: Framing
        let isContinueWanted: Bool
    }

    let bytes: [UInt8]
    let limits: HTTPLimits
    let hosts: Set<String>

    // Fields that two readers could each take another one of.
    private static let single: Set<String> = [
        "connection", "content-encoding", "content-length", "content-type", "expect", "host",
        "transfer-encoding",
    ]

    mutating func read() throws(HTTPFault) -> Head {
        let lines = Self.lines(bytes)
        let (method, target) = try requestLine(lines[0])
        guard lines.count - 1 <= limits.headerCount else {
            throw HTTPFault(431, "head", "more than \(limits.headerCount) fields")
        }
        var fields: [HTTPField] = []
        for line in lines.dropFirst() { fields.append(try field(line)) }
        var names = Set<String>()
        for name in fields.map(\.name) where Self.single.contains(name) {
            guard names.insert(name).inserted else { throw HTTPFault(400, name, "stands twice") }
        }
        let request = HTTPRequest(
            method: method,
            target: target,
            headers: fields,
            isLast: try isLast(fields),
            body: []
        )
        try checkFields(request)
        return Head(
            request: request,
            framing: try framing(request),
            isContinueWanted: request.value(of: "expect") != nil
        )
    }

    // The scan before left no lone carriage return, so these are all ends of lines.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: 0x0D, omittingEmptySubsequences: false).enumerated()
            .map { $0.offset == 0 ? $0.element : $0.element.dropFirst() }
    }

    private func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> (String, String) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts.contains(where: \.isEmpty), !line.contains(0x09) else {
            throw HTTPFault(400, "request line", "not method, target and version with one space")
        }
        guard parts[0].count <= 16, parts[0].allSatisfy(HTTPBytes.isUpperCase) else {
            throw HTTPFault(400, "method", "not up to 16 upper-case letters")
        }
        guard parts[2].elementsEqual("HTTP/1.1".utf8) else {
            throw HTTPFault(505, "version", "not HTTP/1.1")
        }
        guard parts[1].first == UInt8(ascii: "/") else {
            throw HTTPFault(400, "target", "not in origin form; this is no proxy")
        }
        guard parts[1].count <= limits.targetBytes else {
            throw HTTPFault(414, "target", "more than \(limits.targetBytes) bytes")
        }
        return (
            String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self)
        )
    }

    private func field(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> HTTPField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw HTTPFault(400, "header field", "a line without a name and a colon")
        }
        let name = line[..<colon]
        guard name.allSatisfy(HTTPBytes.isToken) else {
            throw HTTPFault(400, "header field", "a name with a byte that no name has")
        }
        let value = line[(colon + 1)...].trimmed
        return HTTPField(
            String(decoding: name, as: UTF8.self).lowercased(),
            String(decoding: value, as: UTF8.self)
        )
    }

    private func isLast(_ fields: [HTTPField]) throws(HTTPFault) -> Bool {
        switch fields.first(where: { $0.name == "connection" })?.value.lowercased() {
        case nil, "keep-alive": return false
        case "close": return true
        default: throw HTTPFault(400, "connection", "neither keep-alive nor close")
        }
    }

    private func checkFields(_ request: HTTPRequest) throws(HTTPFault) {
        guard let host = request.value(of: "host") else {
            throw HTTPFault(400, "host", "is missing")
        }
        guard hosts.contains(host.lowercased()) else {
            throw HTTPFault(421, "host", "not the address of this listener")
        }
        for refused in ["upgrade", "http2-settings", "trailer"] {
            guard request.value(of: refused) == nil else {
                throw HTTPFault(400, refused, "is not served here")
            }
        }
        let expected = request.value(of: "expect")?.lowercased()
        guard expected == nil || expected == "100-continue" else {
            throw HTTPFault(417, "expect", "not 100-continue")
        }
        let encoding = request.value(of: "content-encoding")?.lowercased()
        guard encoding == nil || encoding == "identity" else {
            throw HTTPFault(415, "content-encoding", "not identity")
        }
    }

    private func framing(_ request: HTTPRequest) throws(HTTPFault) -> Framing {
        let coding = request.value(of: "transfer-encoding")
        let length = request.value(of: "content-length")
        guard coding == nil || length == nil else {
            throw HTTPFault(400, "content-length", "stands beside transfer-encoding")
        }
        if let coding {
            guard coding.lowercased() == "chunked" else {
                throw HTTPFault(400, "transfer-encoding", "not chunked alone")
            }
            guard request.method == "POST" else { throw Self.bodyless }
            return .chunked
        }
        guard let length else {
            guard request.method != "POST" else {
                throw HTTPFault(411, "content-length", "is missing")
            }
            return .none
        }
        let digits = Array(length.utf8)
        guard digits.allSatisfy(HTTPBytes.isDigit), (1...12).contains(digits.count),
            digits.count == 1 || digits[0] != UInt8(ascii: "0"), let count = Int(length)
        else { throw HTTPFault(400, "content-length", "not one plain number") }
        guard count == 0 || request.method == "POST" else { throw Self.bodyless }
        return .length(count)
    }

    private static let bodyless = HTTPFault(400, "body", "this method takes none")
}

/// The alphabets of RFC 9110, section 5.6.
package enum HTTPBytes {
    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    static func isUpperCase(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    /// A character that is seen.
    package static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
    /// A character of a name.
    package static func isToken(_ byte: UInt8) -> Bool {
        isVisible(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
    static func hexValue(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    // Without spaces and tabulators around it.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = firstIndex(where: { !isSpace($0) }),
            let last = lastIndex(where: { !isSpace($0) })
        else { return [] }
        return self[first...last]
    }
}
