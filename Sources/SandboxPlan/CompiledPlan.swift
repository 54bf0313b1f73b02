/// A plan as bytes with their digest: what is stored, sent to the launcher and written to the ledger.
public struct CompiledPlan: Sendable, Equatable {
    /// The encoded plan.
    public let bytes: [UInt8]
    /// The SHA-256 digest of ``bytes``.
    public let digest: SHA256Digest

    /// The first bytes of a plan file.
    public static let magic: [UInt8] = Array("INVPLAN1".utf8)
    /// The version of the wire form, with which an encoded plan begins.
    public static let version: UInt16 = 4

    /// Adopts an encoded plan.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
        digest = SHA256Digest(of: bytes)
    }

    /// Adopts bytes from a message, checking them against the digest that came with them.
    ///
    /// - Throws: ``PlanError`` when the digest is another.
    public init(bytes: [UInt8], digest: [UInt8]) throws(PlanError) {
        let actual = SHA256Digest(of: bytes)
        guard actual.bytes == digest else {
            let reason = "the bytes hash to \(actual)"
            let remedy = "compile the plan again; a plan changed on its way is never launched"
            throw PlanError("check a compiled plan", "digest", reason, remedy)
        }
        self.bytes = bytes
        self.digest = actual
    }

    /// Reads a plan file as `policy compile` writes it: magic, digest, bytes.
    ///
    /// - Throws: ``PlanError`` when it is not a plan file or its digest is another.
    public init(file: [UInt8]) throws(PlanError) {
        let magic = Self.magic
        guard file.count > magic.count + 32, Array(file.prefix(magic.count)) == magic else {
            let remedy = "make one with `invigilator policy compile NAME -o FILE`"
            let reason = "this is not a compiled plan"
            throw PlanError("read a plan file", "first bytes", reason, remedy)
        }
        let digest = Array(file[magic.count..<magic.count + 32])
        try self.init(bytes: Array(file[(magic.count + 32)...]), digest: digest)
    }

    /// Decodes the plan.
    ///
    /// - Throws: ``PlanError`` for another version, a malformed field or bytes left over.
    public func plan() throws(PlanError) -> SandboxPlan {
        var decoder = WireDecoder(bytes)
        let version: UInt16 = try decoder.integer("version")
        guard version == Self.version else {
            throw decoder.malformed("version", "version \(version) is not \(Self.version)")
        }
        let plan = try SandboxPlan(from: &decoder)
        try decoder.finish()
        return plan
    }
}
