// The export, schema invigilator.ledger/1: UTF-8, one JSON object a line, each line ended by
// one line feed, members in canonical order, no white space, in exactly this spelling:
//
//   {"created":N,"public_key":"…64…","schema":"invigilator.ledger/1"}
//   {"body":{…},"hash":"…64…","kind":"…","previous":"…64…","sequence":N,"signature":"…128…","time":N}
//   {"count":N,"head":"…64…","schema":"invigilator.ledger.footer/1","signature":"…128…"}
//
// Any JSON reader can read it. The verifier does not parse JSON: it takes each line apart from
// its end, where every member has a fixed alphabet, so there is one way to read a line and a
// changed byte cannot be neutral.

/// The last line of an export.
struct ExportFooter: Equatable {
    static let schema = "invigilator.ledger.footer/1"
    private static let beginning = Array("{\"count\":".utf8)
    private static let schemaMember = Array("\",\"schema\":\"\(schema)\",\"signature\":\"".utf8)
    private static let headMember = Array(",\"head\":\"".utf8)
    private static let end = Array("\"}".utf8)

    var count: Int64
    var head: [UInt8]
    var signature: [UInt8]

    init(count: Int64, head: [UInt8], signature: [UInt8]) {
        self.count = count
        self.head = head
        self.signature = signature
    }

    /// Whether a line is meant as a footer: no row begins or ends in this way.
    static func resembles(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: beginning) || line.suffix(end.count).elementsEqual(end)
    }

    /// Takes a line apart, or nothing when it is spelled in any other way.
    init?(line: ArraySlice<UInt8>) {
        var rest = LineTail(line)
        guard rest.takes(Self.end), let signature = rest.hexadecimal(bytes: 64),
            rest.takes(Self.schemaMember), let head = rest.hexadecimal(bytes: 32),
            rest.takes(Self.headMember), let count = rest.integer(),
            rest.remainder.elementsEqual(Self.beginning)
        else { return nil }
        self.count = count
        self.head = head
        self.signature = signature
    }
}

extension LedgerIdentity {
    private static let beginning = Array("{\"created\":".utf8)
    private static let keyMember = Array(",\"public_key\":\"".utf8)
    private static let end = Array("\",\"schema\":\"\(Ledger.exportSchema)\"}".utf8)

    /// Takes an export's first line apart, or nothing when it is spelled in any other way.
    init?(line: ArraySlice<UInt8>) {
        var rest = LineTail(line)
        guard rest.takes(Self.end), let publicKey = rest.hexadecimal(bytes: 32),
            rest.takes(Self.keyMember), let created = rest.integer(),
            rest.remainder.elementsEqual(Self.beginning)
        else { return nil }
        self.created = created
        self.publicKey = publicKey
    }
}

extension SealedRow {
    static let lineBeginning = Array("{\"body\":".utf8)
    private static let hashMember = Array(",\"hash\":\"".utf8)
    private static let kindMember = Array("\",\"kind\":\"".utf8)
    private static let previousMember = Array("\",\"previous\":\"".utf8)
    private static let sequenceMember = Array("\",\"sequence\":".utf8)
    private static let signatureMember = Array(",\"signature\":\"".utf8)
    private static let timeMember = Array("\",\"time\":".utf8)

    /// Takes a line apart, or nothing when it is spelled in any other way.
    init?(line: ArraySlice<UInt8>) {
        var rest = LineTail(line)
        guard rest.takes([UInt8(ascii: "}")]), let time = rest.integer(),
            rest.takes(Self.timeMember), let signature = rest.hexadecimal(bytes: 64),
            rest.takes(Self.signatureMember), let sequence = rest.integer(),
            rest.takes(Self.sequenceMember), let previous = rest.hexadecimal(bytes: 32),
            rest.takes(Self.previousMember), let kind = rest.word(),
            rest.takes(Self.kindMember), let hash = rest.hexadecimal(bytes: 32),
            rest.takes(Self.hashMember), rest.remainder.starts(with: Self.lineBeginning)
        else { return nil }
        self.init(
            sequence: sequence,
            time: time,
            kind: kind,
            body: Array(rest.remainder.dropFirst(Self.lineBeginning.count)),
            previous: previous,
            hash: hash,
            signature: signature
        )
    }
}
