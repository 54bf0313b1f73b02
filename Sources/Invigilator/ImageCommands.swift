internal import HostKernel
internal import ArgumentParser
internal import HostProbe
internal import LinuxKernel
internal import Supervisor

/// `image`.
struct ImageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Make the system image that candidates and examiners start from.",
        subcommands: [ImageFillCommand.self]
    )
}

/// `image fill`.
struct ImageFillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill",
        abstract: "Fill a mounted tmpfs with the image, for `invigilator-launcher run --tree`.",
        discussion: """
            The directory must be an empty tmpfs of its own, such as one made with \
            `mount -t tmpfs -o mode=0755,size=256m tmpfs DIR`: a tree on the host's own file system \
            would share its caches with every other sandbox. Needs root.
            """
    )

    @Argument(help: "Where the tmpfs is mounted.")
    var directory: String

    @Option(help: ArgumentHelp("Use this Python interpreter.", valueName: "path"))
    var python: String?

    @OptionGroup var state: StateOptions

    func run() throws {
        let python: PythonInterpreter
        do throws(HostProbeError) {
            python = try PythonSearch.find(named: self.python, homes: ["/root"])
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
        let image = try SandboxSite.buildImage(of: python, state.layout())
        guard let target = try opened().take() else {
            fatalError("a box that was just filled is full")
        }
        try Supervision.giveUpRights()
        do throws(HostProbeError) { try ImageBuilder.copy(image, to: target) } catch {
            throw SupervisorError(.hostFailed, error)
        }
        try Console.write(
            "image \(image.digest): \(image.fileCount) files, \(image.byteCount >> 20) MiB"
        )
    }

    // Checked on the descriptor, and given to the supervisor's user, whose files the launcher shows
    // as the sandbox's own.
    private func opened() throws(SupervisorError) -> Descriptor?.Box {
        let (box, isFit) = try kernel("open the tmpfs", directory) { () throws(SystemError) in
            let target = try Descriptor.open(directory, [.read, .directory])
            let isTmpfs = try MountStatus(of: target).kind == MountStatus.tmpfs
            let device = try target.status().device
            let above = try target.parent().status().device
            let names = try target.entries()
            let isFit = isTmpfs && device != above && names.isEmpty
            if isFit {
                try target.setOwner(StateLayout.supervisor, group: StateLayout.supervisorGroup)
            }
            return (Descriptor?.Box(target), isFit)
        }
        guard isFit else {
            throw SupervisorError(
                .usage,
                operation: "fill a tree with the image",
                location: directory,
                reason: "it is not an empty tmpfs of its own",
                remedy: "mount one: mount -t tmpfs -o mode=0755,size=256m tmpfs \(directory)"
            )
        }
        return box
    }
}
