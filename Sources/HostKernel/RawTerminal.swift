internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// A user's own terminal in raw mode, restored when this value ends.
public struct RawTerminal: ~Copyable {
    private let terminal: Descriptor
    private let saved: termios

    /// Puts a terminal into raw mode.
    ///
    /// - Throws: ``SystemError``; ENOTTY when it is none.
    public init(_ terminal: consuming Descriptor) throws(SystemError) {
        var settings = termios()
        let number = terminal.number
        // Safety: tcgetattr fills one struct termios.
        try result("tcsetattr") { unsafe clx_terminal_raw(number, &settings) }
        saved = settings
        self.terminal = consume terminal
    }

    deinit {
        // The terminal may be gone; there is nobody left to tell.
        withUnsafeSaved()
    }

    private borrowing func withUnsafeSaved() {
        var settings = saved
        // Safety: tcsetattr reads one struct termios.
        _ = unsafe clx_terminal_restore(terminal.number, &settings)
    }
}

extension PseudoTerminal {
    /// The window size of a terminal; nil when the descriptor is none.
    public static func size(
        of terminal: borrowing Descriptor
    ) -> (rows: UInt16, columns: UInt16)? {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        // Safety: the shim fills both values.
        let outcome = unsafe clx_terminal_size(terminal.number, &rows, &columns)
        return outcome < 0 ? nil : (rows, columns)
    }
}
