internal import HostKernel
internal import LinuxKernel

/// What the root phase reads for one endpoint, by the endpoint's name.
public struct ModelSecrets: Sendable {
    /// The key of each endpoint that has one.
    public let keys: [String: ModelKey]
    /// The certificates to trust, as PEM text, of each endpoint that names a file of them.
    public let trust: [String: String]

    // It travels to the broker in one packet of a socket, with everything else.
    private static let longestTrust = 96 << 10

    /// Reads keys and certificates of every endpoint; of none where answers are replayed.
    ///
    /// - Parameters:
    ///   - models: the settings.
    ///   - host: whose files are trusted, and the environment.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)``.
    public init(of models: ModelSettings, on host: ModelKeyHost) throws(WorkspaceError) {
        var keys: [String: ModelKey] = [:]
        var trust: [String: String] = [:]
        for endpoint in models.endpoints where !models.isReplayed {
            if let source = endpoint.key {
                keys[endpoint.name] = try ModelKey(reading: source, on: host)
            }
            if let path = endpoint.upstream.trustFile {
                trust[endpoint.name] = try Self.certificates(path)
            }
        }
        self.keys = keys
        self.trust = trust
    }

    private static func certificates(_ path: String) throws(WorkspaceError) -> String {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Descriptor.openWithoutLinks(path, [.read, .nonBlocking])
                .readAll(limit: longestTrust)
        } catch {
            throw refused(path, "\(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self),
            text.contains("-----BEGIN CERTIFICATE-----")
        else { throw refused(path, "it holds no certificate in PEM form") }
        return text
    }

    private static func refused(_ path: String, _ reason: String) -> WorkspaceError {
        .setting(
            operation: "read the certificates of an upstream",
            location: path,
            reason: reason,
            remedy: "name a file of PEM certificates by a path without symbolic links"
        )
    }
}

extension ModelSettings {
    /// Whether no upstream is ever asked, so that no key is needed.
    public var isReplayed: Bool {
        if case .replay = cassette { true } else { false }
    }
}
