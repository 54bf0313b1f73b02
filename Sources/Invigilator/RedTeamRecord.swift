// Attacks on the record: one is made with the program's own ledger, and each attack changes a copy.
//
// The control is a reader that believes what parses, or a verification that lacks what the attack is
// refused by. A copy that the control refuses, or reads as it was, shows nothing: the attack is broken.

internal import FoundationEssentials
internal import HostKernel
internal import Ledger
internal import LinuxKernel
package import RedTeam
internal import StrictJSON

/// A record of six rows, and what became of its copies.
package final class RedTeamRecord {
    /// What an attack met with.
    package struct Finding {
        /// What a reader without the wall made of it.
        package let control: Answer
        /// What the program made of it.
        package let inside: Answer
    }

    /// The row that attacks change: a verdict.
    static let target = 3
    /// What it says.
    static let refused = "rejected"
    /// What it is made to say; as long, so that it can be changed in place.
    static let wanted = "accepted"

    private let folder: String
    private let entries: [LedgerEntry]
    private let database: [UInt8]
    private let older: [UInt8]
    private let export: [UInt8]
    private let publicKey: String
    private let witness: LedgerWitness
    private var copies = 0

    /// Makes the record in a directory of the supervisor's.
    package init(in folder: String) throws {
        self.folder = folder
        let path = folder + "/record.sqlite"
        let ledger = try Ledger.create(
            at: path,
            keyAt: Self.key(folder),
            time: WallClock.milliseconds
        )
        try Self.append(1...3, to: ledger, verdict: Self.refused)
        try ledger.close()
        older = try Self.bytes(of: path)
        let again = try Ledger.open(at: path, keyAt: Self.key(folder))
        try Self.append(4...6, to: again, verdict: Self.refused)
        export = try Self.export(of: again.reader, signedWith: Self.key(folder))
        let report = try again.verify(depth: .everySignature)
        witness = LedgerWitness(count: report.count, head: report.head)
        publicKey = again.publicKey
        entries = try again.entries()
        try again.close()
        database = try Self.bytes(of: path)
    }

    private static func key(_ folder: String) -> String { folder + "/record.key" }

    private static func bytes(of path: String) throws -> [UInt8] {
        try Descriptor.open(path, .read).readAll(limit: 1 << 24)
    }

    private static func append(
        _ rows: ClosedRange<Int>,
        to ledger: Ledger,
        verdict: String
    ) throws {
        for number in rows {
            let isVerdict = number == target
            let body: JSONValue = [
                "iteration": JSONValue(number), "verdict": .string(isVerdict ? verdict : "none"),
            ]
            try ledger.append(
                isVerdict ? .decision : .learning,
                body,
                time: WallClock.milliseconds
            )
        }
    }

    private static func export(
        of reader: LedgerReader,
        signedWith key: String
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try reader.export(signedWithKeyAt: key) { bytes += $0 }
        return bytes
    }

    // MARK: - attacks

    /// Makes attacks; what each met with by its word.
    func findings(of probes: [Probe]) throws -> [String: Finding] {
        var findings: [String: Finding] = [:]
        for probe in probes {
            let name = probe.id.dropFirst(probe.family.rawValue.count + 1)
            findings[probe.word] = try attack(String(name))
        }
        return findings
    }

    /// Makes the attack of this name; nothing where there is none.
    package func attack(_ name: String) throws -> Finding? {
        if let change = Forgery.ofRows[name] {
            return try judged(copy(of: database)) { path in try Forgery.alter(path, change) }
        }
        if let change = Forgery.ofExports[name] { return judged(export: change(export)) }
        switch name {
        case "flip-byte": return try judged(copy(of: flipped())) { _ in }
        case "roll-back": return try judged(copy(of: older)) { _ in }
        case "edit-row": return try editGuarded()
        case "remove-guards": return try removeGuards()
        case "sign-with-another-key":
            let forged = try forgedRecord()
            let bytes = try Self.export(of: .open(at: forged.path), signedWith: forged.key)
            return Finding(
                control: Ledger.verifyExport(bytes).isIntact ? .works : .absent,
                inside: Self.answer(Ledger.verifyExport(bytes, publicKey: publicKey))
            )
        case "replace-key":
            let forged = try forgedRecord()
            let isIntact = try LedgerReader.open(at: forged.path).verify().isIntact
            return Finding(
                control: isIntact ? .works : .absent,
                inside: opened(forged.path)
            )
        default: return nil
        }
    }

    private func copy(of bytes: [UInt8]) throws -> String {
        copies += 1
        let name = "copy-\(copies).sqlite"
        try Descriptor.open(folder, [.read, .directory])
            .replace(name, with: bytes, permissions: 0o600)
        return "\(folder)/\(name)"
    }

    private func flipped() -> [UInt8] {
        let text = Array("\"\(Self.refused)\"".utf8)
        let place = database.indices.first { database[$0...].starts(with: text) }
        var bytes = database
        if let place { bytes[place + 1] ^= 1 }
        return bytes
    }

    private func editGuarded() throws -> Finding {
        let finding = try judged(copy(of: database)) { path in
            try Forgery.alter(path, Forgery.edit)
        }
        let path = try copy(of: database)
        let refusal = Forgery.refusal(of: Forgery.edit, at: path)
        return Finding(control: finding.control, inside: refusal.map { .refused($0) } ?? .works)
    }

    private func removeGuards() throws -> Finding {
        let path = try copy(of: database)
        try Forgery.removeGuards(at: path)
        return Finding(
            control: Forgery.refusal(of: Forgery.edit, at: path) == nil ? .works : .absent,
            inside: opened(path)
        )
    }

    // A record of the forger's own, whole and signed, in which the verdict is the one that it wants.
    private func forgedRecord() throws -> (path: String, key: String) {
        copies += 1
        let (path, key) = ("\(folder)/forged-\(copies).sqlite", "\(folder)/forged-\(copies).key")
        let ledger = try Ledger.create(at: path, keyAt: key, time: WallClock.milliseconds)
        try Self.append(1...6, to: ledger, verdict: Self.wanted)
        try ledger.close()
        return (path, key)
    }

    // MARK: - judgement

    private func judged(_ path: String, _ change: (String) throws -> Void) throws -> Finding {
        try change(path)
        let reader = try LedgerReader.open(at: path)
        let believed = try? reader.entries()  // a reader that stumbles was not deceived
        return Finding(
            control: believed.map { $0 != entries } == true ? .works : .absent,
            inside: Self.answer(try reader.verify(depth: .everySignature, witness: witness))
        )
    }

    private func judged(export forged: [UInt8]) -> Finding {
        let believed = Forgery.looseRows(of: forged)
        return Finding(
            control: believed != Forgery.looseRows(of: export) ? .works : .absent,
            inside: Self.answer(Ledger.verifyExport(forged, publicKey: publicKey))
        )
    }

    private static func answer(_ report: VerificationReport) -> Answer {
        report.fault.map { .refused($0.description) } ?? .works
    }

    // Opening for appending, as the next run does it.
    private func opened(_ path: String) -> Answer {
        do throws(LedgerError) {
            try Ledger.open(at: path, keyAt: Self.key(folder)).close()
            return .works
        } catch {
            return .refused(error.reason)
        }
    }
}
