/// What programs and images differ in between instruction sets.
public struct Machine: Sendable, Equatable {
    /// Its name in the triplets of distributions and in the names of wheels.
    public let name: String
    /// Its number in an ELF header (`e_machine`, elf(5)).
    public let number: UInt16
    /// Where glibc's dynamic loader lies, as programs name it (the processor's ELF supplement).
    public let loader: String

    /// x86-64.
    public static let x86 = Machine(
        name: "x86_64",
        number: 62,
        loader: "/lib64/ld-linux-x86-64.so.2"
    )

    /// arm64.
    public static let arm = Machine(
        name: "aarch64",
        number: 183,
        loader: "/lib/ld-linux-aarch64.so.1"
    )

    /// The one that this program was made for.
    public static var native: Machine {
        #if arch(arm64)
        .arm
        #else
        .x86
        #endif
    }

    /// Where the dynamic loader looks without being told, most likely places first.
    public var libraryDirectories: [String] {
        [
            "/lib/\(name)-linux-gnu", "/usr/lib/\(name)-linux-gnu", "/lib64", "/usr/lib64", "/lib",
            "/usr/lib",
        ]
    }

    /// Whether a file begins as a 64-bit little-endian ELF file of this machine does.
    ///
    /// - Parameter start: the first 20 bytes, or more.
    /// - Returns: whether it does.
    public func runs(_ start: [UInt8]) -> Bool {
        ELFFile.isStart(start) && start.count >= 20 && start[4] == 2 && start[5] == 1
            && UInt16(start[18]) | UInt16(start[19]) << 8 == number
    }
}
