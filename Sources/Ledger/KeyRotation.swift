// Gives a ledger another key. What is written here is one row like every other; who reads it verifies it
// (KeyChange.swift), so nothing of this file is believed.
//
// The new key is on the disk before the row, and takes the old one's place after it. A crash in between
// leaves both files, and the same act finishes what was begun: the rows say which key they go on with.
// All of it happens under the ledger's lock. Lost is only a key whose file is missing: one that cannot be
// used now may still be the ledger's, so it is neither removed nor replaced.

internal import HostKernel
internal import LinuxKernel
internal import StrictJSON

/// A change of a ledger's key.
public struct LedgerRekeying: Sendable, Equatable {
    /// The key before, 32 bytes as hexadecimal digits.
    public let old: String
    /// The key that signs from now on.
    public let new: String
    /// Whether an earlier attempt had written the row already.
    public let wasBegun: Bool
}

extension LedgerReader {
    /// Refuses a key that cannot sign the next row.
    ///
    /// - Throws: ``LedgerError/unsafeKey(location:reason:)`` or ``LedgerError/foreignKey(location:)``.
    public func requireKey(at keyPath: String) throws(LedgerError) {
        guard try SigningKey.load(at: keyPath).publicKey == currentKey() else {
            throw .foreignKey(location: keyPath)
        }
    }
}

extension Ledger {
    /// Where a new key lies until it is the ledger's.
    private static func waiting(_ keyPath: String) -> String { keyPath + ".next" }

    /// Lets the ledger's key sign its successor, which takes its place.
    ///
    /// - Parameters:
    ///   - path: the database.
    ///   - keyPath: the key; the old one is gone afterwards.
    ///   - time: now, in milliseconds since 1970.
    /// - Returns: what was done.
    /// - Throws: ``LedgerError``; ``LedgerError/unsafeKey(location:reason:)`` where the key is lost.
    public static func rotateKey(
        of path: String,
        keyAt keyPath: String,
        time: Int64
    ) throws(LedgerError) -> LedgerRekeying {
        try LedgerFile.requireRegular(path)
        let lock = try ProcessLock.take(at: path + ".lock")
        if let finished = try finish(path, keyPath) { return finished }
        let store = try LedgerStore.open(at: path, readOnly: false)
        let key = try SigningKey.load(at: keyPath)
        let ledger = try Ledger(store: store, key: key, lock: lock)
        guard try ledger.reader.currentKey() == key.publicKey else {
            throw .foreignKey(location: keyPath)
        }
        try ledger.verify().requireIntact(location: path)
        let next = try SigningKey.create(at: waiting(keyPath))
        let proof = try next.signature(
            over: ChainEncoding.nextKey(next.publicKey, after: ledger.head()),
            path: path
        )
        let body: JSONValue = [
            "public_key": .string(Hexadecimal.text(of: next.publicKey)),
            "proof": .string(Hexadecimal.text(of: proof)),
        ]
        try ledger.append(.keyRotated, body, time: time)
        try take(keyPath)
        try ledger.close()
        return LedgerRekeying(
            old: Hexadecimal.text(of: key.publicKey),
            new: Hexadecimal.text(of: next.publicKey),
            wasBegun: false
        )
    }

    /// Goes on with a new key where the old one is lost: a break that every verification shows.
    ///
    /// - Parameters:
    ///   - path: the database.
    ///   - keyPath: where the key was.
    ///   - reason: how it was lost, in the operator's words.
    ///   - time: now, in milliseconds since 1970.
    /// - Returns: what was done.
    /// - Throws: ``LedgerError``; ``LedgerError/exists(location:)`` where the key is not lost.
    public static func replaceKey(
        of path: String,
        keyAt keyPath: String,
        because reason: String,
        time: Int64
    ) throws(LedgerError) -> LedgerRekeying {
        try LedgerFile.requireRegular(path)
        let lock = try ProcessLock.take(at: path + ".lock")
        if let finished = try finish(path, keyPath) { return finished }
        let store = try LedgerStore.open(at: path, readOnly: false)
        let reader = try LedgerReader(store: store)
        try reader.verify().requireIntact(location: path)
        let old = try reader.currentKey()
        if let key = try present(keyPath) {
            if key.publicKey == old { throw .exists(location: keyPath) }
            throw unusable(keyPath, "it is another key than the one that the rows go on with")
        }
        let next = try SigningKey.create(at: waiting(keyPath))
        let ledger = try Ledger(store: store, key: next, lock: lock)
        let new = Hexadecimal.text(of: next.publicKey)
        try ledger.append(
            .keyReplaced,
            ["public_key": .string(new), "reason": .string(reason)],
            time: time
        )
        try take(keyPath)
        try ledger.close()
        return LedgerRekeying(old: Hexadecimal.text(of: old), new: new, wasBegun: false)
    }

    // Ends what an earlier attempt began: with its row written, its key takes its place; without,
    // its key is removed and nothing is returned. The caller holds the lock.
    private static func finish(
        _ path: String,
        _ keyPath: String
    ) throws(LedgerError) -> LedgerRekeying? {
        let nextPath = waiting(keyPath)
        guard let file = try status(nextPath) else { return nil }
        // Where rows are damaged, the one that names the key may be hidden.
        let report = try LedgerReader.open(at: path).verify()
        try report.requireIntact(location: path)
        let keys = report.keys.map(\.publicKey)
        if file.kind == .regular, file.size < 32 {
            // Cut off while it was written, before its row. A row that names a key which is not in
            // its place yet is the last one.
            let isChangeLast = keys.count > 1 && report.keys.last?.row == report.count
            let key = try isChangeLast ? present(keyPath) : nil
            if isChangeLast, key.map({ Hexadecimal.text(of: $0.publicKey) }) != keys.last {
                throw unusable(
                    nextPath,
                    "it holds \(file.size) bytes, not 32, and the last row may name its key"
                )
            }
        } else {
            let new = Hexadecimal.text(of: try load(nextPath).publicKey)
            if new == keys.last {
                guard keys.count > 1 else {
                    throw unusable(nextPath, "it is the ledger's only key, of \(keyPath)")
                }
                try take(keyPath)
                return LedgerRekeying(old: keys[keys.count - 2], new: new, wasBegun: true)
            }
        }
        try LedgerFile.remove([nextPath])
        return nil
    }

    // A key in a file; nothing where there is no file.
    private static func present(_ path: String) throws(LedgerError) -> SigningKey? {
        guard try status(path) != nil else { return nil }
        return try load(path)
    }

    private static func load(_ path: String) throws(LedgerError) -> SigningKey {
        do throws(LedgerError) {
            return try SigningKey.load(at: path)
        } catch .unsafeKey(_, let reason) {
            throw unusable(path, reason)
        }
    }

    // Without the hint, who is told that the key is lost would not know what stands in the way.
    private static func unusable(_ path: String, _ reason: String) -> LedgerError {
        .unsafeKey(
            location: path,
            reason: "\(reason) (put that right; move the file away only if its key is lost)"
        )
    }

    private static func status(_ path: String) throws(LedgerError) -> FileStatus? {
        do throws(SystemError) {
            return try FileStatus(path: path)
        } catch {
            if error.isMissing { return nil }
            throw LedgerError(error, operation: "look for the signing key", location: path)
        }
    }

    private static func take(_ keyPath: String) throws(LedgerError) {
        let parts = keyPath.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        do throws(SystemError) {
            let folder = try Descriptor.open(
                parts.dropLast().joined(separator: "/") + "/",
                [.read, .directory]
            )
            try folder.rename("\(name).next", to: name)
            try folder.synchronize()
        } catch {
            throw LedgerError(error, operation: "put the new key in place", location: keyPath)
        }
    }
}
