internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// A Unix stream listener at a path (unix(7)).
public struct UnixListener: ~Copyable {
    /// Readable when somebody waits.
    public let descriptor: Descriptor

    /// Binds a new socket file and listens, non-blocking.
    ///
    /// - Parameters:
    ///   - path: at most 107 bytes; `Descriptor.procPath` keeps it short.
    ///   - backlog: how many may wait to be accepted.
    /// - Throws: ``SystemError``.
    public init(path: String, backlog: Int32 = 16) throws(SystemError) {
        let socket = Descriptor(adopting: try result("socket") { clx_unix_listener() })
        let number = socket.number
        // What it accepts inherits this.
        try socket.refuseDescriptors()
        // Safety: a NUL-terminated copy for the length of the call.
        try result("bind", path) { unsafe clx_unix_bind(number, path, backlog) }
        descriptor = socket
    }

    /// Accepts one connection, non-blocking; nil when nobody waits.
    ///
    /// - Throws: ``SystemError``.
    public borrowing func accept() throws(SystemError) -> Descriptor? {
        let number = descriptor.number
        do throws(SystemError) {
            return Descriptor(adopting: try result("accept4") { clx_accept(number) })
        } catch {
            guard error.isWouldBlock || error.number == ECONNABORTED else { throw error }
            return nil
        }
    }

    /// Connects to a listener's path, as its client; neither this nor the socket ever waits.
    ///
    /// - Parameter path: at most 107 bytes; `Descriptor.procPath` keeps it short.
    /// - Returns: the connected socket.
    /// - Throws: ``SystemError``; ``SystemError/isWouldBlock`` where too many wait to be accepted.
    public static func connect(path: String) throws(SystemError) -> Descriptor {
        // Safety: as above.
        Descriptor(adopting: try result("connect", path) { unsafe clx_unix_connect(path) })
    }
}

extension Descriptor {
    /// Ends both directions of a connected socket, for every holder of it (shutdown(2)).
    ///
    /// - Throws: ``SystemError``.
    public borrowing func shutDownSocket() throws(SystemError) {
        let socket = number
        try result("shutdown") { clx_shutdown(socket) }
    }
}
