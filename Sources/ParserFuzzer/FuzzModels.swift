// What a sandbox and a provider say to the broker.

internal import HTTPFront
internal import ModelDialects
internal import StrictJSON

extension FuzzSurface {
    private static let routes: [Route] = [
        .generate(.openAIChat), .generate(.openAIResponses), .generate(.anthropicMessages),
        .countTokens(.anthropicMessages), .geminiGenerate(model: "m", isStreaming: true),
        .geminiCountTokens(model: "m"),
    ]

    func feedModelRequest(_ bytes: [UInt8]) -> Bool {
        let pin = ModelPin(
            upstream: "u",
            dialects: Dialect.allCases,
            model: "m",
            effort: "2000",
            temperature: 0.5,
            maxOutputTokens: 4_000
        )
        var isTaken = false
        for route in Self.routes {
            do throws(RequestRefusal) {
                let request = try ModelRequest.parse(
                    bytes,
                    route: route,
                    pins: [pin],
                    policy: RequestPolicy(isSealed: true)
                )
                isTaken = true
                precondition(request.outputLimit <= 4_000, "no answer is longer than the pin's")
                check(request)
            } catch {
                precondition(!error.reason.isEmpty && error.event.detail.utf8.count <= 200)
            }
        }
        return isTaken
    }

    private func check(_ request: ModelRequest) {
        do throws(RequestRefusal) {
            let again = try ModelRequest.parse(
                request.bodyBytes,
                route: request.route,
                pins: [request.pin],
                policy: RequestPolicy(isSealed: true, unknownFields: .refuse)
            )
            precondition(again.body == request.body, "what was rebuilt is rebuilt into itself")
            precondition(again.events.isEmpty, "what was rebuilt asks for nothing more")
        } catch {
            // The canonical spelling may be longer than the limit that the first one met.
            precondition(error.kind == .tooLarge, "what was rebuilt passes: \(error)")
        }
    }

    func feedModelAnswer(_ bytes: [UInt8]) -> Bool {
        let whole = events(of: bytes, cut: bytes.count)
        precondition(
            events(of: bytes, cut: 1) == whole,
            "a stream means the same however it is cut"
        )
        for dialect in Dialect.allCases {
            var meter = UsageMeter(dialect)
            for event in whole {
                meter.event(event)
                let wire = ResponseScrub.event(event, dialect: dialect, isSealed: true)
                precondition(
                    wire.isEmpty || events(of: wire, cut: wire.count).count == 1,
                    "an event stays one event"
                )
            }
            precondition(meter.usage.total >= 0, "a count is a count")
        }
        return !whole.isEmpty
    }

    private func events(of bytes: [UInt8], cut: Int) -> [SSEEvent] {
        var splitter = SSESplitter(maximumEventBytes: 1 << 16)
        var events: [SSEEvent] = []
        do throws(SSEError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                events += try splitter.feed(rest.prefix(cut))
                rest = rest.dropFirst(cut)
            }
            if let last = try splitter.finish() { events.append(last) }
            return events
        } catch {
            // How many events came before a fault hangs on the cuts; the fault itself does not.
            return []
        }
    }

    func feedHTTPRequests(_ bytes: [UInt8]) -> Bool {
        let limits = HTTPLimits(headBytes: 1 << 12, headerCount: 20, targetBytes: 256)
        let whole = Conversation(bytes, cut: bytes.count, limits: limits)
        for cut in [1, 7] {
            precondition(
                Conversation(bytes, cut: cut, limits: limits) == whole,
                "requests mean the same however they are cut"
            )
        }
        for request in whole.requests {
            precondition(request.target.utf8.first == UInt8(ascii: "/"), "a target is a path")
            precondition(request.target.utf8.count <= limits.targetBytes, "a target is bounded")
            precondition(request.headers.count <= limits.headerCount, "fields are bounded")
            precondition(request.body.isEmpty || request.method == "POST", "only POST has a body")
            precondition(request.value(of: "host") == "127.0.0.1:8377", "a request is for us")
            // What was read, written out plainly, is read as the same: there is no second meaning.
            let plain = Conversation(Self.plain(request), cut: .max, limits: limits)
            precondition(plain.fault == nil && plain.requests.count == 1, "it is one request")
            precondition(plain.requests[0].body == request.body, "a body has one length")
            precondition(plain.requests[0].target == request.target, "a target has one spelling")
        }
        return !whole.requests.isEmpty
    }

    private static func plain(_ request: HTTPRequest) -> [UInt8] {
        var head = "\(request.method) \(request.target) HTTP/1.1\r\nhost: 127.0.0.1:8377\r\n"
        if request.method == "POST" { head += "content-length: \(request.body.count)\r\n" }
        return Array((head + "\r\n").utf8) + request.body
    }

    /// What a reader makes of the bytes of one connection.
    private struct Conversation: Equatable {
        var requests: [HTTPRequest] = []
        var fault: HTTPFault?

        init(_ bytes: [UInt8], cut: Int, limits: HTTPLimits) {
            var reader = HTTPRequestReader(limits: limits, hosts: ["127.0.0.1:8377"])
            do throws(HTTPFault) {
                var rest = bytes[...]
                while !rest.isEmpty {
                    reader.feed(rest.prefix(cut))
                    rest = rest.dropFirst(cut)
                    while let request = try reader.next() { requests.append(request) }
                }
            } catch {
                fault = error
            }
        }
    }

    func feedUpstreamName(_ bytes: [UInt8]) -> Bool {
        do throws(UpstreamNameError) {
            let text = String(decoding: bytes, as: UTF8.self)
            let name = try UpstreamName(parsing: text)
            precondition(name.text == text, "an upstream has one spelling")
            precondition((1...65_535).contains(name.port), "a port is a port")
            return true
        } catch {
            return false
        }
    }
}
