// One sandbox outside an experiment, for `sandbox exec`, `doctor` and `benchmark check`.
//
// Order: everything that needs root first (the image, the launcher), then the supervisor's user, then
// the trees, so that what sandboxes see as theirs belongs to no privileged user.

internal import DenialEvents
internal import HostKernel
internal import HostProbe
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
internal import Supervisor

/// A launcher of our own, and the image that roots are filled with.
final class SandboxSite {
    /// The loop that serves it.
    let loop = EventLoop()
    /// The launcher.
    let launcher: LauncherClient
    /// The probes that show what sandboxes enforce.
    let quickSet: QuickSet
    /// Hears what Landlock refuses; nothing where no plan has it logged, and where the host cannot.
    let landlock: LandlockWatch?
    /// Why the host gives no records of that, though a plan has it logged.
    let landlockGap: String?
    /// What was measured of this host; absent until somebody asked.
    private(set) var measured: MeasuredLevel?
    private let image: Image?
    private(set) var isLost = false

    private static let treeSize = ByteCount.mebibytes(256)
    private static let treeInodes: UInt32 = 65_536

    /// Starts a launcher as root, hears the audit records that a plan has made, and becomes the
    /// supervisor's user.
    init(
        layout: StateLayout,
        installation: Installation,
        image: Image?,
        logging plans: [CompiledPlan] = []
    ) throws(SupervisorError) {
        CurrentProcess.ignorePipeSignal()
        self.image = image
        let options = LauncherOptions(
            executable: installation.launcher,
            supervisor: StateLayout.supervisor,
            protected: [layout.root],
            vault: layout.vault,
            delegation: installation.delegation
        )
        launcher = try LauncherClient.started(options, loop: loop)
        (landlock, landlockGap) = try LandlockRecords.watch(for: plans, of: launcher)
        quickSet = QuickSet(try installation.quickSetKit(layout), launcher: launcher)
        launcher.onLost = { [unowned self] in isLost = true }
        try Supervision.giveUpRights()
    }

    /// Measures the level in a sandbox of a plan, once.
    func measure(under plan: CompiledPlan) throws(SupervisorError) -> MeasuredLevel {
        if let measured { return measured }
        do throws(LauncherError) {
            let found = try quickSet.measuredLevel(under: plan)
            measured = found
            return found
        } catch {
            throw SupervisorError(error)
        }
    }

    /// Builds the Python image, as root, or finds the one that is there.
    static func buildImage(
        of python: PythonInterpreter,
        _ layout: StateLayout
    ) throws(SupervisorError) -> Image {
        try layout.create()
        do throws(HostProbeError) {
            return try ImageBuilder.build(PythonImage.manifest(of: python), into: layout.images)
        } catch { throw SupervisorError(.hostFailed, error) }
    }

    /// Copies the image into an empty directory.
    func fill(_ directory: borrowing Descriptor) throws(SupervisorError) {
        guard let image else { return }
        do throws(HostProbeError) { try ImageBuilder.copy(image, to: directory) } catch {
            throw SupervisorError(.hostFailed, error)
        }
    }

    /// Copies the image into an empty directory, without a hold on this site.
    var imageCopier: (borrowing Descriptor) throws(SystemError) -> Void {
        let image = image
        return { directory throws(SystemError) in
            guard let image else { return }
            do throws(HostProbeError) { try ImageBuilder.copy(image, to: directory) } catch {
                throw SystemError("copy", "\(error)", number: Self.inputOutputError)
            }
        }
    }

    // EIO: the image could not be copied whole.
    private static let inputOutputError: Int32 = 5

    /// Makes and fills the trees that a plan names.
    func makeTrees(for plan: SandboxPlan) throws(SupervisorError) -> [SandboxTree] {
        var trees: [SandboxTree] = []
        for index in 0..<TreeNeeds.count(of: plan) {
            let tree: SandboxTree
            do throws(LauncherError) {
                tree = try launcher.makeTree(size: Self.treeSize, inodes: Self.treeInodes)
            } catch {
                throw SupervisorError(error)
            }
            if index == 0, plan.root == .tree { try fill(tree.directory) }
            for path in TreeNeeds.directories(ofTree: index, in: plan) {
                try kernel("make a mount point", path) { () throws(SystemError) in
                    try Self.makeDirectories(path, in: tree.directory)
                }
            }
            for path in TreeNeeds.files(ofTree: index, in: plan) {
                try place([], at: path, in: tree)
            }
            trees.append(tree)
        }
        return trees
    }

    /// Writes a file into a tree, with the directories above it.
    func place(
        _ bytes: [UInt8],
        at path: String,
        in tree: SandboxTree
    ) throws(SupervisorError) {
        let parts = path.split(separator: "/").map(String.init)
        let folder = parts.dropLast().joined(separator: "/")
        try kernel("fill a tree", path) { () throws(SystemError) in
            try Self.makeDirectories(folder, in: tree.directory)
            try tree.directory.openBeneath(folder.isEmpty ? "." : folder, [.read, .directory])
                .replace(parts[parts.count - 1], with: bytes)
        }
    }

    private static func makeDirectories(
        _ path: String,
        in root: borrowing Descriptor
    ) throws(SystemError) {
        var folder = try root.duplicate()
        for name in path.split(separator: "/").map(String.init) {
            do throws(SystemError) { try folder.makeDirectory(name) } catch {
                guard error.isAlreadyThere else { throw error }
            }
            let next = try folder.openBeneath(name, [.read, .directory])
            try next.setPermissions(0o755)
            folder = next
        }
    }

    /// Serves the loop until a sandbox is gone.
    func wait(for sandbox: RunningSandbox) throws(SupervisorError) -> SandboxExit {
        try kernel("wait for a sandbox", "event loop") { () throws(SystemError) in
            try loop.run(until: { sandbox.exit != nil || isLost })
        }
        guard let exit = sandbox.exit else {
            throw SupervisorError(LauncherError.lost(during: "run a sandbox"))
        }
        return exit
    }

    /// Waits until a sandbox's program has ended, whatever is still to be removed of it.
    func waitForEnd(of sandbox: RunningSandbox) throws(SupervisorError) {
        try kernel("wait for a sandbox", "event loop") { () throws(SystemError) in
            try loop.run(until: { sandbox.hasEnded || isLost })
        }
    }

    /// Ends the launcher and waits for it.
    func close() throws(SupervisorError) {
        guard !isLost else { return }
        do throws(LauncherError) { try launcher.shutDown() } catch {
            throw SupervisorError(error)
        }
    }
}
