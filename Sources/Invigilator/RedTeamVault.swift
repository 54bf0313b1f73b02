internal import HostKernel
internal import LinuxKernel
internal import Supervisor

/// A vault of the red team's own: one split that an examiner sees, and one that it must not.
final class RedTeamVault {
    private let layout: StateLayout
    private let id: String

    /// Makes the directories, as root.
    init(in layout: StateLayout) throws(SupervisorError) {
        self.layout = layout
        let bytes = try kernel("draw a name", "vault") { () throws(SystemError) in
            try KernelRandom.bytes(8)
        }
        id = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try layout.create(experiment: id)
    }

    /// The directory of the split that an examiner is shown.
    var train: String { layout.split(id, "train") }

    /// A directory for records of the red team's own, removed with the vault.
    var record: String { layout.experiment(id) }

    /// Writes its tasks, as the supervisor's user.
    func fill() throws(SupervisorError) {
        for split in ["train", "test"] {
            try kernel("fill a vault", layout.split(id, split)) { () throws(SystemError) in
                try layout.fill(id, split, with: Array("[]\n".utf8))
            }
        }
    }

    /// Removes it.
    func remove() throws(SupervisorError) {
        let (layout, id) = (layout, id)
        try kernel("remove a vault", layout.vault(id)) { () throws(SystemError) in
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            for split in ["train", "test"] {
                let folder = try vault.openBeneath(split, [.read, .directory])
                for name in try folder.entries() { try folder.remove(name) }
                try vault.remove(split, isDirectory: true)
            }
            try Descriptor.open(layout.vault, [.read, .directory]).remove(id, isDirectory: true)
            let experiment = try Descriptor.open(layout.experiment(id), [.read, .directory])
            for name in try experiment.entries() {
                try experiment.remove(name, isDirectory: ["view", "sealed"].contains(name))
            }
            try Descriptor.open(layout.experiments, [.read, .directory])
                .remove(id, isDirectory: true)
        }
    }
}
