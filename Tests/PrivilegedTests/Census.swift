import Foundation
import LinuxKernel

/// Counts what exists, from /proc.
enum Census {
    /// Parent of each process of the host.
    private static func parents() throws -> [Int32: Int32] {
        var found: [Int32: Int32] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = Int32(name), let fields = stat(pid) else { continue }
            found[pid] = Int32(fields[1]) ?? 0
        }
        return found
    }

    // The fields of /proc/PID/stat behind the name in parentheses: state, parent, ...
    private static func stat(_ pid: Int32) -> [Substring]? {
        // A process that ended meanwhile is not there.
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let close = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: close)...].split(separator: " ")
    }

    /// Every process that descends from one, parents before children.
    static func descendants(of pid: Int32) throws -> [Int32] {
        let parents = try parents()
        var family = [pid]
        var at = 0
        while at < family.count {
            family += parents.filter { $0.value == family[at] }.map(\.key).sorted()
            at += 1
        }
        return Array(family.dropFirst())
    }

    /// Which of these processes still exist, zombies included.
    static func living(_ pids: [Int32]) throws -> [Int32] {
        pids.filter { stat($0) != nil }
    }

    /// Waits until processes are gone, whoever reaps them.
    static func waitUntilGone(_ pids: [Int32], seconds: Int = 20) throws -> [Int32] {
        let end = MonotonicTime.now.advanced(by: Nanoseconds(Int64(seconds) * 1_000_000_000))
        let loop = EventLoop()
        while true {
            // A zombie whose new parent is slow to reap it holds nothing.
            let left = pids.filter { pid in stat(pid).map { $0[0] != "Z" } ?? false }
            if left.isEmpty || MonotonicTime.now > end { return left }
            try loop.turn(atMost: .milliseconds(2))
        }
    }

    /// What the open descriptors of a process refer to; of control groups not which leaf, because
    /// another launcher of this host may have had that number in between, and of network namespaces
    /// not which one, because a launcher holds one for the next launch, each used once.
    static func descriptors(of pid: Int32) throws -> [String] {
        let folder = "/proc/\(pid)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            // One that was closed meanwhile is not open.
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: folder + "/" + name
            )
            guard let target else { return target }
            let isCounted =
                target.contains("/\(ControlGroup.poolName)/") || target.hasPrefix("net:")
            return isCounted ? String(target.prefix { !$0.isNumber }) : target
        }.sorted()
    }

    static func mounts(of pid: Int32) throws -> [String] {
        try String(contentsOfFile: "/proc/\(pid)/mountinfo", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// One control-group directory; another of its name is another group.
    struct Group: Hashable {
        let path: String
        let inode: UInt64

        var exists: Bool { (try? FileStatus(path: path).inode) == inode }
    }

    /// The control groups that a process is in below a pool of ours.
    static func groups(of pid: Int32) throws -> [Group] {
        try paths(of: pid).map { Group(path: $0, inode: try FileStatus(path: $0).inode) }
    }

    private static func paths(of pid: Int32) throws -> [String] {
        let text = try String(contentsOfFile: "/proc/\(pid)/cgroup", encoding: .utf8)
        let hierarchies = try ControlGroupHierarchies.detect()
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/\(ControlGroup.poolName)/") else {
                return nil
            }
            if parts[1].isEmpty { return hierarchies.unified.map { $0 + parts[2] } }
            for name in parts[1].split(separator: ",") {
                if let kind = ControlGroupHierarchies.Controller(rawValue: String(name)),
                    let root = hierarchies.controllers[kind]
                {
                    return root + parts[2]
                }
            }
            return nil
        }
    }

    /// Processes in a group.
    static func members(of group: Group) -> [Int32] { members(of: group.path) }

    static func members(of directory: String) -> [Int32] {
        // A group that was removed has none.
        let path = directory + "/cgroup.procs"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        // A process of another process namespace, such as a sandbox of another run, is 0 here.
        return text.split(separator: "\n").compactMap { Int32($0) }.filter { $0 > 0 }
    }
}
