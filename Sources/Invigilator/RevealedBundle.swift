internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Transparency

/// What an auditor is given, as files of one folder.
enum RevealedBundle {
    /// The folder of outcomes below the one that is made.
    static let folder = "sealed"

    /// Reads everything, as the supervisor's user: path to bytes in base 64.
    static func read(_ options: ExperimentOptions) throws(SupervisorError) -> JSONValue {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let state = try RecordedExperiment.replay(record.entries())
        guard let genesis = state.genesis, genesis.revealDigest != nil else {
            throw SupervisorError(
                .usage,
                operation: "reveal sealed outcomes",
                location: record.experiment.directory,
                reason: state.genesis == nil
                    ? "it is not prepared yet"
                    : "it was prepared by a version that kept no outcomes",
                remedy: "reveal an experiment that this version has prepared"
            )
        }
        var files: [String: [UInt8]] = [:]
        do throws(LedgerError) {
            var export: [UInt8] = []
            try record.reader.export(signedWithKeyAt: record.layout.key(record.experiment.id)) {
                export += $0
            }
            files["ledger.jsonl"] = export
        } catch {
            throw SupervisorError(reading: error)
        }
        files["experiment_config.yaml"] = record.configuration
        let (layout, id) = (record.layout, record.experiment.id)
        try kernel("read sealed outcomes", layout.sealed(id)) { () throws(SystemError) in
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            files["reveal.key"] = try vault.contents(of: StateLayout.revealKey, limit: 64)
            let sealed = try Descriptor.open(layout.sealed(id), [.read, .directory])
            for name in try sealed.entries() where name.hasSuffix(".bin") {
                files["\(folder)/\(name)"] = try sealed.contents(of: name, limit: 256 << 20)
            }
        }
        files["\(folder)/\(AuditMaterial.split)"] = try SplitOpening(genesis, in: layout).bytes
        return .object(files.mapValues { .string(Base64.text(of: $0)) })
    }

    /// Writes the files into a folder of this name, which must be new.
    static func write(_ answer: [UInt8], to path: String) throws(SupervisorError) {
        var files: [String: [UInt8]] = [:]
        do throws(JSONError) {
            let limits = JSONLimits(
                maximumBytes: 1 << 28,
                maximumDepth: 2,
                maximumNodes: 1 << 20,
                maximumStringBytes: 1 << 28
            )
            let value = try JSONValue(parsing: answer, limits: limits)
            for (name, text) in value.objectValue ?? [:] {
                files[name] = text.stringValue.flatMap { Base64.bytes(of: $0) }
            }
        } catch {
            throw SupervisorError(
                .hostFailed,
                operation: "read sealed outcomes",
                location: "a second process",
                reason: "\(error)",
                remedy: "install one version of invigilator only"
            )
        }
        try kernel("write what was revealed", path) { () throws(SystemError) in
            let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
            let above =
                (path.hasPrefix("/") ? "/" : "./") + parts.dropLast().joined(separator: "/")
            let place = try Descriptor.resolvedPath(above)
            let parent = try Descriptor.open(place, [.read, .directory])
            let name = parts.last ?? "."
            try parent.makeDirectory(name, permissions: 0o700)
            let made = try parent.openBeneath(name, [.read, .directory])
            for (file, bytes) in files.sorted(by: { $0.key < $1.key }) {
                try made.place(bytes, at: file, permissions: 0o600)
            }
            try give(made, to: try parent.status())
        }
    }

    // Whoever owns the folder above is who asked for it.
    private static func give(
        _ folder: borrowing Descriptor,
        to owner: FileStatus
    ) throws(SystemError) {
        guard Identity.effectiveUser == 0 else { return }
        let sealed = try folder.openBeneath(Self.folder, [.read, .directory])
        for name in try sealed.entries() {
            try sealed.setOwner(of: name, owner.owner, group: owner.group)
        }
        for name in try folder.entries() {
            try folder.setOwner(of: name, owner.owner, group: owner.group)
        }
        try folder.setOwner(owner.owner, group: owner.group)
    }
}
