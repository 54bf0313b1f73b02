internal import LinuxKernel

/// The header of a CPython bytecode file (PEP 552): magic, flags, then time and size or a hash.
enum Bytecode {
    /// Whether bytecode was made from a source with this time and size.
    static func isCurrent(header: [UInt8], source: FileStatus) -> Bool {
        guard header.count == 16, word(header, 4) == 0 else { return false }
        return word(header, 8) == UInt32(truncatingIfNeeded: source.modificationSeconds)
            && word(header, 12) == UInt32(truncatingIfNeeded: source.size)
    }

    /// The file marked "hash-based, unchecked": Python then takes it without looking at the source,
    /// whose time in an image is that of the copy.
    static func unchecked(_ file: [UInt8]) -> [UInt8] {
        guard file.count >= 16 else { return file }
        var marked = file
        marked.replaceSubrange(4..<16, with: [1, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
        return marked
    }

    private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
    }
}
