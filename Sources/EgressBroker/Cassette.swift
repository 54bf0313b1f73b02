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

/// Answers of providers on file, a JSON value a line, found by the SHA-256 of the request's key.
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

    // What a cassette may hold in memory while it is played.
    private static let largest = 256 << 20

    /// Adopts the file; a player reads it whole.
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

    private static func read(_ file: borrowing Descriptor) throws(BrokerFailure) -> [String:
        [Entry]]
    {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try file.readAll(limit: largest)
        } catch {
            throw failure("\(error)", "send a readable file of at most \(largest >> 20) MiB")
        }
        var entries: [String: [Entry]] = [:]
        for (index, line) in bytes.split(separator: 0x0A).enumerated() {
            guard let (key, entry) = Self.entry(Array(line)) else {
                throw failure("line \(index + 1) is no recorded answer", "record it again")
            }
            entries[key, default: []].append(entry)
        }
        return entries
    }

    private static func entry(_ line: [UInt8]) -> (String, Entry)? {
        do throws(JSONError) {
            let value = try JSONValue(parsing: line, limits: .document)
            guard let key = value["key"]?.stringValue, let status = value["status"]?.intValue,
                let type = value["content_type"]?.stringValue,
                let body = value["body"]?.stringValue
            else { return nil }
            return (key, Entry(status: status, contentType: type, body: body))
        } catch {
            return nil
        }
    }

    private static func failure(_ reason: String, _ remedy: String) -> BrokerFailure {
        BrokerFailure(
            operation: "open the cassette",
            location: "configure",
            reason: reason,
            remedy: remedy
        )
    }
}
