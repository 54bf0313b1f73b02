/// Small kernel text files.
enum HostText {
    /// The whole text of a file; empty when it cannot be read.
    static func whole(_ path: String) -> String {
        do throws(HostProbeError) {
            let bytes = try HostFile.contents(path, atMost: 1 << 20, operation: "read a host fact")
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return ""
        }
    }

    /// The first line of a file; nil when there is none.
    static func line(_ path: String) -> String? {
        whole(path).split(separator: "\n").first.map(String.init)
    }

    /// The number of members of a list such as `0-3,8` (cpuset(7), "List format").
    static func count(ofRanges text: String) -> Int {
        text.split(separator: ",").reduce(0) { sum, part in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, last >= first else { return sum }
            return sum + last - first + 1
        }
    }

    /// The number behind a label of `/proc/meminfo`; 0 when there is none.
    static func kibibytes(_ label: String, in text: String) -> UInt64 {
        let line = text.split(separator: "\n").first { $0.hasPrefix(label) }
        return line?.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0
    }
}
