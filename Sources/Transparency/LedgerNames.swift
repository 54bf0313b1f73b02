extension NoteKey {
    /// The keys of a ledger, in the order in which they signed: all have the name that the first one
    /// gave it, because a log keeps its name when its key changes.
    ///
    /// - Parameter keys: the ledger's keys; not empty.
    /// - Returns: a key for each.
    public static func all(ofLedger keys: [PublicKey]) -> [NoteKey] {
        guard let first = keys.first else { return [] }
        let name = NoteKey(ofLedger: first).name
        return keys.compactMap { NoteKey(name: name, publicKey: $0) }
    }
}

extension Checkpoint {
    /// Reads a note that one of a ledger's keys signed as a checkpoint of its own.
    ///
    /// - Parameters:
    ///   - bytes: the note.
    ///   - keys: the ledger's keys, the newest one last; not empty.
    /// - Throws: ``NoteError``: that of the newest key where none has signed.
    public init(verifying bytes: [UInt8], signedByOneOf keys: [NoteKey]) throws(NoteError) {
        var last: NoteError?
        for key in keys.reversed() {
            do throws(NoteError) {
                self = try Checkpoint(verifying: bytes, signedBy: key)
                return
            } catch {
                // A wrong signature in one key's name is not made good by another's.
                guard case .notSigned = error else { throw error }
                last = last ?? error
            }
        }
        throw last ?? .malformed("the ledger has no key")
    }
}
