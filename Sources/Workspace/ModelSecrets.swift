internal import HostKernel
internal import LinuxKernel
internal import ModelDialects

/// What the root phase reads for one endpoint, by the endpoint's name.
public struct ModelSecrets: Sendable {
    /// The key of each endpoint that has one.
    public let keys: [String: ModelKey]
    /// The certificates to trust, as PEM text, of each endpoint that names a file of them.
    public let trust: [String: String]

    // It travels to the broker in one packet of a socket, with everything else.
    private static let longestTrust = 96 << 10

    /// Reads keys and certificates of every endpoint that is asked; where the coding agent's answers
    /// are replayed, its own is not.
    ///
    /// - Parameters:
    ///   - models: the settings.
    ///   - host: whose files are trusted, and the environment.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)``.
    public init(of models: ModelSettings, on host: ModelKeyHost) throws(WorkspaceError) {
        var keys: [String: ModelKey] = [:]
        var trust: [String: String] = [:]
        let asked = models.askedEndpoints
        for endpoint in models.endpoints where asked.contains(endpoint.name) {
            if let source = endpoint.key {
                keys[endpoint.name] = try ModelKey(
                    reading: source,
                    for: endpoint.upstream.url.text,
                    on: host
                )
            }
            if let path = endpoint.upstream.trustFile {
                trust[endpoint.name] = try Self.certificates(path, host.rights)
            }
        }
        self.keys = keys
        self.trust = trust
    }

    private static func certificates(
        _ path: String,
        _ rights: FileRights
    ) throws(WorkspaceError) -> String {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try rights.perform { () throws(SystemError) in
                try Descriptor.openWithoutLinks(path, [.read, .nonBlocking])
            }
            bytes = try file.readAll(limit: longestTrust)
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
    /// The names of the endpoints that are asked: a replay answers the coding agent, and needs no key
    /// for it.
    fileprivate var askedEndpoints: Set<String> {
        var roles = Set(ModelRole.allCases)
        if case .replay = cassette { roles.remove(.codingAgent) }
        return Set(roles.compactMap { endpoint(of: $0)?.name })
    }
}
