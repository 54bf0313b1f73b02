internal import ModelDialects
internal import StrictYAML

/// Reads one upstream of the section `models`.
struct ModelUpstreamReader {
    private let url: Placed<String>?
    private let dialects: [Dialect]
    private let key: ModelKeySource?
    private let plainHTTP: Placed<Bool>?
    private let addresses: Placed<ModelUpstream.Addresses>?
    private let trust: Placed<String>?

    /// Takes every key of the upstream.
    init(_ entry: inout MappingReader) {
        url = entry.required("url") { $0.string("url") }
        dialects = Self.readDialects(&entry)
        key = ModelKeySource.read(&entry)
        plainHTTP = entry.bool("plain-http")
        addresses = entry.word("addresses", of: ModelUpstream.Addresses.self)
        trust = entry.string("trust")
    }

    /// The upstream, checked; what is wrong with it was refused.
    func upstream(_ entry: MappingReader) -> ModelUpstream? {
        guard let url, let name = parsed(url, entry) else { return nil }
        checkEncryption(of: name, url.line, entry)
        checkAddresses(of: name, url.line, entry)
        if let trust, !trust.value.hasPrefix("/") {
            entry.refuse(
                "trust",
                line: trust.line,
                "the path is not absolute",
                remedy: "write the full path of a file of PEM certificates"
            )
        }
        return ModelUpstream(
            url: name,
            dialects: dialects,
            key: key,
            isPlainHTTP: plainHTTP?.value ?? false,
            addresses: addresses?.value ?? .public,
            trustFile: trust?.value
        )
    }

    private static func readDialects(_ entry: inout MappingReader) -> [Dialect] {
        entry.required("dialects") { $0.dialects("dialects") }?.value ?? []
    }

    private func parsed(_ url: Placed<String>, _ entry: MappingReader) -> UpstreamName? {
        do throws(UpstreamNameError) { return try UpstreamName(parsing: url.value) } catch {
            entry.refuse(
                "url",
                line: url.line,
                error.fault.rawValue,
                remedy: "write https://HOST, with a port and a base path where there are some"
            )
            return nil
        }
    }

    // MARK: - what contradicts itself

    private func checkEncryption(of name: UpstreamName, _ line: Int, _ entry: MappingReader) {
        let isPlain = plainHTTP?.value ?? false
        guard !name.isSecure else {
            if let plainHTTP, isPlain {
                entry.refuse(
                    "plain-http",
                    line: plainHTTP.line,
                    "the address begins with https",
                    remedy: "remove the key, or write http:// if the server speaks no TLS"
                )
            }
            return
        }
        if !isPlain {
            entry.refuse(
                "url",
                line: line,
                "requests would travel without encryption",
                remedy: "write https://, or add plain-http: true for a server of your own"
            )
        } else if key != nil, addresses?.value != .any {
            entry.refuse(
                "key",
                line: line,
                "the key would cross the public network in the clear",
                remedy: "write https://, or addresses: any for a server of your own network"
            )
        }
        if let trust {
            entry.refuse(
                "trust",
                line: trust.line,
                "without TLS there is no certificate to trust",
                remedy: "remove the key, or write https://"
            )
        }
    }

    private func checkAddresses(of name: UpstreamName, _ line: Int, _ entry: MappingReader) {
        guard name.isOfThisNetwork, addresses?.value != .any else { return }
        entry.refuse(
            "url",
            line: line,
            "it names this host or a private network",
            remedy: "add addresses: any if the model is served there"
        )
    }
}

extension UpstreamName {
    /// Whether this is plainly no address of the public internet.
    ///
    /// What a name stands for is looked at when it is connected to; this only says early what would
    /// be refused then.
    fileprivate var isOfThisNetwork: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let numbers = host.split(separator: ".").compactMap { UInt8($0) }
        guard numbers.count == 4, host.utf8.allSatisfy({ $0 < 0x3A }) else { return false }
        return !UpstreamName.isPublic(numbers)
    }
}
