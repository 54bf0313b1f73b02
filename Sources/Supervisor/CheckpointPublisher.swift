// Checkpoints of the record, kept elsewhere while the night goes on.
//
// The supervisor has no right to any place of the operator's and opens none of its paths. So a second
// process of ours is started while we are root; it becomes the owner of the experiment's directory,
// and holds nothing of the record. Order of each round: it says what is kept there; we compare that
// with the record, because what the record does not continue must not be replaced; we sign; it keeps.

internal import HostKernel
package import Ledger
package import LinuxKernel
internal import Transparency
package import Workspace

/// Keeps a checkpoint where the configuration says, through a process with the operator's rights.
package final class CheckpointPublisher {
    /// What a round ended in.
    package enum Outcome: Sendable, Equatable {
        /// The place has a checkpoint of so many rows.
        case kept(rows: Int)
        /// The place could not be read or written, in words.
        case failed(String)
        /// The record does not continue what the place has, in words.
        case departs(String)
    }

    private enum Stage {
        case idle
        case looking
        case keeping(rows: Int)
        case lost
    }

    private let settings: PublishSettings
    private let link: PublisherLink
    private let reader: LedgerReader
    private let keyPath: String
    private let key: NoteKey
    private let keys: [NoteKey]
    private let loop: EventLoop
    private var tree = MerkleTree()
    private var stage = Stage.idle
    private var isWanted = false
    private var deadline: EventLoop.Token?
    /// Told the outcome of each round.
    package var onOutcome: (Outcome) -> Void = { _ in }

    /// Speaks with a process that was started.
    ///
    /// - Parameters:
    ///   - link: the process.
    ///   - settings: where it keeps checkpoints, and for how long it may try.
    ///   - ledger: the record, of which every row was verified.
    ///   - keyPath: the ledger's key.
    ///   - loop: the loop of this process.
    /// - Throws: ``SupervisorError`` where the ledger's key is none.
    package init(
        _ link: PublisherLink,
        _ settings: PublishSettings,
        ledger: LedgerReader,
        keyAt keyPath: String,
        loop: EventLoop
    ) throws(SupervisorError) {
        let keys = try ledgered { () throws(LedgerError) in try ledger.verify().keys }
        let names = NoteKey.all(ofLedger: keys.compactMap { PublicKey(hex: $0.publicKey) })
        guard let key = names.last else {
            throw SupervisorError(
                .integrity,
                operation: "publish a checkpoint",
                location: ledger.path,
                reason: "its public key is no Ed25519 key",
                remedy: "compare it with an export that you kept"
            )
        }
        self.link = link
        self.settings = settings
        self.keyPath = keyPath
        self.key = key
        self.keys = names
        self.loop = loop
        reader = ledger
        link.watch(on: loop) { [unowned self] reply in take(reply) }
    }

    /// Whether a run ends where a checkpoint cannot be kept.
    package var isRequired: Bool { settings.isRequired }

    /// The place in one word.
    package var place: String { settings.place.word }

    /// Begins to keep a checkpoint of the record as it is; while one is being kept, another one of the
    /// record as it is then follows.
    package func publish() {
        switch stage {
        case .idle: look()
        case .looking, .keeping: isWanted = true
        case .lost: onOutcome(.failed("the process that keeps checkpoints is gone"))
        }
    }

    /// Waits until nothing is being kept any more.
    package func settle() throws(SupervisorError) {
        while true {
            switch stage {
            case .idle, .lost: return
            case .looking, .keeping:
                try system("publish a checkpoint", place) { () throws(SystemError) in
                    try loop.turn(atMost: nil)
                }
            }
        }
    }

    /// Lets the process go.
    package func end() {
        loop.forget(deadline)
        link.close()
        stage = .lost
    }

    // MARK: - one round

    private func look() {
        stage = .looking
        isWanted = false
        ask([])
    }

    private func ask(_ bytes: [UInt8]) {
        loop.forget(deadline)
        // The process ends what takes longer by itself; this is for one that hangs.
        let limit = UInt64(clamping: settings.timeout.wholeMilliseconds) + 10_000
        deadline = loop.at(MonotonicTime.now.advanced(by: .milliseconds(limit))) {
            [unowned self] in lose("it did not answer within \(limit / 1000) s")
        }
        guard link.send(bytes) else { return lose("it ended") }
    }

    private func lose(_ reason: String) {
        end()
        onOutcome(.failed("the process that keeps checkpoints: \(reason)"))
    }

    private func take(_ reply: PublisherReply?) {
        switch (stage, reply) {
        case (.lost, _): return
        case (_, nil): lose("it ended")
        case (.looking, .kept(let note)): compare(note)
        case (.looking, .failed(let reason)), (.keeping, .failed(let reason)):
            conclude(.failed(reason))
        case (.keeping(let rows), .done): conclude(.kept(rows: rows))
        case (.looking, .done), (.keeping, .kept), (.idle, .some): lose("it spoke out of turn")
        }
    }

    private func compare(_ note: [UInt8]) {
        do {
            for line in try reader.exportLines(after: tree.size) { tree.append(line) }
            if !note.isEmpty {
                let kept = try Checkpoint(verifying: note, signedByOneOf: keys)
                if let fault = kept.fault(in: tree) { return conclude(.departs("\(fault)")) }
            }
            let head = Checkpoint(origin: key.name, of: tree)
            let signed = try SignedNote(signing: head.text, as: key) { message in
                try reader.signature(over: message, withKeyAt: keyPath)
            }
            stage = .keeping(rows: tree.size)
            ask(signed.bytes)
        } catch let error as NoteError {
            conclude(.departs("\(error)"))
        } catch {
            conclude(.failed("\(error)"))
        }
    }

    private func conclude(_ outcome: Outcome) {
        loop.forget(deadline)
        stage = .idle
        onOutcome(outcome)
        if isWanted, case .idle = stage { look() }
    }
}
