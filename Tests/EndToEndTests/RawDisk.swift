import Foundation
import Testing

/// An ext4 file system of a test's own in a file, so that its bytes can be searched when it is unmounted.
///
/// It is mounted synchronously: what lives for a moment is on the disk too, and stays there when the file
/// is deleted.
final class RawDisk {
    /// A byte's place on the disk.
    struct Place {
        let offset: Int
        var block: Int { offset / RawDisk.blockBytes }
    }

    /// Blocks of files.
    struct Blocks {
        fileprivate let numbers: Set<Int>

        func contains(_ place: Place) -> Bool { numbers.contains(place.block) }
    }

    private static let blockBytes = 4096
    private static let bytes: UInt64 = 1 << 30
    /// Where it is mounted.
    let path: String
    private let image: String
    private let scratch: Scratch
    private var isMounted = false

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        path = try scratch.directory("disk")
        image = "\(scratch.path)/disk.ext4"
        try "".write(toFile: image)
        try FileHandle(forWritingTo: URL(fileURLWithPath: image)).truncate(atOffset: Self.bytes)
        try run("/sbin/mkfs.ext4", ["-q", "-F", "-b", "\(Self.blockBytes)", image])
        try run("/bin/mount", ["-o", "loop,sync,nodiscard", image, path])
        isMounted = true
    }

    deinit {
        guard isMounted else { return }
        // A test that failed early: the mount must not outlive it.
        try? unmount()
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let ended = try Program(program, arguments, temporary: "\(scratch.path)/tmp")
            .waitForEnd(seconds: 120)
        try #require(ended.code == 0, "\(program) \(arguments): \(ended)")
        return ended.output
    }

    /// Writes out what the kernel still holds back.
    func flush() throws { try run("/bin/sync", ["-f", path]) }

    func unmount() throws {
        try run("/bin/umount", [path])
        isMounted = false
    }

    /// Every file below a directory, from the root of this disk.
    func files(below directory: String) throws -> [String] {
        try run("/usr/bin/find", [directory, "-type", "f"]).split(separator: "\n")
            .map { String($0.dropFirst(path.count)) }
    }

    /// The blocks of files, which are named from the root of this disk; it is unmounted.
    func blocks(of files: [String]) throws -> Blocks {
        var numbers: Set<Int> = []
        for file in files {
            let words = try run("/sbin/debugfs", ["-R", "blocks \(file)", image])
            numbers.formUnion(words.split(whereSeparator: \.isWhitespace).compactMap { Int($0) })
        }
        #expect(!numbers.isEmpty, "\(files)")
        return Blocks(numbers: numbers)
    }

    /// Where on the disk, which is unmounted, these words are.
    func places(of words: [String]) throws -> [String: [Place]] {
        let list = "\(scratch.path)/searched"
        try (words.joined(separator: "\n") + "\n").write(toFile: list)
        var places: [String: [Place]] = [:]
        for line in try run("/bin/grep", ["-aboF", "-f", list, image]).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let offset = Int(parts[0]) else { continue }
            places[String(parts[1]), default: []].append(Place(offset: offset))
        }
        return places
    }
}
