internal import ArgumentParser
internal import HostKernel
internal import LinuxKernel
internal import Supervisor

/// What a supervisor starts, while it is root, to have checkpoints kept at the operator's places.
///
/// It becomes the owner of the experiment's directory first. It never opens the record: what it is
/// handed on standard input is kept, and what is kept is handed out on standard output, unread.
struct PublisherCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: PublisherLink.command,
        abstract: "Keep the checkpoints that a running supervisor signs.",
        shouldDisplay: false
    )

    @Option(help: "Replace this file.")
    var to: String?

    @Option(help: "Add commits to this ref.")
    var toRef: String?

    @Option(help: "The git repository of --to-ref.")
    var repository: String?

    @Option(help: "The longest that the command may take.")
    var timeoutSeconds: Int

    @Argument(help: "The directory whose owner this process becomes.")
    var directory: String

    @Argument(parsing: .postTerminator, help: "A program that gets each checkpoint.")
    var command: [String] = []

    private var place: CheckpointPlace {
        if let to { return .file(to) }
        if let toRef, let repository { return .ownedRef(toRef, repository: repository) }
        return .program(command, seconds: timeoutSeconds)
    }

    func run() throws {
        // A Ctrl-C is meant for the supervisor, which has one more checkpoint for us then.
        try kernel("leave the terminal", "publisher") { () throws(SystemError) in
            try CurrentProcess.startSession()
        }
        try OwnersGit.becomeOwner(of: directory)
        CurrentProcess.ignorePipeSignal()
        var received: [UInt8] = []
        var older: [UInt8]?
        while let request = try Self.next(&received) {
            let reply: PublisherReply
            do throws(SupervisorError) {
                let present = try place.kept()
                if request.isEmpty {
                    older = present
                    reply = .kept(present ?? [])
                } else if present == older {
                    _ = try place.keep(request, after: older)
                    reply = .done
                } else {
                    reply = .failed("somebody else has changed what is kept there meanwhile")
                }
            } catch {
                reply = .failed(error.description)
            }
            try Console.write(PublisherMessage.framed(reply.message))
        }
    }

    // Nothing at the end of the supervisor.
    static func next(_ received: inout [UInt8]) throws -> [UInt8]? {
        while true {
            if let message = try PublisherMessage.next(of: &received) { return message }
            let bytes = try kernel("wait for a checkpoint", "standard input") {
                () throws(SystemError) in
                try Descriptor.copy(ofInherited: 0).read(atMost: 1 << 16)
            }
            guard !bytes.isEmpty else { return nil }
            received += bytes
        }
    }
}
