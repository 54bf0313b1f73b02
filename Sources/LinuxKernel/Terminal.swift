internal import CLinux

/// A pseudo-terminal of a devpts that we just mounted (pty(7)).
public enum PseudoTerminal {
    /// Opens a master of the devpts whose `ptmx` lies in a directory, unlocked.
    ///
    /// - Throws: ``SystemError``.
    public static func openMaster(
        in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        let master = try directory.openBeneath("ptmx", [.readWrite])
        let number = master.number
        try result("ioctl", "TIOCSPTLCK") { clx_terminal_unlock(number) }
        return master
    }

    /// Opens the other side of a master without any path look-up (TIOCGPTPEER).
    ///
    /// - Throws: ``SystemError``.
    public static func openPeer(of master: borrowing Descriptor) throws(SystemError) -> Descriptor {
        let number = master.number
        return Descriptor(
            adopting: try result("ioctl", "TIOCGPTPEER") { clx_terminal_peer(number) }
        )
    }

    /// Makes a terminal the controlling one of the session that the caller leads.
    ///
    /// - Throws: ``SystemError``.
    public static func control(_ terminal: borrowing Descriptor) throws(SystemError) {
        let number = terminal.number
        try result("ioctl", "TIOCSCTTY") { clx_terminal_control(number) }
    }

    /// Sets the window size that programs on the terminal see.
    ///
    /// - Throws: ``SystemError``.
    public static func resize(
        _ master: borrowing Descriptor,
        rows: UInt16,
        columns: UInt16
    ) throws(SystemError) {
        let number = master.number
        try result("ioctl", "TIOCSWINSZ") { clx_terminal_resize(number, rows, columns) }
    }
}
