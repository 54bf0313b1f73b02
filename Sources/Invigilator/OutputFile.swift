internal import HostKernel
internal import LinuxKernel
package import Supervisor

/// A file that a command writes for its user.
package enum OutputFile {
    /// Replaces a file in one step; it belongs to whoever owns the directory.
    ///
    /// - Throws: a usage error where something else than a regular file has the name.
    package static func write(_ bytes: [UInt8], to path: String) throws(SupervisorError) {
        let (above, name) = try Self.place(of: path)
        let folder = try kernel("write a file", path) { () throws(SystemError) in
            try Descriptor.open(try Descriptor.resolvedPath(above), [.read, .directory])
        }
        if let kind = try kind(of: name, in: folder), kind != .regular {
            throw refusal(path, "something else than a regular file has this name")
        }
        try kernel("write a file", path) { () throws(SystemError) in
            try folder.replace(name, with: bytes)
            try folder.giveToOwner(name)
        }
    }

    /// Opens a file that is written later, when this process has given its rights up.
    ///
    /// A new one belongs to whoever owns the directory.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - appending: whether what it holds stays.
    /// - Returns: the file.
    /// - Throws: an error where it cannot be opened; a link is not followed.
    static func opened(
        _ path: String,
        appending: Bool = false
    ) throws(SupervisorError) -> Descriptor?.Box {
        if let number = stream(path) {
            return try kernel("open a file to write", path) { () throws(SystemError) in
                Descriptor?.Box(try Descriptor.copy(ofInherited: number))
            }
        }
        let (above, name) = try place(of: path)
        return try kernel("open a file to write", path) { () throws(SystemError) in
            let folder = try Descriptor.open(
                try Descriptor.resolvedPath(above),
                [.read, .directory]
            )
            return Descriptor?.Box(
                try folder.openOutput(name, appending ? [.append] : [], emptied: !appending)
            )
        }
    }

    // A stream of ours by its usual name, which is a link.
    private static func stream(_ path: String) -> Int32? {
        if let known = ["/dev/stdout": 1, "/dev/stderr": 2][path] { return Int32(known) }
        guard path.hasPrefix("/dev/fd/") else { return nil }
        return Int32(path.dropFirst(8)).flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func place(
        of path: String
    ) throws(SupervisorError) -> (above: String, name: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, !name.isEmpty, name != ".", name != ".." else {
            throw refusal(path, "this names a directory")
        }
        return (parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/", name)
    }

    private static func kind(
        of name: String,
        in folder: borrowing Descriptor
    ) throws(SupervisorError) -> FileStatus.Kind? {
        do throws(SystemError) { return try FileStatus(of: name, in: folder).kind } catch {
            guard error.isMissing else { throw SupervisorError(error, "write a file", name) }
            return nil
        }
    }

    private static func refusal(_ path: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "write a file",
            location: path,
            reason: reason,
            remedy: "name a file, or `-o -` for standard output"
        )
    }
}

/// This program, started a second time to read what the first may not parse with its rights.
enum OwnProgram {
    /// What a second process prints, which becomes the supervisor's user before it opens the record.
    ///
    /// - Parameters:
    ///   - words: its command line.
    ///   - input: what it reads on standard input.
    /// - Returns: its standard output.
    /// - Throws: its own last words and exit code where it fails.
    static func output(
        of words: [String],
        input: [UInt8] = []
    ) throws(SupervisorError) -> [UInt8] {
        let outcome = try kernel("read the record", "a second process") {
            () throws(SystemError) in
            let program = try Descriptor.open("/proc/\(CurrentProcess.pid)", [.read, .directory])
                .linkText("exe")
            return try Spawn.run(program, arguments: words, input: input, limit: 256 << 20)
        }
        guard outcome.end.exitCode == 0 else {
            let code = outcome.end.exitCode.flatMap(ExitStatus.init(rawValue:)) ?? .hostFailed
            throw SupervisorError(code, RelayedError(bytes: outcome.errors))
        }
        return outcome.output
    }

    // The second process has said operation, location, reason and remedy already.
    private struct RelayedError: Error, CustomStringConvertible {
        let description: String

        init(bytes: [UInt8]) {
            var text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n") { text.removeLast() }
            for prefix in ["Error: ", "error: ", "invigilator: "] where text.hasPrefix(prefix) {
                text.removeFirst(prefix.count)
            }
            description = text.isEmpty ? "read the record: a second process: it ended early" : text
        }
    }
}
