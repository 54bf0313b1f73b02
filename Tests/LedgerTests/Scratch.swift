import Foundation
import Ledger
import StrictJSON

/// A directory of its own for one test, gone when the test is.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "ledger-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        // A directory that stays behind is a nuisance, not a wrong test.
        try? FileManager.default.removeItem(atPath: path)
    }

    var database: String { path + "/ledger.sqlite" }
    var key: String { path + "/key.ed25519" }

    func create() throws -> Ledger {
        try Ledger.create(at: database, keyAt: key, time: 1_700_000_000_000)
    }

    func open() throws -> Ledger { try Ledger.open(at: database, keyAt: key) }

    /// A ledger of `count` rows with bodies of different shapes.
    func filled(_ count: Int) throws -> Ledger {
        let ledger = try create()
        // Rows that change the key are written with the key alone.
        let kinds = EventKind.allCases.filter { ![.keyRotated, .keyReplaced].contains($0) }
        for number in 1...max(count, 1) where number <= count {
            let kind = kinds[number % kinds.count]
            try ledger.append(kind, Self.body(number), time: 1_700_000_000_000 + Int64(number))
        }
        return ledger
    }

    static func body(_ number: Int) -> JSONValue {
        .object([
            "iteration": .integer(Int64(number)),
            "mean": .number(Double(number) / 7),
            "reasons": .array([.string("öß \"quoted\" },\"hash\":\""), .null, .bool(true)]),
            "text": .string(String(repeating: "x", count: number % 13)),
        ])
    }
}

extension Ledger {
    func exported() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try export { bytes += $0 }
        return bytes
    }
}

/// An export as lines that can be rearranged.
struct Lines {
    var lines: [[UInt8]]

    init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: 10, omittingEmptySubsequences: true).map(Array.init)
    }

    var bytes: [UInt8] { lines.flatMap { $0 + [10] } }
}
