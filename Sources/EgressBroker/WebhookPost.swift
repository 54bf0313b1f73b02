internal import AsyncHTTPClient
internal import HostKernel
internal import LinuxKernel
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// One event posted to one address, as a process of its own; no broker, no key, no sandbox.
///
/// It stands here because this program alone has a client. Whoever starts it has the operator's rights and
/// the operator's own network, and ends it when it takes too long.
package enum WebhookPost {
    /// The word on the command line that asks for it.
    package static let word = "post"
    // More is no event.
    private static let largest = 1 << 20

    /// Reads an address (the first line) and what to post from standard input, posts it, and ends.
    package static func run() async -> Never {
        do {
            let input = try Descriptor.copy(ofInherited: 0).readAll(limit: largest)
            let parts = input.split(separator: 0x0A, maxSplits: 1)
            guard parts.count == 2 else { end("there is no address, or nothing to post") }
            let status = try await post(parts[1], to: String(decoding: parts[0], as: UTF8.self))
            guard (200..<300).contains(status) else { end("it answered \(status)") }
        } catch {
            end("\(error)")
        }
        CurrentProcess.exitNow(0)
    }

    private static func post(_ body: ArraySlice<UInt8>, to address: String) async throws -> UInt {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            // An address that leads elsewhere is not the one that was written down.
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(30)),
            proxy: nil,
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)),
            configuration: configuration
        )
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "invigilator")
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await client.execute(request, timeout: .seconds(60))
        try await client.shutdown()
        return response.status.code
    }

    // The address may hold a secret, and is not repeated.
    private static func end(_ reason: String) -> Never {
        Complaint.print(
            operation: "post an event",
            location: "notify.webhook",
            reason: reason,
            remedy: "look at the address, and at the way there"
        )
        CurrentProcess.exitNow(1)
    }
}
