internal import StrictJSON

/// One event of a stream (WHATWG HTML, section 9.2, server-sent events).
public struct SSEEvent: Sendable, Equatable {
    /// The event's name, or nothing.
    public let name: String?
    /// The lines of data, joined by line feeds.
    public let data: [UInt8]
    /// The event's bytes as they came, with the empty line that ends it where there was one.
    public let raw: [UInt8]

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - name: the event's name, or nothing.
    ///   - data: the data.
    ///   - raw: the bytes as they came.
    public init(name: String?, data: [UInt8], raw: [UInt8]) {
        self.name = name
        self.data = data
        self.raw = raw
    }

    /// The bytes of an event with nothing but name and data: no comments, no ids.
    ///
    /// What is no name
    /// would be lines of its own, and stays away.
    public var wire: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 64)
        if let name, Self.isName(name.utf8) { bytes += "event: \(name)\n".utf8 }
        let ends: Set<UInt8> = [0x0A, 0x0D]
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: ends.contains) {
            bytes += "data: ".utf8
            bytes += line
            bytes.append(0x0A)
        }
        bytes.append(0x0A)
        return bytes
    }

    static func isName(_ text: some Collection<UInt8>) -> Bool {
        (1...100).contains(text.count) && text.allSatisfy { (0x21..<0x7F).contains($0) }
    }

    static func wire(name: String?, _ value: JSONValue) -> [UInt8] {
        SSEEvent(name: name, data: value.canonicalBytes, raw: []).wire
    }
}

/// Why a stream of events cannot be read on.
public enum SSEError: Error, Sendable, Equatable {
    /// One event is longer than allowed.
    case eventTooLong(limit: Int)
    /// The name of an event is not UTF-8, or no name.
    case badName
}

extension SSEError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .eventTooLong(let limit):
            "read a stream of events: one is longer than \(limit) bytes; remedy: cut the stream"
        case .badName:
            "read a stream of events: a name that is none; remedy: cut the stream"
        }
    }
}

/// Cuts a stream of bytes into events; says the same however the bytes are cut.
public struct SSESplitter: Sendable {
    /// The longest event, in bytes of the wire.
    public let maximumEventBytes: Int
    private var buffer: [UInt8] = []
    /// Where the first unread line begins.
    private var line = 0
    /// Where to look on for the end of that line.
    private var scanned = 0
    private var isFirst = true
    private var name: String?
    private var data: [UInt8]?
    private var failure: SSEError?

    /// Begins a stream.
    ///
    /// - Parameter maximumEventBytes: the longest event, in bytes of the wire.
    public init(maximumEventBytes: Int = 8 << 20) {
        self.maximumEventBytes = maximumEventBytes
    }

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: the bytes, cut anywhere.
    /// - Returns: the events that they complete; comments and empty events are none.
    /// - Throws: ``SSEError``; a stream that broke stays broken.
    public mutating func feed(
        _ bytes: some Collection<UInt8>
    ) throws(SSEError) -> [SSEEvent] {
        if let failure { throw failure }
        do throws(SSEError) {
            buffer += bytes
            return try events(isLast: false)
        } catch {
            failure = error
            buffer = []
            throw error
        }
    }

    /// Ends the stream.
    ///
    /// - Returns: the event at the end whose empty line never came, or nothing.
    /// - Throws: ``SSEError``.
    public mutating func finish() throws(SSEError) -> SSEEvent? {
        if let failure { throw failure }
        do throws(SSEError) {
            if let event = try events(isLast: true).first { return event }
            if line < buffer.count { try field(buffer[line...]) }
            return take(upTo: buffer.count)
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func events(isLast: Bool) throws(SSEError) -> [SSEEvent] {
        var events: [SSEEvent] = []
        var start = 0
        while let end = lineEnd(isLast: isLast) {
            guard end.next - start <= maximumEventBytes else { throw tooLong }
            if end.text == line {
                if let event = take(from: start, upTo: end.next) { events.append(event) }
                start = end.next
            } else {
                try field(buffer[line..<end.text])
            }
            line = end.next
        }
        buffer.removeFirst(start)
        line -= start
        scanned -= start
        guard buffer.count <= maximumEventBytes else { throw tooLong }
        return events
    }

    private var tooLong: SSEError { .eventTooLong(limit: maximumEventBytes) }

    /// The end of the present line's text, and where the next line begins.
    private mutating func lineEnd(isLast: Bool) -> (text: Int, next: Int)? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            if byte == 0x0A {
                scanned += 1
                return (scanned - 1, scanned)
            }
            if byte == 0x0D {
                // Whether a line feed follows is known with the next byte.
                guard scanned + 1 < buffer.count || isLast else { return nil }
                let text = scanned
                scanned += scanned + 1 < buffer.count && buffer[scanned + 1] == 0x0A ? 2 : 1
                return (text, scanned)
            }
            scanned += 1
        }
        return nil
    }

    private mutating func field(_ text: ArraySlice<UInt8>) throws(SSEError) {
        var text = text
        if isFirst, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        isFirst = false
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        var value = text[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        let field = text[..<colon]
        if field.elementsEqual("data".utf8) {
            if data == nil { data = Array(value) } else { data?.append(0x0A); data? += value }
        } else if field.elementsEqual("event".utf8) {
            guard value.isEmpty || SSEEvent.isName(value) else { throw .badName }
            name = value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
    }

    private mutating func take(from start: Int = 0, upTo end: Int) -> SSEEvent? {
        defer {
            name = nil
            data = nil
        }
        return data.map { SSEEvent(name: name, data: $0, raw: Array(buffer[start..<end])) }
    }
}
