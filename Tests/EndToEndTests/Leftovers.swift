import Foundation
import LinuxKernel
import Testing

/// Counts what exists outside every sandbox, before and after.
struct Leftovers {
    private let strays: Set<Int32>
    private let mounts: [String]

    /// Remembers what exists now.
    init() throws {
        strays = try Self.strays()
        mounts = try Self.mounts()
    }

    /// Expects that nothing of this experiment is there any more, and nothing new of anybody's.
    func expectNone(_ night: Night, sourceLocation: SourceLocation = #_sourceLocation) throws {
        do {
            try Stage.wait("processes to be gone") {
                try Self.strays().subtracting(strays).isEmpty
                    && Self.processes(naming: night.state).isEmpty
            }
        } catch {
            let left =
                try Self.strays().subtracting(strays).map(Self.describe)
                + Self.processes(naming: night.state).map(Self.describe)
            Issue.record("processes are left: \(left)", sourceLocation: sourceLocation)
        }
        #expect(try Self.mounts() == mounts, sourceLocation: sourceLocation)
        let temporary = try FileManager.default.contentsOfDirectory(
            atPath: "\(night.scratch.path)/tmp"
        )
        #expect(temporary.isEmpty, sourceLocation: sourceLocation)
        try expectOnlyKnownFiles(night, sourceLocation)
    }

    private func expectOnlyKnownFiles(_ night: Night, _ location: SourceLocation) throws {
        let known: Set<String> = [
            "ledger.sqlite", "ledger.sqlite.lock", "key.ed25519", "repository", "view", "agent.log",
            "sealed",
            // These two come and go with whoever reads the ledger, this test included.
            "ledger.sqlite-wal", "ledger.sqlite-shm",
        ]
        let files = try FileManager.default.contentsOfDirectory(atPath: night.folder())
        #expect(Set(files).subtracting(known).isEmpty, sourceLocation: location)
        let top = try FileManager.default.contentsOfDirectory(atPath: night.seenState)
        #expect(Set(top) == ["experiments", "images", "vault"], sourceLocation: location)
        for image in try FileManager.default.contentsOfDirectory(
            atPath: "\(night.seenState)/images"
        ) where image != ".lock" {
            #expect(image.count == 64, "\(image) is no finished image", sourceLocation: location)
        }
    }

    // MARK: - processes

    private static func statistics(_ pid: Int32) -> [Substring]? {
        // A process that ended meanwhile is not there.
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let close = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: close)...].split(separator: " ")
    }

    private static func all() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
    }

    private static func name(_ pid: Int32) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
        return text.trimmingCharacters(in: .newlines)
    }

    // Processes under one of our users that descend from no living launcher.
    private static func strays() throws -> Set<Int32> {
        var found: Set<Int32> = []
        for pid in try all() where isOurs(pid) && !hasLauncher(pid) { found.insert(pid) }
        return found
    }

    private static func isOurs(_ pid: Int32) -> Bool {
        guard let status = try? FileStatus(path: "/proc/\(pid)"), status.owner >= 0x7000_0000 else {
            return false
        }
        // A zombie holds nothing; its new parent reaps it when it gets to it.
        return statistics(pid).map { $0[0] != "Z" } ?? false
    }

    private static func hasLauncher(_ pid: Int32) -> Bool {
        var at = pid
        while at > 1 {
            if ["invigilator-lau", "invigilator"].contains(name(at)) { return true }
            guard let fields = statistics(at), let parent = Int32(fields[1]) else { return true }
            at = parent
        }
        return false
    }

    /// Every process that descends from one, parents before children.
    static func descendants(of pid: Int32) throws -> [Int32] {
        var parents: [Int32: Int32] = [:]
        for other in try all() {
            if let fields = statistics(other) { parents[other] = Int32(fields[1]) ?? 0 }
        }
        var family = [pid]
        var at = 0
        while at < family.count {
            family += parents.filter { $0.value == family[at] }.map(\.key).sorted()
            at += 1
        }
        return Array(family.dropFirst())
    }

    /// Which of these processes live, zombies not counted.
    static func living(_ pids: [Int32]) -> [Int32] {
        pids.filter { pid in statistics(pid).map { $0[0] != "Z" } ?? false }
    }

    /// Whether a process is a launcher of ours.
    static func isLauncher(_ pid: Int32) -> Bool { name(pid) == "invigilator-lau" }

    // Programs of ours whose command line names a directory.
    private static func processes(naming directory: String) throws -> [Int32] {
        try all().filter { pid in
            guard name(pid).hasPrefix("invigilator"),
                let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")
            else { return false }
            return String(decoding: bytes, as: UTF8.self).contains(directory)
        }
    }

    private static func describe(_ pid: Int32) -> String {
        let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        return "\(pid) \(name(pid)) "
            + String(decoding: bytes.prefix(120), as: UTF8.self)
            .replacingOccurrences(of: "\0", with: " ")
    }

    private static func mounts() throws -> [String] {
        try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }
}
