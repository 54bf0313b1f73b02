import HostProbe
import LinuxKernel
import Testing

/// A made-up Python around the machine's own `true`, which is a real program with a real library.
@Suite("What goes into an image")
struct ManifestTests {
    private let home: TemporaryDirectory
    private var library: String { "\(home.path)/lib/python3.12" }

    init() throws {
        home = try TemporaryDirectory()
        let program = try Descriptor.open("/usr/bin/true", .read).readAll(limit: 1 << 24)
        try home.write("bin/python3.12", program, permissions: 0o755)
        try home.write("lib/python3.12/os.py", Array("x = 1\n".utf8))
        try home.write("lib/python3.12/lib-dynload/_json.cpython-312.so", program)
    }

    private func manifest() throws -> ImageManifest {
        try PythonImage.manifest(of: try PythonInterpreter(path: "\(home.path)/bin/python3.12"))
    }

    /// Bytecode of `os.py` whose header names a time and a size.
    private func bytecode(timeOffset: Int64 = 0, flags: UInt8 = 0) throws -> [UInt8] {
        let status = try FileStatus(path: "\(library)/os.py")
        func word(_ value: Int64) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
        }
        let head: [UInt8] = [0xcb, 0x0d, 0x0d, 0x0a, flags, 0, 0, 0]
        return head + word(status.modificationSeconds + timeOffset) + word(status.size) + [7, 7]
    }

    private static let inside = "usr/lib/python3.12/__pycache__/os.cpython-312.pyc"

    @Test("bytecode of the source as it is now is taken and marked as valid for good")
    func currentBytecode() throws {
        try home.write("lib/python3.12/__pycache__/os.cpython-312.pyc", try bytecode())
        let manifest = try manifest()
        let source = "\(library)/__pycache__/os.cpython-312.pyc"
        #expect(manifest.entries[Self.inside] == .bytecode(source: source))
        try home.makeDirectories("images")
        let image = try ImageBuilder.build(manifest, into: "\(home.path)/images")
        let bytes = try Descriptor.open("\(image.directory)/\(Self.inside)", .read)
            .readAll(limit: 64)
        // PEP 552: bit 0 says "hash-based", bit 1 (check the source) is clear; the hash is free.
        #expect(bytes == [0xcb, 0x0d, 0x0d, 0x0a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7])
    }

    @Test("bytecode of another source stays outside: it could hold anything")
    func staleBytecode() throws {
        try home.write(
            "lib/python3.12/__pycache__/os.cpython-312.pyc",
            try bytecode(timeOffset: -1)
        )
        #expect(try manifest().entries[Self.inside] == nil)
        try home.write("lib/python3.12/__pycache__/os.cpython-312.pyc", try bytecode(flags: 3))
        #expect(try manifest().entries[Self.inside] == nil)
        try home.write("lib/python3.12/__pycache__/os.cpython-312.pyc", [1, 2, 3])
        #expect(try manifest().entries[Self.inside] == nil)
    }

    @Test("a link inside the library becomes a file, and one that leads out is left out")
    func links() throws {
        try home.write("lib/python3.12/real.py", [])
        try home.write("secret.py", [])
        try home.link("lib/python3.12/alias.py", to: "real.py")
        try home.link("lib/python3.12/leak.py", to: "\(home.path)/secret.py")
        try home.link("lib/python3.12/loop", to: "..")
        let entries = try manifest().entries
        #expect(entries["usr/lib/python3.12/alias.py"] == .file(source: "\(library)/real.py"))
        #expect(entries["usr/lib/python3.12/leak.py"] == nil)
        #expect(!entries.keys.contains { $0.contains("loop") })
    }

    @Test("an extension module without its libraries is left out with the reason")
    func extensions() throws {
        try home.write("lib/python3.12/lib-dynload/_broken.so", [0x7f, 0x45, 0x4c, 0x46, 1])
        let manifest = try manifest()
        let inside = "usr/lib/python3.12/lib-dynload"
        #expect(manifest.entries["\(inside)/_json.cpython-312.so"] != nil)
        #expect(manifest.entries["\(inside)/_broken.so"] == nil)
        #expect(manifest.omissions == ["_broken.so: it is no ELF file for \(Machine.native.name)"])
    }

    @Test("libraries lie where the loader looks without a cache")
    func libraries() throws {
        let paths = try manifest().paths
        let libc = try #require(paths.first { $0.hasSuffix("/libc.so.6") })
        #expect(
            [
                "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib64/libc.so.6", "usr/lib/libc.so.6",
            ].contains(libc)
        )
        #expect(paths.contains("usr/lib64/ld-linux-x86-64.so.2"))
    }

    @Test("no damage to a program makes reading it crash")
    func damagedPrograms() throws {
        let original = try Descriptor.open("/usr/bin/true", .read).readAll(limit: 1 << 24)
        var state: UInt64 = 42
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<150 {
            var bytes = original
            // The ELF header, the program headers, and the dynamic section somewhere behind.
            for _ in 0..<4 { bytes[next(1024)] = UInt8(next(256)) }
            if next(3) == 0 { bytes.removeLast(next(bytes.count)) }
            try home.write("lib/python3.12/lib-dynload/_damaged.so", bytes)
            _ = try manifest()
        }
    }
}
