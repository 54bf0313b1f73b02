internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

extension Descriptor {
    /// Gives the open file up to a library that keeps descriptors by their number.
    ///
    /// The one place where a number leaves the kernel layers, for the broker's event loop: SwiftNIO
    /// adopts a listening socket by its number and closes it with its channel. The caller hands the
    /// number to that library at once and does nothing else with it.
    ///
    /// - Returns: the number of a second, close-on-exec descriptor of the same open file, which the
    ///   receiver closes; this one is closed.
    /// - Throws: ``SystemError``; EMFILE when the table is full.
    public consuming func releasedNumber() throws(SystemError) -> CInt {
        // A type of another module cannot be taken apart, so its deinit closes the original.
        let number = self.number
        return CInt(try result("fcntl") { clx_dup_at_least(number, 3) })
    }
}
