internal import HostKernel
internal import ExamResults
public import IterationLoop
internal import LinuxKernel
internal import StrictJSON
public import Workspace

/// The split of an experiment, drawn again from what its vault holds.
public struct VaultSplit {
    /// The split.
    public let draw: SplitDraw
    /// What its commitment was made with.
    public let salt: [UInt8]

    /// The pairs that the draw kept apart, in the vault where there are any.
    static let twinsFile = "split.twins"

    /// Reads a vault and draws again.
    ///
    /// - Parameters:
    ///   - genesis: the genesis row.
    ///   - layout: where the vault is.
    /// - Throws: ``SupervisorError`` where the vault cannot be read or nothing can be drawn from it.
    public init(_ genesis: GenesisRecord, in layout: StateLayout) throws(SupervisorError) {
        let path = layout.vault(genesis.experiment)
        let files = try system("read the split", path) { () throws(SystemError) in
            let vault = try Descriptor.open(path, [.read, .directory])
            let hasTwins = try vault.entries().contains(Self.twinsFile)
            return (
                salt: try vault.contents(of: "split.salt", limit: 64),
                key: try vault.contents(of: "split.key", limit: 64),
                twins: hasTwins ? try vault.contents(of: Self.twinsFile, limit: 1 << 20) : nil,
                train: try vault.contents(of: "train/tasks.json", limit: 256 << 20),
                test: try vault.contents(of: "test/tasks.json", limit: 256 << 20)
            )
        }
        salt = files.salt
        let twins = try Self.pairs(files.twins)
        draw = try workspace { () throws(WorkspaceError) in
            let entries =
                try TaskCatalog(parsing: files.train, file: "train/tasks.json").entries
                + TaskCatalog(parsing: files.test, file: "test/tasks.json").entries
            return try SplitDraw(of: entries, key: files.key, twins: twins)
                .holdingBack(genesis.finalCount, key: files.key, keeping: twins)
        }
    }

    /// The pairs as a file of the vault; nothing where there are none.
    static func bytes(of twins: [WatchfulTasks.Twins]) -> [UInt8]? {
        guard !twins.isEmpty else { return nil }
        let pairs = twins.map { JSONValue([$0.task.text, $0.twin.text]) }
        return JSONValue.array(pairs).canonicalBytes
    }

    private static func pairs(_ bytes: [UInt8]?) throws(SupervisorError) -> [WatchfulTasks.Twins] {
        guard let bytes else { return [] }
        do {
            return try (JSONValue(parsing: bytes, limits: .document).arrayValue ?? []).map { pair in
                let names = (pair.arrayValue ?? []).compactMap(\.stringValue)
                guard names.count == 2 else { throw ExamError.nothingPlanned }
                return WatchfulTasks.Twins(task: try TaskID(names[0]), twin: try TaskID(names[1]))
            }
        } catch {
            throw SupervisorError(
                .integrity,
                operation: "read the split",
                location: twinsFile,
                reason: "it is no list of pairs of tasks",
                remedy: "do not trust this state directory; restore it from a copy"
            )
        }
    }
}
