internal import CLinux
internal import Glibc

/// Why a name has no address.
public struct HostNameError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name.
    public let name: String
    /// What the resolver said.
    public let reason: String

    /// The call, the name and the reason on one line.
    public var description: String { "getaddrinfo \(name): \(reason)" }
}

/// The addresses of names, as the host's resolver gives them.
public enum HostNames {
    /// Looks a name up (getaddrinfo(3)); blocks for as long as the resolver takes.
    ///
    /// - Parameter name: a name or a literal address.
    /// - Returns: each address once, as its 4 or 16 bytes in network order, in the resolver's order.
    /// - Throws: ``HostNameError``.
    public static func addresses(of name: String) throws(HostNameError) -> [[UInt8]] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        // Safety: the name is a NUL-terminated copy, and the list is freed below, once.
        let code = unsafe getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else {
            // Safety: gai_strerror returns a pointer to a constant string.
            throw HostNameError(name: name, reason: unsafe String(cString: gai_strerror(code)))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [[UInt8]] = []
        var entry = unsafe list
        while let next = unsafe entry {
            if let address = unsafe bytes(next.pointee), !found.contains(address) {
                found.append(address)
            }
            unsafe entry = next.pointee.ai_next
        }
        return found
    }

    private static func bytes(_ entry: addrinfo) -> [UInt8]? {
        guard let address = unsafe entry.ai_addr else { return nil }
        // Safety: getaddrinfo made ai_addr of the type that ai_family names (getaddrinfo(3)).
        switch unsafe entry.ai_family {
        case AF_INET:
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe withUnsafeBytes(of: $0.pointee.sin_addr) { unsafe Array($0) }
            }
        case AF_INET6:
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) { unsafe Array($0) }
            }
        default: return nil
        }
    }
}
