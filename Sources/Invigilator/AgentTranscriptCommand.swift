internal import ArgumentParser
internal import HostKernel
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor

/// `agent transcript DIR`.
struct AgentTranscriptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transcript",
        abstract: "Print what a coding agent left as its transcript, made safe for a terminal.",
        discussion: """
            One is kept whenever the agent ends, where its profile names one. Characters that steer \
            a terminal or hide themselves are shown as «?».
            """
    )

    @Option(help: ArgumentHelp("Which one, from 1; the last one by default.", valueName: "n"))
    var number: Int?

    @Flag(help: "Print the moments and sizes of all, and no text.")
    var list = false

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let folder = record.layout.transcripts(record.experiment.id)
        let names = try Self.names(in: folder)
        if list {
            for (index, name) in names.enumerated() {
                let moment = Int64(name.prefix { $0 != "." }) ?? 0
                try Console.write("\(index + 1)  \(ClockText.text(moment))\n")
            }
            return
        }
        let wanted = number ?? names.count
        guard names.indices.contains(wanted - 1) else {
            throw SupervisorError(
                .usage,
                operation: "read a transcript",
                location: "number \(wanted)",
                reason: names.isEmpty ? "none is kept" : "there are \(names.count)",
                remedy: "`agent transcript --list` shows all; a profile says what is kept"
            )
        }
        let path = "\(folder)/\(names[wanted - 1])"
        let bytes = try kernel("read a transcript", path) { () throws(SystemError) in
            try Descriptor.open(path, .read).readAll(limit: 512 << 20)
        }
        for line in bytes.split(separator: 0x0A) {
            try Console.write(Self.text(Array(line)))
        }
    }

    private static func names(in folder: String) throws(SupervisorError) -> [String] {
        do throws(SystemError) {
            return try Descriptor.open(folder, [.read, .directory]).entries()
                .filter { $0.hasSuffix(".jsonl") }.sorted()
        } catch {
            guard error.isMissing else { throw SupervisorError(error, "list transcripts", folder) }
            return []
        }
    }

    private static func text(_ line: [UInt8]) throws(SupervisorError) -> String {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line, limits: .transcript)
        } catch { throw SupervisorError(.integrity, error) }
        let path = SafeText.cleaned(value["path"]?.stringValue ?? "", atMost: 200)
        let size = value["bytes"]?.intValue ?? 0
        let cut = value["cut"]?.boolValue == true ? ", cut" : ""
        let problem = value["problem"]?.stringValue.map { ", \(SafeText.cleaned($0))" } ?? ""
        let text = SafeText.cleanedLines(value["text"]?.stringValue ?? "")
        return "=== \(path) (\(size) bytes\(cut)\(problem))\n\(text)\n"
    }
}

extension JSONLimits {
    /// One file of a transcript.
    fileprivate static let transcript = JSONLimits(
        maximumBytes: 512 << 20,
        maximumDepth: 4,
        maximumNodes: 64,
        maximumStringBytes: 256 << 20
    )
}
