import Foundation
import HostProbe
import Testing

@Suite struct MachineTests {
    // Class, data, version of an ELF header, its type and its machine (elf(5)).
    private static func start(bits: UInt8 = 2, order: UInt8 = 1, machine: UInt16) -> [UInt8] {
        [0x7f, 0x45, 0x4c, 0x46, bits, order, 1] + [UInt8](repeating: 0, count: 9)
            + [3, 0, UInt8(machine & 0xff), UInt8(machine >> 8)]
    }

    @Test("a program is one of the machine that its header names, and of no other")
    func header() {
        #expect(Machine.x86.runs(Self.start(machine: 62)))
        #expect(Machine.arm.runs(Self.start(machine: 183)))
        #expect(!Machine.x86.runs(Self.start(machine: 183)))
        #expect(!Machine.arm.runs(Self.start(machine: 62)))
        // 32-bit ARM and i386, big-endian arm64, a number of which only one byte is right.
        for other in [
            Self.start(bits: 1, machine: 40), Self.start(bits: 1, machine: 3),
            Self.start(order: 2, machine: 183), Self.start(machine: 183 + 256),
            Array(Self.start(machine: 183).prefix(19)), [],
        ] {
            #expect(!Machine.arm.runs(other) && !Machine.x86.runs(other))
        }
    }

    @Test("libraries are looked for in the folders of the machine alone")
    func folders() {
        #expect(Machine.arm.libraryDirectories.contains("/usr/lib/aarch64-linux-gnu"))
        #expect(!Machine.arm.libraryDirectories.contains { $0.contains("x86") })
        #expect(!Machine.x86.libraryDirectories.contains { $0.contains("aarch64") })
        #expect(Machine.arm.loader == "/lib/ld-linux-aarch64.so.1")
    }

    @Test("this test's own program is of the machine that it was made for")
    func native() throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/exe"))
        let bytes = Array(try #require(try file.read(upToCount: 64)))
        #expect(Machine.native.runs(bytes))
    }
}
