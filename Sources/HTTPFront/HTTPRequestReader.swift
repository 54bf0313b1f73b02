// HTTPFront: what a sandbox says to the broker, read from bytes strictly; pure.

/// Reads requests from the bytes of one connection (RFC 9112), strictly, one after another.
///
/// A general HTTP parser accepts what two readers could understand differently: two lengths, a length
/// beside chunks, chunk extensions, folded lines, bare line feeds, absolute targets. Here each of them
/// is a fault. Pure: bytes in, requests out.
package struct HTTPRequestReader: Sendable {
    /// Where in a request the reader stands; each has a time limit of its own.
    package enum Phase: Sendable, Equatable {
        /// No byte of a request has arrived.
        case idle
        /// The head has begun.
        case head
        /// The head is read, the body is not.
        case body
    }

    private enum Step {
        case head
        case sized(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case lastLine
    }

    private let limits: HTTPLimits
    private let hosts: Set<String>
    private var step = Step.head
    private var pending: [UInt8] = []
    // Bytes of `pending` that are used up, and how far the search for the head's end has come.
    private var start = 0
    private var scanned = 0
    private var request: HTTPRequest?
    private var isContinueWanted = false

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - limits: what a request may cost.
    ///   - hosts: the values of `Host` that name this listener, in lower case.
    package init(limits: HTTPLimits, hosts: Set<String>) {
        self.limits = limits
        self.hosts = hosts
    }

    /// Where the reader stands.
    package var phase: Phase {
        if case .head = step { return start == pending.count ? .idle : .head }
        return .body
    }

    /// How many bytes of a body that is not whole yet are here.
    package var bodyCount: Int { request?.body.count ?? 0 }

    /// Takes bytes of the connection in.
    package mutating func feed(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            pending.removeFirst(start)
            scanned -= start
            start = 0
        }
        pending.append(contentsOf: bytes)
    }

    /// Whether the client waits for `100 Continue` before it sends the body; true once a request.
    package mutating func takeContinue() -> Bool {
        defer { isContinueWanted = false }
        return isContinueWanted && start == pending.count
    }

    /// The next whole request; nil while bytes are missing.
    ///
    /// - Throws: ``HTTPFault``, after which the reader is of no further use.
    package mutating func next() throws(HTTPFault) -> HTTPRequest? {
        while true {
            switch step {
            case .head:
                guard try readHead() else { return nil }
            case .sized(let remaining):
                let left = takeBody(remaining)
                step = .sized(remaining: left)
                return left == 0 ? finished() : nil
            case .chunkSize:
                guard let line = try line(limit: 8, "chunk size") else { return nil }
                try beginChunk(line)
            case .chunk(let remaining):
                let left = takeBody(remaining)
                step = left == 0 ? .chunkEnd : .chunk(remaining: left)
                if left > 0 { return nil }
            case .chunkEnd:
                guard try line(limit: 0, "chunk end") != nil else { return nil }
                step = .chunkSize
            case .lastLine:
                // A trailer field would be a second head that nobody checks.
                guard try line(limit: 0, "trailer") != nil else { return nil }
                return finished()
            }
        }
    }

    private mutating func finished() -> HTTPRequest? {
        step = .head
        scanned = start
        defer { request = nil }
        return request
    }

    // Moves what is there of a body over; the number of bytes that are still missing.
    private mutating func takeBody(_ remaining: Int) -> Int {
        let count = min(remaining, pending.count - start)
        request?.body.append(contentsOf: pending[start..<start + count])
        start += count
        return remaining - count
    }

    // One line without its end; nil while it is not whole.
    private mutating func line(limit: Int, _ location: String) throws(HTTPFault) -> [UInt8]? {
        // The line itself and the carriage return that ends it.
        let available = pending[start...].prefix(limit + 1)
        guard let end = available.firstIndex(of: 0x0D) else {
            guard available.count <= limit else {
                throw HTTPFault(400, location, "more than \(limit) bytes where a line should end")
            }
            return nil
        }
        guard end + 1 < pending.count else { return nil }
        guard pending[end + 1] == 0x0A else {
            throw HTTPFault(400, location, "a carriage return without a line feed")
        }
        defer { start = end + 2 }
        return Array(pending[start..<end])
    }

    private mutating func beginChunk(_ digits: [UInt8]) throws(HTTPFault) {
        guard !digits.isEmpty else { throw HTTPFault(400, "chunk size", "no digits") }
        var size = 0
        for digit in digits {
            guard let value = HTTPBytes.hexValue(digit) else {
                throw HTTPFault(400, "chunk size", "a byte that is no hexadecimal digit")
            }
            size = size << 4 | value
        }
        guard size > 0 else {
            step = .lastLine
            return
        }
        guard (request?.body.count ?? 0) + size <= limits.bodyBytes else { throw tooLarge }
        step = .chunk(remaining: size)
    }

    private var tooLarge: HTTPFault {
        HTTPFault(413, "body", "more than \(limits.bodyBytes) bytes")
    }
}

// The head: found whole first, then read once.
extension HTTPRequestReader {
    private mutating func readHead() throws(HTTPFault) -> Bool {
        guard let end = try endOfHead() else { return false }
        var head = HTTPHeadReader(
            bytes: Array(pending[start..<end]),
            limits: limits,
            hosts: hosts
        )
        let found = try head.read()
        start = end + 4
        scanned = start
        var read = found.request
        switch found.framing {
        case .none: step = .sized(remaining: 0)
        case .chunked: step = .chunkSize
        case .length(let length):
            guard length <= limits.bodyBytes else { throw tooLarge }
            read.body.reserveCapacity(length)
            step = .sized(remaining: length)
        }
        request = read
        isContinueWanted = found.isContinueWanted
        return true
    }

    // The offset of the empty line that ends the head; refuses at once what no head may hold, so
    // that another protocol is not waited for.
    private mutating func endOfHead() throws(HTTPFault) -> Int? {
        if start < pending.count {
            guard HTTPBytes.isUpperCase(pending[start]) else {
                throw HTTPFault(400, "method", "the first byte is no upper-case letter")
            }
        }
        scanned = max(scanned, start)
        while scanned < pending.count {
            guard scanned - start < limits.headBytes else {
                throw HTTPFault(431, "head", "more than \(limits.headBytes) bytes")
            }
            let byte = pending[scanned]
            if byte == 0x0D {
                guard scanned + 1 < pending.count else { return nil }
                guard pending[scanned + 1] == 0x0A else {
                    throw HTTPFault(400, "head", "a carriage return without a line feed")
                }
                guard scanned + 3 < pending.count else { return nil }
                if pending[scanned + 2] == 0x0D, pending[scanned + 3] == 0x0A { return scanned }
                scanned += 2
                continue
            }
            guard HTTPBytes.isVisible(byte) || byte == 0x20 || byte == 0x09 else {
                throw HTTPFault(400, "head", "a byte outside visible ASCII")
            }
            scanned += 1
        }
        return nil
    }
}
