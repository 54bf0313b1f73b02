internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
public import Workspace

/// Removes old files of the operator's from the state of an experiment, by a row.
///
/// Only transcripts and logs are ever looked at: the record, its key, candidates, the vault, the outcomes of
/// sealed exams and the train traces of the last exam lie elsewhere and stay.
public struct Pruning: Equatable, Sendable {
    /// The transcripts to remove, oldest first, by their names.
    public private(set) var transcripts: [String] = []
    /// The bytes that become free.
    public private(set) var bytes = 0

    /// What is removed by a setting.
    ///
    /// - Parameters:
    ///   - settings: what is kept.
    ///   - experiment: the experiment's id.
    ///   - layout: where its state lies.
    ///   - now: now, in milliseconds since 1970.
    /// - Throws: ``SupervisorError``.
    init(
        _ settings: RetentionSettings,
        of experiment: String,
        in layout: StateLayout,
        at now: Int64
    ) throws(SupervisorError) {
        let sizes = try Self.sizes(layout.transcripts(experiment))
        let moments = sizes.keys.sorted()
        let kept = settings.transcripts.map { moments.suffix($0).first ?? .max } ?? .min
        let oldest = settings.age.map { now - $0.wholeMilliseconds } ?? .min
        for moment in moments where moment < kept || moment < oldest {
            transcripts.append("\(moment).jsonl")
            bytes += sizes[moment] ?? 0
        }
    }

    // By moment; what has another name is none of ours.
    private static func sizes(_ folder: String) throws(SupervisorError) -> [Int64: Int] {
        try system("list transcripts", folder) { () throws(SystemError) in
            do throws(SystemError) {
                let directory = try Descriptor.open(folder, [.read, .directory])
                var sizes: [Int64: Int] = [:]
                for name in try directory.entries() {
                    guard let moment = Int64(name.prefix { $0 != "." }),
                        name == "\(moment).jsonl"
                    else { continue }
                    sizes[moment] = Int(clamping: try FileStatus(of: name, in: directory).size)
                }
                return sizes
            } catch {
                guard error.isMissing else { throw error }
                return [:]
            }
        }
    }

    /// The row that announces it; nothing where nothing is removed.
    func event(by whom: String) -> LedgerEvent? {
        guard !transcripts.isEmpty else { return nil }
        return .other(
            kind: EventKind.pruned.rawValue,
            body: [
                "transcripts": JSONValue(transcripts.count), "bytes": JSONValue(bytes),
                "by": .string(whom),
            ]
        )
    }

    /// Removes the files.
    func carryOut(in folder: String) throws(SupervisorError) {
        guard !transcripts.isEmpty else { return }
        try system("remove old transcripts", folder) { () throws(SystemError) in
            let directory = try Descriptor.open(folder, [.read, .directory])
            for name in transcripts {
                do throws(SystemError) { try directory.remove(name) } catch {
                    guard error.isMissing else { throw error }
                }
            }
        }
    }

    /// Prunes by hand, while no run is on.
    ///
    /// - Parameters:
    ///   - settings: what is kept; what it does not say, the configuration says.
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    ///   - isDry: whether nothing is removed.
    /// - Returns: what was removed, or would be.
    /// - Throws: ``SupervisorError``.
    public static func byHand(
        _ settings: RetentionSettings,
        in experiment: Experiment,
        layout: StateLayout,
        isDry: Bool
    ) throws(SupervisorError) -> Pruning {
        let configured = try ExperimentInputs.readConfig(experiment).retention
        var settings = settings
        if settings.transcripts == nil, settings.age == nil {
            (settings.transcripts, settings.age) = (configured.transcripts, configured.age)
        }
        let operation = "remove old files"
        guard settings.transcripts != nil || settings.age != nil else {
            throw SupervisorError(
                .usage,
                operation: operation,
                location: experiment.directory,
                reason: "nothing says what is old",
                remedy: "write --keep N or --older-than DAYS, or retention: in the configuration"
            )
        }
        if isDry {
            try Supervision.giveUpRights()
            try experiment.requireBound(in: layout)
            return try Pruning(settings, of: experiment.id, in: layout, at: WallClock.milliseconds)
        }
        var found: Pruning?
        try OperatorRow.append(to: operation, in: experiment, layout: layout) {
            (_) throws(SupervisorError) in
            let pruning = try Pruning(
                settings,
                of: experiment.id,
                in: layout,
                at: WallClock.milliseconds
            )
            found = pruning
            return pruning.event(by: "operator")
        }
        guard let pruning = found else { fatalError("the row was asked for") }
        try pruning.carryOut(in: layout.transcripts(experiment.id))
        return pruning
    }
}

extension Supervision {
    /// Removes what the configuration says is old, when a run is over.
    func prune(progress: (String) -> Void) throws(SupervisorError) {
        let id = inputs.experiment.id
        let pruning = try Pruning(
            inputs.config.retention,
            of: id,
            in: layout,
            at: WallClock.milliseconds
        )
        guard let event = pruning.event(by: "retention") else { return }
        try append(event, at: WallClock.milliseconds)
        try pruning.carryOut(in: layout.transcripts(id))
        progress("\(pruning.transcripts.count) old transcripts are removed")
    }

    /// Begins logs anew that are larger than the configuration allows, before anybody has opened one; of
    /// each the one before is kept beside it.
    ///
    /// - Returns: the row that says so; nothing where nothing was done.
    static func rotateLogs(
        _ limit: Int?,
        of id: String,
        in layout: StateLayout
    ) throws(SupervisorError) -> LedgerEvent? {
        guard let limit else { return nil }
        let folder = layout.experiment(id)
        return try system("begin logs anew", folder) { () throws(SystemError) in
            let directory = try Descriptor.open(folder, [.read, .directory])
            var (count, freed) = (0, 0)
            for path in [layout.agentLog(id), layout.agentCalls(id), layout.brokerLog(id)] {
                let name = String(path.dropFirst(folder.count + 1))
                guard let size = try size(of: name, in: directory), size > limit else { continue }
                freed += try Self.size(of: "\(name).1", in: directory) ?? 0
                try directory.rename(name, to: "\(name).1")
                count += 1
            }
            guard count > 0 else { return nil }
            return .other(
                kind: EventKind.pruned.rawValue,
                body: [
                    "logs": JSONValue(count), "bytes": JSONValue(freed), "by": "retention",
                ]
            )
        }
    }

    private static func size(
        of name: String,
        in directory: borrowing Descriptor
    ) throws(SystemError) -> Int? {
        do throws(SystemError) {
            return Int(clamping: try FileStatus(of: name, in: directory).size)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}
