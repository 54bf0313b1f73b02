// `isolation: experiment` lets other experiments' coding agents run beside our sealed exams. One that was
// drawn from the same split may not be among them: whatever our candidates let it know of our sealed tasks, it
// would know of its own, and its rows say that nobody could tell it.
//
// Two splits of one benchmark that were drawn apart share tasks by chance, and are not refused; that live
// channels are not bounded stands in every row of ours. Of this state directory every experiment is looked
// at, whether it runs or not; of others those that run, which say so in the folder of claims.

internal import HostKernel
internal import ExamResults
internal import LinuxKernel
internal import Workspace

extension Supervision {
    /// Says which split this experiment was drawn from, for those who must not run beside it.
    func joinTurns() throws(SupervisorError) {
        let key = try splitKey(of: inputs.experiment.id) ?? []
        try turn.join(SHA256Digest.hex(of: Array("invigilator split ".utf8) + key))
    }

    /// Refuses an experiment that freezes nobody else beside one of its split; where that cannot be told, too.
    func requireOwnSplit() throws(SupervisorError) {
        guard turn.isolation == .experiment else { return }
        let id = inputs.experiment.id
        let key = try splitKey(of: id)
        let others = try system("find other experiments", layout.experiments) {
            () throws(SystemError) in
            try Descriptor.open(layout.experiments, [.read, .directory]).entries()
        }
        let own = try sealedTasks(of: id)
        for other in others.sorted() where other != id {
            let isSame: Bool
            do throws(SupervisorError) {
                guard let otherKey = try splitKey(of: other) else { continue }
                let sealed = try sealedTasks(of: other)
                isSame = otherKey == key || sealed == own
            } catch {
                throw refusal(
                    "it cannot be told whether experiment \(other) has its split: \(error)"
                )
            }
            if isSame { throw refusal("experiment \(other) was drawn from the same split") }
        }
    }

    /// The same of who runs on this host, with the turn of a sealed exam taken.
    func requireNoNeighbour() throws(SupervisorError) {
        guard turn.isolation == .experiment, let other = try turn.neighbourOfSplit() else { return }
        throw refusal("experiment \(other), which runs, was drawn from the same split")
    }

    // Nothing where no split was drawn yet.
    private func splitKey(of id: String) throws(SupervisorError) -> [UInt8]? {
        try system("read the split's key", layout.vault(id)) { () throws(SystemError) in
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            guard try vault.entries().contains("split.key") else { return nil }
            return try vault.contents(of: "split.key", limit: 64)
        }
    }

    private func sealedTasks(of id: String) throws(SupervisorError) -> Set<TaskID> {
        let bytes = try system("read the sealed tasks", layout.split(id, "test")) {
            () throws(SystemError) in
            try Descriptor.open(layout.split(id, "test"), [.read, .directory])
                .contents(of: "tasks.json", limit: 256 << 20)
        }
        return try workspace { () throws(WorkspaceError) in
            Set(try TaskCatalog(parsing: bytes, file: "test/tasks.json").entries.map(\.id))
        }
    }

    private func refusal(_ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "let other coding agents run beside sealed exams",
            location: "\(inputs.experiment.directory), isolation: experiment",
            reason: reason,
            remedy:
                "make this experiment anew with isolation: host, or remove the other one's state"
        )
    }
}
