import HTTPFront
import Testing

/// The answer that some bytes get: the request, the status of the refusal, or nothing yet.
private enum Read: Equatable {
    case request(method: String, target: String, body: String)
    case refused(Int)
    case waiting
}

private func read(_ text: String, limits: HTTPLimits = HTTPLimits()) -> Read {
    read(Array(text.utf8), limits: limits)
}

private func read(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> Read {
    var reader = HTTPRequestReader(limits: limits, hosts: ["127.0.0.1:8377", "localhost:8377"])
    reader.feed(bytes)
    do throws(HTTPFault) {
        guard let request = try reader.next() else { return .waiting }
        return .request(
            method: request.method,
            target: request.target,
            body: String(decoding: request.body, as: UTF8.self)
        )
    } catch {
        return .refused(error.status)
    }
}

private let host = "Host: 127.0.0.1:8377\r\n"

@Suite("HTTPRequestReader")
struct HTTPRequestReaderTests {
    @Test("a request with a length is read")
    func sized() {
        let text = "POST /v1/messages HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\nbody"
        #expect(read(text) == .request(method: "POST", target: "/v1/messages", body: "body"))
    }

    @Test("a request in chunks is read, and a name of the host in any case")
    func chunked() {
        let text =
            "POST /v1/responses HTTP/1.1\r\nhOST: LocalHost:8377\r\ntransfer-encoding: Chunked\r\n\r\n"
            + "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"
        #expect(read(text) == .request(method: "POST", target: "/v1/responses", body: "body"))
    }

    @Test("a request that comes byte by byte is read as the same request")
    func bytewise() throws {
        let text = "POST /x HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nabc"
        var reader = HTTPRequestReader(limits: HTTPLimits(), hosts: ["127.0.0.1:8377"])
        var found: HTTPRequest?
        for byte in text.utf8 {
            #expect(found == nil)
            reader.feed([byte])
            found = try reader.next()
        }
        #expect(found.map { Array($0.body) } == Array("abc".utf8))
        #expect(reader.phase == .idle)
    }

    @Test("a second request that comes along is read after the first, and no byte of it before")
    func pipelined() throws {
        var reader = HTTPRequestReader(limits: HTTPLimits(), hosts: ["127.0.0.1:8377"])
        let one = "POST /a HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\nA"
        let two = "POST /b HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n1\r\nB\r\n0\r\n\r\n"
        reader.feed((one + two).utf8)
        let first = try reader.next()
        #expect(first?.target == "/a")
        let second = try reader.next()
        #expect(second?.target == "/b")
        #expect(second?.body == Array("B".utf8))
        let third = try reader.next()
        #expect(third == nil)
    }

    @Test("the phases of a request follow its bytes")
    func phases() throws {
        var reader = HTTPRequestReader(limits: HTTPLimits(), hosts: ["127.0.0.1:8377"])
        #expect(reader.phase == .idle)
        reader.feed("POST /a HT".utf8)
        var found = try reader.next()
        #expect(found == nil)
        #expect(reader.phase == .head)
        reader.feed("TP/1.1\r\n\(host)Expect: 100-continue\r\nContent-Length: 1\r\n\r\n".utf8)
        found = try reader.next()
        #expect(found == nil)
        #expect(reader.phase == .body)
        let isWanted = reader.takeContinue()
        let isWantedAgain = reader.takeContinue()
        #expect(isWanted && !isWantedAgain)
    }

    @Test("what two readers could understand differently is refused", arguments: HostileRequest.all)
    func refused(_ request: HostileRequest) {
        #expect(read(request.bytes) == .refused(request.status), "\(request.name)")
    }

    @Test("a body beyond the limit is refused before it comes, chunked or not")
    func bodyLimit() {
        let limits = HTTPLimits(bodyBytes: 10)
        let sized = "POST /a HTTP/1.1\r\n\(host)Content-Length: 11\r\n\r\n"
        #expect(read(sized, limits: limits) == .refused(413))
        let chunked = "POST /a HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
        #expect(read(chunked + "6\r\nsixsix\r\n5\r\n", limits: limits) == .refused(413))
        #expect(read(chunked + "6\r\nsixsix\r\n4\r\n", limits: limits) == .waiting)
        #expect(read(chunked + "7fffffff\r\n", limits: limits) == .refused(413))
    }

    @Test("no bytes at random make the reader stop the program, and none of them twice the answer")
    func random() throws {
        var generator = SplitMix(seed: 0x1f2e)
        let seeds = HostileRequest.all.map(\.bytes)
        for _ in 0..<3000 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            let whole = read(bytes)
            var reader = HTTPRequestReader(
                limits: HTTPLimits(),
                hosts: ["127.0.0.1:8377", "localhost:8377"]
            )
            var split: Read = .waiting
            for byte in bytes where split == .waiting {
                reader.feed([byte])
                do throws(HTTPFault) {
                    if let request = try reader.next() {
                        split = .request(
                            method: request.method,
                            target: request.target,
                            body: String(decoding: request.body, as: UTF8.self)
                        )
                    }
                } catch {
                    split = .refused(error.status)
                }
            }
            // Cut differently, the same bytes are the same request, or refused for one of their faults.
            switch (whole, split) {
            case (.refused, .refused): break
            default: #expect(whole == split, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}

/// A generator whose numbers a test can repeat.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
