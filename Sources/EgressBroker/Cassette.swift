internal import AsyncHTTPClient
internal import BrokerProtocol
internal import Crypto
internal import LinuxKernel
internal import ModelDialects
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJSON
internal import Synchronization

/// Answers of providers to the coding agent on file, a JSON value a line, found by the SHA-256 of the
/// request's key; the first line is the supervisor's.
///
/// A recorder appends what providers answered; a player answers from the file, and never asks
/// anybody.
final class Cassette: Sendable {
    /// One answer.
    struct Entry: Sendable, Equatable {
        let status: Int
        let contentType: String
        let body: String
    }

    private struct State: ~Copyable {
        var file: Descriptor?
        var entries: [String: [Entry]] = [:]
        var played: [String: Int] = [:]
    }

    let mode: CassetteMode
    private let state: Mutex<State>
    private let pool: NIOThreadPool

    /// The role that it speaks to.
    ///
    /// Exams are never played: of sealed ones nothing is kept, and a candidate must be examined by
    /// the same model in either split.
    static let role = ModelRole.codingAgent

    // What a cassette may hold in memory while it is played; requests, which grow with the talk, are
    // read and left.
    private static let mostOfAnswers = 256 << 20
    // A request and an answer, both at their longest and as a line of ASCII.
    private static let limits = JSONLimits(
        maximumBytes: 128 << 20,
        maximumDepth: ModelRequest.limits.maximumDepth + 1,
        maximumNodes: ModelRequest.limits.maximumNodes + 100,
        maximumStringBytes: 64 << 20
    )

    /// Adopts the file; a player reads it whole, wherever another reader left it.
    init(
        _ mode: CassetteMode,
        _ handed: HandedDescriptor?,
        pool: NIOThreadPool
    ) throws(BrokerFailure) {
        self.mode = mode
        self.pool = pool
        guard let file = handed?.take() else {
            throw Self.failure("no file came along", "send its descriptor with configure")
        }
        guard mode == .replay else {
            state = Mutex(State(file: file))
            return
        }
        state = Mutex(State(file: nil, entries: try Self.read(file)))
    }

    /// The name of a request on a cassette.
    static func name(of request: ModelRequest) -> String {
        SHA256.hash(data: request.cassetteKey)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The answer to a request; the same request again gets the next one recorded for it, and the
    /// last one from then on.
    func play(_ request: ModelRequest) -> HTTPClientResponse? {
        let name = Self.name(of: request)
        let entry = state.withLock { state -> Entry? in
            guard let entries = state.entries[name] else { return nil }
            let turn = state.played[name, default: 0]
            state.played[name] = turn + 1
            return entries[min(turn, entries.count - 1)]
        }
        return entry.map {
            HTTPClientResponse(
                status: HTTPResponseStatus(statusCode: $0.status),
                headers: ["content-type": $0.contentType],
                body: .bytes(ByteBuffer(string: $0.body))
            )
        }
    }

    /// Appends an answer, and returns when it is written.
    ///
    /// - Throws: ``SystemError`` where the file takes no more.
    func record(_ request: ModelRequest, _ entry: Entry) async throws {
        let value: JSONValue = [
            "key": .string(Self.name(of: request)), "dialect": .string(request.dialect.rawValue),
            "model": .string(request.pin.model), "request": request.body,
            "status": JSONValue(entry.status), "content_type": .string(entry.contentType),
            "body": .string(entry.body),
        ]
        let line = value.canonicalBytes + [0x0A]
        let failure = await pool.finish { [self] () -> SystemError? in
            do throws(SystemError) {
                try state.withLock { state throws(SystemError) in try state.file?.writeAll(line) }
                return nil
            } catch { return error }
        }
        if let failure = failure ?? nil { throw failure }
    }

    private static func read(
        _ file: borrowing Descriptor
    ) throws(BrokerFailure) -> [String: [Entry]] {
        var entries: [String: [Entry]] = [:]
        var (number, kept) = (0, 0)
        var line: [UInt8] = []
        func take() throws(BrokerFailure) {
            number += 1
            defer { line.removeAll(keepingCapacity: true) }
            guard !line.isEmpty, let (key, entry) = try Self.entry(line, number) else { return }
            kept += entry.body.utf8.count
            guard kept <= mostOfAnswers else {
                throw failure("its answers have more than \(mostOfAnswers >> 20) MiB", "shorten it")
            }
            entries[key, default: []].append(entry)
        }
        // A broker that takes another's place is handed the same open file, read to its end.
        var part = try bytes { () throws(SystemError) in try file.contents(limit: 1 << 20) }
        while !part.isEmpty {
            var rest = part[...]
            while let end = rest.firstIndex(of: 0x0A) {
                line += rest[..<end]
                rest = rest[(end + 1)...]
                try take()
            }
            line += rest
            guard line.count <= limits.maximumBytes else {
                throw failure("line \(number + 1) is too long", "record it again")
            }
            part = try bytes { () throws(SystemError) in try file.read(atMost: 1 << 20) }
        }
        if !line.isEmpty { try take() }
        return entries
    }

    private static func bytes(
        _ body: () throws(SystemError) -> [UInt8]
    ) throws(BrokerFailure) -> [UInt8] {
        do throws(SystemError) { return try body() } catch {
            throw failure("\(error)", "send a readable file")
        }
    }

    // Nothing for the supervisor's line.
    private static func entry(
        _ line: [UInt8],
        _ number: Int
    ) throws(BrokerFailure) -> (String, Entry)? {
        do throws(JSONError) {
            let value = try JSONValue(parsing: line, limits: limits)
            if number == 1, value["schema"] != nil { return nil }
            if let key = value["key"]?.stringValue, let status = value["status"]?.intValue,
                let type = value["content_type"]?.stringValue,
                let body = value["body"]?.stringValue
            {
                return (key, Entry(status: status, contentType: type, body: body))
            }
        } catch {
            // The text of the error may quote what was said.
        }
        throw failure(
            "line \(number) is no recorded answer",
            "remove the line if it is the last and was cut off; otherwise record it again"
        )
    }

    private static func failure(_ reason: String, _ remedy: String) -> BrokerFailure {
        BrokerFailure(
            operation: "open the cassette",
            location: "models.cassette",
            reason: reason,
            remedy: remedy
        )
    }
}
