/// Where requests go: one spelling of scheme, host, port and base path, and no second reading.
///
/// A base path stands where the provider's own programs have it: with `/v1` for OpenAI, without for
/// Anthropic and Gemini; ``path(of:model:)`` takes care of both.
public struct UpstreamName: Sendable, Equatable, Hashable {
    /// Whether the connection is encrypted (`https`).
    public let isSecure: Bool
    /// The host, in lower case: letters, digits, hyphens and dots, or an IPv4 address.
    public let host: String
    /// The port, 1 to 65535.
    public let port: Int
    /// The path that stands before that of a request: empty, or `/` and segments.
    public let basePath: String

    /// Reads an upstream: `https://HOST[:PORT][/BASE/PATH]`, or `http://…` for a server that the
    /// operator runs without encryption.
    ///
    /// - Parameter text: the name.
    /// - Throws: ``UpstreamNameError`` where it is not in its one spelling.
    public init(parsing text: String) throws(UpstreamNameError) {
        guard text.utf8.count <= 600 else { throw UpstreamNameError(.tooLong) }
        guard text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw UpstreamNameError(.foreignByte)
        }
        let bytes = Array(text.utf8)
        let rest: ArraySlice<UInt8>
        if bytes.starts(with: "https://".utf8) {
            isSecure = true
            rest = bytes.dropFirst(8)
        } else if bytes.starts(with: "http://".utf8) {
            isSecure = false
            rest = bytes.dropFirst(7)
        } else {
            throw UpstreamNameError(.scheme)
        }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let authority = rest[..<slash]
        let colon = authority.firstIndex(of: UInt8(ascii: ":"))
        host = try Self.host(authority[..<(colon ?? authority.endIndex)])
        let usual = isSecure ? 443 : 80
        port =
            try colon.map { colon throws(UpstreamNameError) in
                try Self.port(authority[(colon + 1)...], usual: usual)
            } ?? usual
        basePath = try Self.path(rest[slash...])
    }

    /// The one spelling.
    public var text: String {
        let scheme = isSecure ? "https" : "http"
        let usual = isSecure ? 443 : 80
        return "\(scheme)://\(host)" + (port == usual ? "" : ":\(port)") + basePath
    }

    /// The request target of a route at this upstream.
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - model: the model's name upstream, which Gemini has in the path.
    /// - Returns: the target, or nothing where the route does not go upstream or the model's name
    ///   is no segment of a path.
    public func path(of route: Route, model: String) -> String? {
        let isSegment = !model.isEmpty && model.utf8.allSatisfy(Self.isPathByte)
        switch route {
        case .generate(.openAIChat): return (openAIBase) + "/chat/completions"
        case .generate(.openAIResponses): return openAIBase + "/responses"
        case .generate(.anthropicMessages): return base("/v1") + "/messages"
        case .countTokens(.anthropicMessages): return base("/v1") + "/messages/count_tokens"
        case .geminiGenerate(_, let isStreaming):
            guard isSegment else { return nil }
            let name = isStreaming ? "streamGenerateContent?alt=sse" : "generateContent"
            return base("/v1beta") + "/models/\(model):\(name)"
        case .geminiCountTokens:
            guard isSegment else { return nil }
            return base("/v1beta") + "/models/\(model):countTokens"
        case .generate(.geminiGenerate), .countTokens(.openAIChat), .countTokens(.openAIResponses),
            .countTokens(.geminiGenerate), .listModels, .reachability:
            return nil
        }
    }

    private var openAIBase: String { basePath.isEmpty ? "/v1" : basePath }

    private func base(_ version: String) -> String {
        basePath.hasSuffix("/v1") || basePath.hasSuffix("/v1beta") ? basePath : basePath + version
    }
}

// MARK: - the parts

extension UpstreamName {
    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte | 0x20) && byte >= 0x41
            || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }

    private static func host(_ text: ArraySlice<UInt8>) throws(UpstreamNameError) -> String {
        guard !text.isEmpty, text.count <= 253 else { throw UpstreamNameError(.host) }
        let labels = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels { try check(label) }
        guard let last = labels.last else { throw UpstreamNameError(.host) }
        // A host whose last label looks like a number is an address, and an address has one form.
        let isNumeric = last.allSatisfy(isDigit) || last.starts(with: "0x".utf8)
        if isNumeric { try checkAddress(labels) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func check(_ label: ArraySlice<UInt8>) throws(UpstreamNameError) {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen,
            label.allSatisfy({ isDigit($0) || isLetter($0) || $0 == hyphen })
        else { throw UpstreamNameError(.host) }
        // Hyphens in the third and fourth place are kept for encodings (RFC 5891, section 4.2.3.1).
        let isEncoded = label.count >= 4 && label.dropFirst(2).prefix(2).elementsEqual("--".utf8)
        guard !isEncoded || label.starts(with: "xn--".utf8) && label.count > 4 else {
            throw UpstreamNameError(.host)
        }
    }

    private static func checkAddress(
        _ labels: [ArraySlice<UInt8>]
    ) throws(UpstreamNameError) {
        guard labels.count == 4 else { throw UpstreamNameError(.address) }
        for label in labels {
            guard label.count <= 3, label.allSatisfy(isDigit),
                label.count == 1 || label.first != UInt8(ascii: "0"),
                let number = Int(String(decoding: label, as: UTF8.self)), number <= 255
            else { throw UpstreamNameError(.address) }
        }
    }

    private static func port(
        _ text: ArraySlice<UInt8>,
        usual: Int
    ) throws(UpstreamNameError) -> Int {
        guard (1...5).contains(text.count), text.allSatisfy(isDigit),
            text.first != UInt8(ascii: "0"),
            let port = Int(String(decoding: text, as: UTF8.self)), port <= 65_535, port != usual
        else { throw UpstreamNameError(.port) }
        return port
    }

    private static func path(_ text: ArraySlice<UInt8>) throws(UpstreamNameError) -> String {
        guard !text.isEmpty else { return "" }
        guard text.count <= 200 else { throw UpstreamNameError(.path) }
        let segments = text.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for segment in segments {
            guard !segment.isEmpty, !segment.elementsEqual(".".utf8),
                !segment.elementsEqual("..".utf8), segment.allSatisfy(isPathByte)
            else { throw UpstreamNameError(.path) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Why a text is no upstream's name.
public struct UpstreamNameError: Error, Sendable, Equatable {
    /// What of it is wrong.
    public enum Fault: String, Sendable, CaseIterable {
        /// More than 600 bytes.
        case tooLong = "it is longer than 600 bytes"
        /// A byte that no name has.
        case foreignByte = "it has a byte outside printable ASCII"
        /// Neither `https://` nor `http://`.
        case scheme = "it begins neither with https:// nor with http://"
        /// No host name in lower case.
        case host = "the host is no name of lower-case letters, digits, hyphens and single dots"
        /// An address in another form than four decimal numbers.
        case address = "the address is not four decimal numbers without leading zeros"
        /// No port, or the usual one.
        case port = "the port is no number from 1 to 65535, or is the scheme's own"
        /// A base path that has a second reading.
        case path = "the path has an empty, dotted or foreign segment, or a slash at its end"
    }

    /// What of it is wrong.
    public let fault: Fault

    init(_ fault: Fault) { self.fault = fault }
}

extension UpstreamNameError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        "read an upstream: url: \(fault.rawValue); remedy: write it as"
            + " https://HOST[:PORT][/BASE/PATH]"
    }
}
