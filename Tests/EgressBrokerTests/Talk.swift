import NIOCore
import NIOPosix

/// One connection of a sandbox, as bytes.
struct Talk {
    /// Sends bytes and reads until the other end closes, or an answer of some kind is whole.
    ///
    /// - Parameters:
    ///   - port: the listener's port on loopback.
    ///   - bytes: what is sent.
    ///   - isDone: whether what came is enough.
    /// - Returns: what came.
    /// - Throws: where nobody listens.
    static func raw(
        _ port: Int,
        _ bytes: [UInt8],
        until isDone: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws -> String {
        let channel = try await ClientBootstrap(group: BrokerBench.group)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        // Nothing here waits for ever.
        let timer = channel.channel.eventLoop.scheduleTask(in: .seconds(20)) {
            channel.channel.close(promise: nil)
        }
        defer { timer.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes))
            var text = ""
            do {
                for try await part in inbound {
                    text += String(buffer: part)
                    if isDone(text) { break }
                }
            } catch is IOError {
                // A reset is an end, too.
            }
            return text
        }
    }

    /// Sends one request and reads its answer, which ends with the connection.
    static func post(_ port: Int, _ path: String, _ body: String) async throws -> Answer {
        Answer(try await raw(port, request(port, path, body, isLast: true)))
    }

    /// The bytes of a request.
    static func request(
        _ port: Int,
        _ path: String,
        _ body: String,
        fields: [String] = [],
        isLast: Bool = false
    ) -> [UInt8] {
        var lines = [
            "POST \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Content-Type: application/json",
            "Authorization: Bearer dummy", "Content-Length: \(body.utf8.count)",
        ]
        lines += fields
        if isLast { lines.append("Connection: close") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}

/// An answer, cut into its parts; chunks are joined.
struct Answer {
    let status: Int
    let head: String
    let body: String

    init(_ text: String) {
        let parts = text.split(
            separator: "\r\n\r\n",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        head = String(parts.first ?? "").lowercased()
        status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        let rest = parts.count > 1 ? String(parts[1]) : ""
        body = head.contains("transfer-encoding: chunked") ? Self.joined(rest) : rest
    }

    private static func joined(_ chunks: String) -> String {
        var rest = Array(chunks.utf8)[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0D) {
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) ?? 0
            guard size > 0 else { break }
            rest = rest[(end + 2)...]
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return String(decoding: body, as: UTF8.self)
    }
}

/// Bodies that the tests send.
enum Asked {
    static let chat = #"{"model":"fast","messages":[{"role":"user","content":"hello there"}]}"#
    static let chatStream =
        #"{"model":"fast","stream":true,"messages":[{"role":"user","content":"hello there"}]}"#
    static let responsesStream = #"{"model":"fast","stream":true,"input":"hello there"}"#
    static let gemini = #"{"contents":[{"role":"user","parts":[{"text":"hello there"}]}]}"#
    static let messagesStream = """
        {"model":"pinned","max_tokens":50,"stream":true,\
        "messages":[{"role":"user","content":"hello there"}]}
        """
}
