public import SandboxPlan

/// Refused calls of one number and kind, as init counted them.
public struct DenialRow: Sendable, Equatable {
    /// The call's number.
    public let call: UInt32
    /// The first argument of calls for which it says what they would do, 0 for others, and all ones
    /// for the kinds of one call beyond the eighth.
    public let kind: UInt32
    /// How many were refused so far.
    public let count: UInt64
    /// The first caller's name: at most 16 bytes of its own choosing.
    public let program: [UInt8]

    /// Creates a row.
    public init(call: UInt32, kind: UInt32, count: UInt64, program: [UInt8]) {
        self.call = call
        self.kind = kind
        self.count = count
        self.program = program
    }

    /// Reads the table that init sends.
    ///
    /// - Throws: `PlanError` when it is malformed.
    public static func rows(in table: [UInt8]) throws(PlanError) -> [DenialRow] {
        var decoder = WireDecoder(table)
        let rows = try decoder.list("denials", limit: 4096) { input throws(PlanError) in
            let key: UInt64 = try input.integer("call and kind")
            return DenialRow(
                call: UInt32(key >> 32),
                kind: UInt32(truncatingIfNeeded: key),
                count: try input.integer("count"),
                program: try input.counted("program", limit: 16)
            )
        }
        try decoder.finish()
        return rows
    }
}
