/// What the dynamic loader reads of a 64-bit little-endian ELF file (elf(5), ld.so(8)).
struct ELFFile: Sendable, Equatable {
    /// `DT_NEEDED`, in order.
    let needed: [String]
    /// `DT_RUNPATH`, or `DT_RPATH` where there is none, as directories.
    let searchPath: [String]
    /// `PT_INTERP`; nil for a library or a static program.
    let interpreter: String?

    /// Reads a file's dynamic section; nil when it is no ELF file of this machine or is malformed.
    init?(_ bytes: [UInt8]) {
        let reader = ELFReader(bytes: bytes)
        guard reader.isNative, let segments = reader.segments() else { return nil }
        interpreter = segments.first { $0.kind == 3 }.flatMap { reader.text($0.offset) }
        guard let dynamic = segments.first(where: { $0.kind == 2 }) else {
            needed = []
            searchPath = []
            return
        }
        guard let tags = reader.tags(of: dynamic),
            let tableAddress = tags.first(where: { $0.tag == 5 })?.value,
            let table = reader.offset(of: tableAddress, in: segments)
        else { return nil }
        func texts(_ tag: UInt64) -> [String]? {
            let values = tags.filter { $0.tag == tag }.map(\.value)
            let found = values.compactMap { value -> String? in
                let (place, overflow) = table.addingReportingOverflow(value)
                return overflow ? nil : reader.text(place)
            }
            return found.count == values.count ? found : nil
        }
        // DT_NEEDED 1, DT_RPATH 15, DT_RUNPATH 29.
        guard let needed = texts(1), let old = texts(15), let new = texts(29) else { return nil }
        self.needed = needed
        searchPath = (new.isEmpty ? old : new).flatMap {
            $0.split(separator: ":").map(String.init)
        }
    }

    /// The file without what only debuggers and linkers read.
    ///
    /// That is section headers, and symbol and debugging sections behind the last segment. Bytes
    /// that are no ELF file are returned as they are.
    static func loadablePart(_ bytes: [UInt8]) -> [UInt8] {
        let reader = ELFReader(bytes: bytes)
        guard reader.isNative, let segments = reader.segments(),
            let tableStart = reader.integer(at: 32, as: UInt64.self),
            let size = reader.integer(at: 54, as: UInt16.self)
        else { return bytes }
        let ends = segments.map { $0.offset.addingReportingOverflow($0.size) }
        let table = tableStart.addingReportingOverflow(UInt64(size) * UInt64(segments.count))
        guard !ends.contains(where: \.overflow), !table.overflow else { return bytes }
        let end = ends.map(\.partialValue).reduce(max(64, table.partialValue), max)
        guard end < UInt64(bytes.count) else { return bytes }
        var part = Array(bytes[..<Int(end)])
        // e_shoff, e_shnum and e_shstrndx: no section headers (elf(5)).
        part.replaceSubrange(40..<48, with: [UInt8](repeating: 0, count: 8))
        part.replaceSubrange(60..<64, with: [UInt8](repeating: 0, count: 4))
        return part
    }

    /// Whether these are the first bytes of an ELF file.
    static func isStart(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46])
    }
}

private struct ELFSegment {
    let kind: UInt32
    let offset: UInt64
    let address: UInt64
    let size: UInt64
}

/// Bounds-checked access to the structures of an ELF file.
private struct ELFReader {
    let bytes: [UInt8]

    /// 64-bit, little-endian, of this machine.
    var isNative: Bool { bytes.count >= 64 && Machine.native.runs(bytes) }

    func integer<Value: FixedWidthInteger>(at offset: UInt64, as: Value.Type) -> Value? {
        let size = UInt64(Value.bitWidth / 8)
        guard offset <= UInt64(bytes.count), UInt64(bytes.count) - offset >= size else {
            return nil
        }
        let start = Int(offset)
        return bytes[start..<(start + Int(size))].reversed().reduce(Value.zero) { value, byte in
            // A one-byte value cannot be shifted by eight.
            Value(truncatingIfNeeded: UInt64(truncatingIfNeeded: value) << 8 | UInt64(byte))
        }
    }

    func text(_ offset: UInt64) -> String? {
        guard offset < UInt64(bytes.count) else { return nil }
        let tail = bytes[Int(offset)...]
        guard let end = tail.prefix(4096).firstIndex(of: 0) else { return nil }
        return String(validating: tail[..<end], as: UTF8.self)
    }

    func segments() -> [ELFSegment]? {
        guard let start = integer(at: 32, as: UInt64.self),
            let size = integer(at: 54, as: UInt16.self), size >= 56,
            let count = integer(at: 56, as: UInt16.self), count <= 256
        else { return nil }
        var found: [ELFSegment] = []
        for index in 0..<UInt64(count) {
            let (place, overflow) = start.addingReportingOverflow(index * UInt64(size))
            guard !overflow, let kind = integer(at: place, as: UInt32.self),
                let offset = integer(at: place + 8, as: UInt64.self),
                let address = integer(at: place + 16, as: UInt64.self),
                let length = integer(at: place + 32, as: UInt64.self)
            else { return nil }
            found.append(ELFSegment(kind: kind, offset: offset, address: address, size: length))
        }
        return found
    }

    func tags(of dynamic: ELFSegment) -> [(tag: UInt64, value: UInt64)]? {
        var found: [(tag: UInt64, value: UInt64)] = []
        var place = dynamic.offset
        for _ in 0..<min(dynamic.size / 16, 4096) {
            guard place <= UInt64(bytes.count), let tag = integer(at: place, as: UInt64.self),
                let value = integer(at: place + 8, as: UInt64.self)
            else { return nil }
            if tag == 0 { return found }
            found.append((tag, value))
            place += 16
        }
        return found
    }

    /// The file offset of a virtual address.
    func offset(of address: UInt64, in segments: [ELFSegment]) -> UInt64? {
        for segment in segments where segment.kind == 1 && address >= segment.address {
            let distance = address - segment.address
            guard distance < segment.size else { continue }
            let (place, overflow) = segment.offset.addingReportingOverflow(distance)
            return overflow ? nil : place
        }
        return nil
    }
}
