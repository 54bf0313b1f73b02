internal import NIOCore

/// Writes one answer to the sandbox, waiting where the sandbox is slow to take it.
struct ReplyWriter: Sendable {
    let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    let channel: any Channel
    let stalled: TimeAmount
    let isLast: Bool
    let isHeadOnly: Bool

    /// Writes a head, and the body where it is whole.
    func write(_ reply: HTTPReply) async throws {
        let shown = isHeadOnly ? HTTPReply(reply.status, fields: reply.fields, .none) : reply
        try await write(shown.bytes(isLast: isLast))
    }

    /// Writes a part of a body of chunks.
    func write(chunk bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        try await write(HTTPReply.chunk(bytes))
    }

    /// Ends a body of chunks.
    func end() async throws {
        try await write(HTTPReply.lastChunk)
    }

    // A channel that takes more needs no watching; timers on every chunk would cost more than the
    // chunks.
    private func write(_ buffer: ByteBuffer) async throws {
        guard !channel.isWritable else { return try await outbound.write(buffer) }
        var watchdog = Watchdog(channel)
        watchdog.set(stalled)
        defer { watchdog.stop() }
        try await outbound.write(buffer)
    }
}
