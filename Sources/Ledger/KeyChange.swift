// The key of a ledger may change, by a row of one of two kinds. Both name the new key in `public_key`:
//
//   key-rotated    signed by the key before; `proof` = Ed25519(domain "next key" ‖ new key ‖ previous)
//                  by the new key: whoever trusts either of both trusts every row
//   key-replaced   the key before is lost: signed by the new key alone. Whoever trusts the key before
//                  has no reason to believe this row or a later one
//
// The row after it, and a footer, is signed by the new key.

internal import StrictJSON

/// What a row says of the key that signs the rows after it.
struct KeyChange {
    let key: VerifyingKey
    let isBreak: Bool

    /// Reads a row; nothing where it is of another kind.
    ///
    /// - Throws: a fault where the new key is none, or does not vouch for all rows before.
    init?(_ row: SealedRow) throws(VerificationFault) {
        let place = FaultLocation.row(Int(row.sequence))
        guard let kind = EventKind(rawValue: row.kind), EventKind.keyChanges.contains(kind) else {
            return nil
        }
        let body: JSONValue
        do throws(JSONError) { body = try JSONValue(parsing: row.body, limits: .ledgerBody) } catch
        {
            throw VerificationFault(place, .malformed("\(error)"))
        }
        guard let bytes = Self.digits(body["public_key"]), let key = VerifyingKey(bytes: bytes)
        else { throw VerificationFault(place, .malformed("it names no key")) }
        isBreak = kind == .keyReplaced
        let vouches =
            isBreak ? key.vouches(for: row) : key.vouches(Self.digits(body["proof"]), before: row)
        guard vouches else { throw VerificationFault(place, .badSignature) }
        self.key = key
    }

    private static func digits(_ value: JSONValue?) -> [UInt8]? {
        value?.stringValue.flatMap { Hexadecimal.bytes(of: Array($0.utf8)[...]) }
    }
}
