/// Proofs in the forms that other programs read.
public enum ProofText {
    /// A proof that a leaf is in a log (C2SP tlog-proof).
    ///
    /// - Parameters:
    ///   - index: the leaf's place; the first is 0.
    ///   - path: its audit path.
    ///   - checkpoint: the signed checkpoint.
    /// - Returns: the text.
    public static func inclusion(
        of index: Int,
        path: [TreeHash],
        in checkpoint: SignedNote
    ) -> [UInt8] {
        lines(["c2sp.org/tlog-proof@v1", "index \(index)"] + path.map(\.base64)) + checkpoint.bytes
    }

    /// A request that asks a witness to sign a checkpoint (C2SP tlog-witness, `add-checkpoint`).
    ///
    /// - Parameters:
    ///   - size: the size of the checkpoint that the witness has.
    ///   - proof: the proof that the new one continues it.
    ///   - checkpoint: the new signed checkpoint.
    /// - Returns: the text.
    public static func addition(
        to size: Int,
        proof: [TreeHash],
        of checkpoint: SignedNote
    ) -> [UInt8] {
        lines(["old \(size)"] + proof.map(\.base64)) + checkpoint.bytes
    }

    private static func lines(_ lines: [String]) -> [UInt8] {
        Array((lines + [""]).map { $0 + "\n" }.joined().utf8)
    }
}
