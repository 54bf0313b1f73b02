internal import HostKernel
internal import NIOPosix

/// Turns the name of a provider into addresses; a value, so that tests can answer in its place.
package struct NameResolver: Sendable {
    /// The addresses of a name, each as its 4 or 16 bytes.
    package let addresses: @Sendable (String) async throws -> [[UInt8]]

    /// Makes a resolver.
    package init(_ addresses: @escaping @Sendable (String) async throws -> [[UInt8]]) {
        self.addresses = addresses
    }

    /// The host's resolver, which blocks, on threads of its own.
    static func host(on pool: NIOThreadPool) -> NameResolver {
        NameResolver { name in
            try await pool.runIfActive { try HostNames.addresses(of: name) }
        }
    }
}

/// The text of an address.
enum AddressText {
    /// The bytes of an IPv4 address in dotted numbers; nil for a name.
    static func literal(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        let bytes = parts.compactMap(\.self)
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// Dotted numbers for 4 bytes, eight hexadecimal groups for 16.
    static func of(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2)
            .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }
}
