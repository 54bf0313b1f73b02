internal import ExamResults
internal import HostKernel
internal import IterationLoop
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Transparency
internal import Workspace

/// A split with the salt that opens the commitment to it.
struct SplitOpening {
    private static let schema = "invigilator.split-opening/1"

    /// The train tasks, sorted.
    let train: [TaskID]
    /// The sealed tasks of the gate's exams, sorted.
    let test: [TaskID]
    /// Those that were held back, sorted.
    let final: [TaskID]
    private let salt: [UInt8]

    /// Reads the split of a vault.
    init(_ genesis: GenesisRecord, in layout: StateLayout) throws(SupervisorError) {
        let split = try VaultSplit(genesis, in: layout)
        salt = split.salt
        (train, test, final) = (split.draw.train, split.draw.test, split.draw.final)
    }

    /// Reads a file that ``bytes`` wrote.
    init(parsing bytes: [UInt8]) throws {
        var reader = try ObjectReader(
            JSONValue(parsing: bytes, limits: .document),
            location: AuditMaterial.split
        )
        let schema = try reader.requiredString("schema")
        let salt = Base64.bytes(of: try reader.requiredString("salt"))
        train = try reader.requiredArray("train").map { try TaskID($0.stringValue ?? "") }
        test = try reader.requiredArray("test").map { try TaskID($0.stringValue ?? "") }
        final = try reader.requiredArray("final").map { try TaskID($0.stringValue ?? "") }
        try reader.finish()
        guard schema == Self.schema, let salt else {
            throw JSONError.member(location: AuditMaterial.split, fault: .unknown)
        }
        self.salt = salt
    }

    /// The opening as a file.
    var bytes: [UInt8] {
        let value: JSONValue = [
            "schema": .string(Self.schema), "salt": .string(Base64.text(of: salt)),
            "train": JSONValue(train.map(\.text)), "test": JSONValue(test.map(\.text)),
            "final": JSONValue(final.map(\.text)),
        ]
        return value.canonicalBytes + [0x0A]
    }

    /// The commitment that this opens.
    var commitment: String {
        SplitDraw.commitment(train: train, test: test, final: final, salt: salt)
    }
}
