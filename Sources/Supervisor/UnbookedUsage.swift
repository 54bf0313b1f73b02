internal import HostKernel
internal import IterationLoop
package import Ledger
internal import LinuxKernel
package import StrictJSON

/// What models were used for since the last row about it, in a file that is written a few times a second.
///
/// A row a second would fill the record. A supervisor that is killed leaves the file behind, and the next
/// one writes the row. It holds for the last row that it names only: what came after one is not in it.
package struct UnbookedUsage {
    /// The number of the last `model-usage` row; 0 where there is none.
    let row: Int
    /// The body of the row that is not written.
    package let body: JSONValue

    private static let name = "unbooked.json"

    init(after row: Int, _ usage: ModelUsage, iteration: Int) {
        self.row = row
        body = usage.body(iteration: iteration)
    }

    /// Writes it in one step.
    func write(to folder: String) throws(SystemError) {
        let value: JSONValue = ["row": JSONValue(row), "usage": body]
        try Descriptor.open(folder, [.read, .directory])
            .replace(Self.name, with: value.canonicalBytes, permissions: 0o600)
    }

    /// What a supervisor left that was killed; nil where it left nothing that is not on the record.
    ///
    /// - Parameters:
    ///   - folder: the experiment's state.
    ///   - entries: its whole record.
    /// - Throws: ``SupervisorError`` where it cannot be read, or is no such file: it is written in one step,
    ///   and what it says of would be used and paid by nobody.
    package init?(in folder: String, after entries: [LedgerEntry]) throws(SupervisorError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Descriptor.open(folder, [.read, .directory])
                .contents(of: Self.name, limit: 1 << 16)
        } catch {
            if error.isMissing { return nil }
            throw Self.fault(folder, "\(error)")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: .request)
        } catch {
            throw Self.fault(folder, "\(error)")
        }
        // Nothing but what such a row has goes on the record.
        guard let members = value.objectValue, Set(members.keys) == ["row", "usage"],
            let row = members["row"]?.intValue, let usage = members["usage"],
            let iteration = usage["iteration"]?.intValue,
            ModelUsage(adding: [usage], keepsRecovered: true).body(iteration: iteration) == usage
        else { throw Self.fault(folder, "it has other members than a model-usage row") }
        guard row == Self.lastRow(of: entries) else { return nil }
        (self.row, body) = (row, usage)
    }

    private static func fault(_ folder: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .integrity,
            operation: "read what models were used for since the last row",
            location: folder + "/" + name,
            reason: reason,
            remedy: "restore it from a copy; moved away, what it tells of counts on no budget"
        )
    }

    static func lastRow(of entries: [LedgerEntry]) -> Int {
        entries.last { $0.kind == ModelUsage.kind }?.sequence ?? 0
    }
}

extension Supervision {
    /// Writes the row that a supervisor which was killed could not write.
    func bookLeft(_ left: UnbookedUsage?) throws(SupervisorError) {
        guard let left else { return }
        let row = LedgerEvent.other(kind: ModelUsage.kind.rawValue, body: left.body)
        try append(row, at: WallClock.milliseconds)
    }

    /// Begins to keep what models were used for, between two rows about it.
    func watchUse() {
        models?.onUse = { [unowned self] in keepUnbooked() }
    }

    /// Keeps what was used since the last row; a disk that takes no file takes no row either, and that ends
    /// the run with an error of its own.
    func keepUnbooked() {
        guard let usage = models?.unbooked else { return }
        let unbooked = UnbookedUsage(after: lastUsageRow, usage, iteration: iterationOfUse())
        do throws(SystemError) {
            try unbooked.write(to: layout.experiment(inputs.experiment.id))
        } catch {}
    }

    /// What was used since the last row, for `status`; null where nothing was.
    var unbookedStanding: JSONValue {
        models?.unbooked.map { $0.body(iteration: iterationOfUse()) } ?? .null
    }
}
