internal import HostKernel
internal import LauncherClient
package import LinuxKernel
internal import StrictJSON
package import Workspace

/// Copies what a profile calls its transcript out of a coding agent's home, when the agent has ended.
///
/// The home is the agent's, and nothing in it is believed: only regular files beneath it are read, no link
/// is followed, and names and bytes become JSON strings in one file of ours, a line for each file.
package struct AgentTranscript {
    /// The version of a line's shape.
    package static let schema = "invigilator.transcript/1"
    // A session has some dozens; more is a tree that somebody grew.
    private static let mostFiles = 2000
    private static let deepest = 12
    private static let mostBytes = 64 << 20

    private struct File {
        let path: String
        let size: Int
        let line: [UInt8]
    }

    private var left: Int
    private var files: [File] = []

    /// A line for each file.
    package var lines: [UInt8] { files.flatMap(\.line) }

    /// Puts in the place of every file that is empty now what it held before.
    ///
    /// Programs write such files anew from their beginning, and one that is killed meanwhile leaves
    /// nothing of what it had written before.
    ///
    /// - Parameter earlier: the same session's, from a moment at which the agent was frozen.
    package mutating func fill(from earlier: AgentTranscript) {
        files = files.map { file in
            guard file.size == 0 else { return file }
            return earlier.files.first { $0.path == file.path && $0.size > 0 } ?? file
        }
    }

    /// Reads a file or directory of a home.
    ///
    /// - Parameters:
    ///   - path: the file or directory.
    ///   - home: the home's directory.
    ///   - limit: the most bytes that are kept; 64 MiB where it is more.
    package init(of path: BeneathPath, in home: borrowing Descriptor, limit: Int) {
        left = min(limit, Self.mostBytes)
        take(path.text, in: home, depth: 0)
    }

    // What cannot be read is told in its place: an agent may take the rights of its own files away.
    private mutating func take(_ path: String, in home: borrowing Descriptor, depth: Int) {
        guard files.count < Self.mostFiles, depth < Self.deepest else { return }
        do throws(SystemError) {
            let file = try home.openBeneath(path, [.read, .nonBlocking])
            let status = try file.status()
            switch status.kind {
            case .directory:
                for name in try file.entries().sorted() {
                    take("\(path)/\(name)", in: home, depth: depth + 1)
                }
            case .regular: add(path, try read(file), of: Int(clamping: status.size))
            case .symbolicLink, .other: add(path, [], of: 0, saying: "not a regular file")
            }
        } catch {
            add(path, [], of: 0, saying: error.name)
        }
    }

    private func read(_ file: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < left {
            let part = try file.read(atMost: min(1 << 16, left - bytes.count))
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    private mutating func add(
        _ path: String,
        _ bytes: [UInt8],
        of size: Int,
        saying problem: String? = nil
    ) {
        left -= bytes.count
        let line: JSONValue = [
            "schema": .string(Self.schema), "path": .string(path), "bytes": JSONValue(size),
            "cut": .bool(bytes.count < size), "problem": problem.map { .string($0) } ?? .null,
            "text": .string(String(decoding: bytes, as: UTF8.self)),
        ]
        files.append(File(path: path, size: size, line: line.canonicalBytes + [0x0A]))
    }
}

extension StateLayout {
    /// What coding agents left as transcripts, one file for each end, named by its moment.
    package func transcripts(_ id: String) -> String { "\(experiment(id))/transcripts" }
}

extension CodingSandbox {
    /// What the agent calls its transcript, as it is now; nothing where its profile names none.
    func readTranscript() -> AgentTranscript? {
        supervision.inputs.codingAgent.transcript.map { kept in
            AgentTranscript(of: kept.path, in: home.directory, limit: kept.limit)
        }
    }

    /// Keeps the transcript of an agent that has just ended.
    ///
    /// - Throws: ``SupervisorError``.
    func keepTranscript() throws(SupervisorError) {
        guard var transcript = readTranscript() else { return }
        if let heldTranscript { transcript.fill(from: heldTranscript) }
        heldTranscript = nil
        let folder = supervision.layout.transcripts(supervision.inputs.experiment.id)
        try system("keep the agent's transcript", folder) { () throws(SystemError) in
            let parent = try Descriptor.open(
                supervision.layout.experiment(supervision.inputs.experiment.id),
                [.read, .directory]
            )
            do throws(SystemError) { try parent.makeDirectory("transcripts") } catch {
                guard error.isAlreadyThere else { throw error }
            }
            let directory = try Descriptor.open(folder, [.read, .directory])
            try directory.replace(
                "\(WallClock.milliseconds).jsonl",
                with: transcript.lines,
                permissions: 0o600
            )
        }
    }
}
