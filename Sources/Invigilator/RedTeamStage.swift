// What the red team needs root for: the controls, and the victims on the host.
//
// A control is a process tree of root in namespaces of its own, made by invigilator-probe, which
// refuses unless the directory of this run holds this run's token. Victims are a process, sockets, a
// file and objects with names of this run's own; they end, and the directory goes, when the pipe to them
// is closed, which also happens when this process dies.

internal import HostKernel
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import Supervisor

/// The control's side of a run.
final class RedTeamStage {
    /// What the victims are called, for the attacks in sandboxes.
    private(set) var settings: [String: String] = [:]
    private let program: String
    private let directory: String
    private let token: String
    private var victims: Int32?
    private var keeper: Descriptor?.Box?

    private static let home = "/tmp"

    /// Makes the directory of the run.
    init(program: String) throws(SupervisorError) {
        self.program = program
        let name: String
        (name, token) = try kernel("draw a name", "red team") { () throws(SystemError) in
            (
                "invigilator-redteam-" + Self.hex(try KernelRandom.bytes(6)),
                Self.hex(try KernelRandom.bytes(16))
            )
        }
        directory = "\(Self.home)/\(name)"
        let (home, token) = (Self.home, token)
        try kernel("make the directory of the run", directory) { () throws(SystemError) in
            try Descriptor.open(home, [.read, .directory]).makeDirectory(name)
            try Descriptor.open("\(home)/\(name)", [.read, .directory])
                .replace("marker", with: Array(token.utf8), permissions: 0o600)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: - controls

    /// The bounds of attacks by use on a control, above the shipped policies' limits where a host can
    /// take that without harm.
    private static let bounds = [
        "most-processes=700", "most-disk=96", "most-inodes=20000", "most-files=5000",
        "most-length=1024",
    ]

    /// Answers of attacks on a control, by word; they are told settings besides.
    func control(
        _ words: [String],
        told: [String] = []
    ) throws(SupervisorError) -> [String: Answer] {
        guard !words.isEmpty else { return [:] }
        let output = try run(Self.bounds + told + words)
        let answers = ProbeOutput(output)
        guard answers.isComplete else { throw Self.failure(output) }
        return answers.answers
    }

    /// What a program that needs a launch of its own does on a control.
    func control(_ load: Load, _ number: Int) throws(SupervisorError) -> Answer {
        let output = try run(["load=1", load.rawValue, "\(number)"])
        if output.ends(with: "lacks\n") { return .lacking("room for a control") }
        return output.ends(with: "survived\n") ? .works : .absent
    }

    /// What both ends of a channel print on a control.
    func controlPair(_ words: [String]) throws(SupervisorError) -> [UInt8] {
        let output = try run(words)
        guard ProbeOutput(output).isComplete else { throw Self.failure(output) }
        return output
    }

    /// Writes a file whose pages a control may put out of memory, on whatever file system the
    /// directory of the run lies.
    func makePages() throws(SupervisorError) {
        let directory = directory
        try kernel("write a file for a control", directory) { () throws(SystemError) in
            try Descriptor.open(directory, [.read, .directory])
                .replace("pages", with: [UInt8](repeating: 1, count: 8 << 20))
        }
    }

    private func run(_ words: [String]) throws(SupervisorError) -> [UInt8] {
        let (program, directory, token) = (program, directory, token)
        let outcome = try kernel("run attacks on a control", program) { () throws(SystemError) in
            try Spawn.run(
                program,
                arguments: ["control", directory, token, "word=probe\(token)"] + words,
                environment: ["PATH=/usr/bin:/bin"],
                limit: 8 << 20
            )
        }
        guard outcome.end.exitCode == 0 else { throw Self.failure(outcome.errors) }
        return outcome.output
    }

    private static func failure(_ words: [UInt8]) -> SupervisorError {
        let line = words.last == UInt8(ascii: "\n") ? words.dropLast() : words[...]
        return SupervisorError(
            .hostFailed,
            operation: "run attacks on a control",
            location: "invigilator-probe",
            reason: SafeText.cleaned(
                String(decoding: line.suffix(300), as: UTF8.self),
                atMost: 300
            ),
            remedy: "run `invigilator doctor`, which says what this host lacks, or report this"
        )
    }

    // MARK: - victims

    /// Starts the victims of the host and waits until they are there.
    func startVictims() throws(SupervisorError) {
        let (program, directory, token) = (program, directory, token)
        let started = try kernel("make victims", program) { () throws(SystemError) in
            try RedTeamChild(program, ["victims", directory, token])
        }
        victims = started.pid
        keeper = started.keeper
        try readSettings(started.words)
    }

    private func readSettings(_ words: Descriptor?.Box) throws(SupervisorError) {
        var bytes: [UInt8] = []
        var output = ProbeOutput([])
        while !output.isComplete {
            let part = try kernel("read the victims' names", program) { () throws(SystemError) in
                try words.withDescriptor { words throws(SystemError) in
                    try words.read(atMost: 4096)
                } ?? []
            }
            guard !part.isEmpty else { throw Self.failure(bytes) }
            bytes += part
            output = ProbeOutput(bytes)
        }
        settings = output.settings
    }

    /// Removes the directory of the run, while we are root and nothing was started in it.
    func discard() {
        // What cannot be removed is one small file in a directory for temporary files.
        do throws(SystemError) {
            let folder = try Descriptor.open(directory, [.read, .directory])
            for name in try folder.entries() { try folder.remove(name) }
            try Descriptor.open(Self.home, [.read, .directory]).remove(
                String(directory.dropFirst(Self.home.count + 1)),
                isDirectory: true
            )
        } catch {}
    }

    /// Ends the victims and waits until nothing of them is left.
    func close() throws(SupervisorError) {
        keeper = nil
        guard let pid = victims else { return }
        victims = nil
        try kernel("end the victims", program) { () throws(SystemError) in
            _ = try ProcessEnd.wait(for: pid)
        }
    }
}

extension [UInt8] {
    /// Whether the bytes end with a text.
    func ends(with text: String) -> Bool {
        count >= text.utf8.count && suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
