internal import AsyncHTTPClient
internal import NIOCore

/// The parts of a provider's answer, as long as the call may last.
///
/// The client limits only how long a provider is silent: one that says a byte a minute would never be.
struct AnswerParts {
    private var parts: HTTPClientResponse.Body.AsyncIterator
    private let deadline: NIODeadline

    init(_ body: HTTPClientResponse.Body, until deadline: NIODeadline) {
        parts = body.makeAsyncIterator()
        self.deadline = deadline
    }

    /// The next part; nothing at the end.
    ///
    /// - Throws: ``UpstreamError/overtime``, or what the client says.
    @concurrent mutating func next() async throws -> ByteBuffer? {
        guard let part = try await parts.next() else { return nil }
        guard NIODeadline.now() < deadline else { throw UpstreamError.overtime }
        return part
    }

    /// All that is left.
    ///
    /// - Parameter limit: the most bytes.
    /// - Returns: the bytes.
    /// - Throws: ``UpstreamError/tooLong``, or as ``next()``.
    @concurrent mutating func collect(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await next() {
            guard bytes.count + part.readableBytes <= limit else { throw UpstreamError.tooLong }
            bytes += part.readableBytesView
        }
        return bytes
    }
}
