import Foundation
import Ledger
import StrictJSON
import Testing

@Suite("A ledger's key")
struct KeyRotationTests {
    private static let zeros = String(repeating: "0", count: 128)

    // Three rows under the first key, the change, three rows under the second.
    private static func rotated(_ scratch: Scratch) throws -> (ledger: Ledger, keys: [String]) {
        try scratch.filled(3).close()
        let done = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 9)
        let ledger = try scratch.open()
        for number in 5...7 { try ledger.append(.learning, Scratch.body(number), time: 10) }
        return (ledger, [done.old, done.new])
    }

    private static func copy(_ from: String, _ to: String) throws {
        if FileManager.default.fileExists(atPath: to) {
            try FileManager.default.removeItem(atPath: to)
        }
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    @Test(
        "who kept the first key or the last verifies every row of a record that changed it",
        arguments: [VerificationDepth.chain, .everySignature]
    )
    func follows(_ depth: VerificationDepth) throws {
        let scratch = try Scratch()
        let (ledger, keys) = try Self.rotated(scratch)
        #expect(keys[0] != keys[1] && ledger.publicKey == keys[0])
        let export = try ledger.exported()
        for key in [nil] + keys.map(Optional.some) {
            let live = try ledger.reader.verify(depth: depth, publicKey: key)
            #expect(live.isIntact && live.count == 7, "\(live)")
            #expect(live.keys.map(\.publicKey) == keys)
            #expect(live.keys.map(\.row) == [0, 4] && live.replacement == nil)
            let offline = Ledger.verifyExport(export, publicKey: key, depth: depth)
            #expect(offline.isIntact && offline.keys == live.keys, "\(offline)")
        }
        let foreign = Ledger.verifyExport(export, publicKey: Self.zeros, depth: depth)
        #expect(foreign.fault == VerificationFault(.header, .unexpectedKey))
    }

    @Test("a key may change again, with no row between, and the last row may be the change")
    func again() throws {
        let scratch = try Scratch()
        let (ledger, keys) = try Self.rotated(scratch)
        try ledger.close()
        var all = keys
        for _ in 1...2 {
            all.append(
                try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 11).new
            )
        }
        let opened = try scratch.open()
        for key in all {
            #expect(try opened.reader.verify(publicKey: key).isIntact)
            #expect(Ledger.verifyExport(try opened.exported(), publicKey: key).isIntact)
        }
        #expect(Set(all).count == 4)
    }

    @Test("the old key is gone and signs nothing any more")
    func oldKey() throws {
        let scratch = try Scratch()
        try scratch.filled(1).close()
        let kept = scratch.path + "/kept"
        try Self.copy(scratch.key, kept)
        _ = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 9)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(!names.contains("key.ed25519.next"))
        try Self.copy(kept, scratch.key)
        #expect(throws: LedgerError.foreignKey(location: scratch.key)) { try scratch.open() }
        let reader = try LedgerReader.open(at: scratch.database)
        #expect(throws: LedgerError.foreignKey(location: scratch.key)) {
            try reader.export(signedWithKeyAt: scratch.key) { _ in }
        }
        #expect(throws: LedgerError.foreignKey(location: scratch.key)) {
            try reader.signature(over: [1], withKeyAt: scratch.key)
        }
    }

    @Test("who has not the old key cannot rotate it, and nobody rotates to a key he has not")
    func forged() throws {
        // The victim's key, named by another ledger: whoever kept it must not believe that ledger.
        let victim = try Scratch()
        let target = try victim.filled(2).publicKey
        let scratch = try Scratch()
        let ledger = try scratch.filled(2)
        try ledger.append(
            .keyRotated,
            ["public_key": .string(target), "proof": .string(Self.zeros)],
            time: 9
        )
        for key in [nil, target] {
            let report = try ledger.reader.verify(publicKey: key)
            #expect(report.fault == VerificationFault(.row(3), .badSignature))
            #expect(report.count == 2)
        }
        let nothing = try Scratch().filled(1)
        try nothing.append(.keyRotated, ["public_key": "no key"], time: 9)
        #expect(
            try nothing.verify().fault?.description == "row 2: malformed: it names no key"
        )
    }

    @Test("a change of the key that is itself changed, moved or taken out is found")
    func tampered() throws {
        let scratch = try Scratch()
        let (ledger, keys) = try Self.rotated(scratch)
        let lines = Lines(try ledger.exported()).lines
        func fault(_ lines: [[UInt8]]) -> FaultLocation? {
            Ledger.verifyExport(lines.flatMap { $0 + [10] }, publicKey: keys[0]).fault?.location
        }
        #expect(fault(lines) == nil)
        #expect(fault(Array(lines[..<4] + lines[5...])) == .row(4))
        #expect(fault(Array(lines[..<4] + [lines[5], lines[4]] + lines[6...])) == .row(4))
        var other = lines
        other[4] = Array(
            String(decoding: lines[4], as: UTF8.self).replacing(keys[1], with: keys[0]).utf8
        )
        #expect(fault(other) == .row(4))
    }

    @Test("a rotation that is cut off is finished by doing it again, or begun anew")
    func cutOff() throws {
        let scratch = try Scratch()
        let done = try Self.begun(scratch)
        #expect(throws: LedgerError.foreignKey(location: scratch.key)) { try scratch.open() }
        let finished = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 10)
        #expect(finished.wasBegun && finished.new == done.new && finished.old == done.old)
        #expect(try scratch.open().verify().count == 3)
        // As if it had ended before the row, with a whole key or with half of one.
        for bytes in [[UInt8](repeating: 7, count: 32), [1]] {
            let isMade = FileManager.default.createFile(
                atPath: scratch.key + ".next",
                contents: Data(bytes),
                attributes: [.posixPermissions: 0o600]
            )
            try #require(isMade)
            let next = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 11)
            #expect(!next.wasBegun)
            #expect(try scratch.open().verify().isIntact)
        }
    }

    // A rotation that ended between its row and the new key's place; returns the keys' names.
    static func begun(_ scratch: Scratch) throws -> LedgerRekeying {
        try scratch.filled(2).close()
        let old = scratch.path + "/old"
        try copy(scratch.key, old)
        let done = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 9)
        try copy(scratch.key, scratch.key + ".next")
        try copy(old, scratch.key)
        return done
    }

    static func rekeyings(_ scratch: Scratch) -> [() throws -> LedgerRekeying] {
        let (database, key) = (scratch.database, scratch.key)
        return [
            { try Ledger.rotateKey(of: database, keyAt: key, time: 10) },
            { try Ledger.replaceKey(of: database, keyAt: key, because: "x", time: 10) },
        ]
    }

    static func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("while the ledger is held, a key that waits for its row is not touched")
    func held() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(2)
        let next = scratch.key + ".next"
        let waiting = Data(repeating: 7, count: 32)
        let isMade = FileManager.default.createFile(
            atPath: next,
            contents: waiting,
            attributes: [.posixPermissions: 0o600]
        )
        try #require(isMade)
        let holder = ProcessInfo.processInfo.processIdentifier
        for rekey in Self.rekeyings(scratch) {
            #expect(
                throws: LedgerError.locked(location: scratch.database + ".lock", holder: holder)
            ) { try rekey() }
            #expect(try Self.bytes(next) == waiting)
        }
        try ledger.append(.pause, [:], time: 2)
    }

    @Test("a new key that the last row names is kept where it cannot be used, and finishes later")
    func unusableNext() throws {
        let scratch = try Scratch()
        let done = try Self.begun(scratch)
        let next = scratch.key + ".next"
        let (old, new) = (try Self.bytes(scratch.key), try Self.bytes(next))
        func refuses(_ reason: String) throws {
            let there = try Self.bytes(next)
            for rekey in Self.rekeyings(scratch) {
                let error = #expect(throws: LedgerError.self) { try rekey() }
                #expect(error?.location == next)
                #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
                #expect(error?.reason.contains("move the file away only if") == true)
                #expect(try Self.bytes(next) == there)
                #expect(try Self.bytes(scratch.key) == old)
            }
        }
        try Self.setMode(0o640, next)
        try refuses("its mode is 0640")
        try Self.setMode(0o600, next)
        let second = scratch.path + "/second"
        try FileManager.default.linkItem(atPath: next, toPath: second)
        try refuses("it has 2 names")
        try FileManager.default.removeItem(atPath: second)
        try new.prefix(5).write(to: URL(fileURLWithPath: next))
        try Self.setMode(0o600, next)
        try refuses("it holds 5 bytes, not 32, and the last row may name its key")
        try new.write(to: URL(fileURLWithPath: next))
        try Self.setMode(0o600, next)
        let finished = try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 11)
        #expect(finished.wasBegun && finished.new == done.new)
        #expect(try scratch.open().verify().isIntact)
    }

    @Test("a key that is there and cannot be used is not lost, and stays")
    func unusableKey() throws {
        let scratch = try Scratch()
        try scratch.filled(2).close()
        let key = try Self.bytes(scratch.key)
        func refuses(_ reason: String) throws {
            let there = try Self.bytes(scratch.key)
            let error = #expect(throws: LedgerError.self) {
                try Ledger.replaceKey(
                    of: scratch.database,
                    keyAt: scratch.key,
                    because: "x",
                    time: 9
                )
            }
            #expect(error?.location == scratch.key)
            #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
            #expect(try Self.bytes(scratch.key) == there)
            #expect(!FileManager.default.fileExists(atPath: scratch.key + ".next"))
        }
        try Self.setMode(0o640, scratch.key)
        try refuses("its mode is 0640")
        // Another experiment's key, put here by mistake, is not written over either.
        for (bytes, reason) in [
            (key.prefix(5), "it holds 5 bytes, not 32"),
            (Data(repeating: 7, count: 32), "it is another key"),
        ] {
            try bytes.write(to: URL(fileURLWithPath: scratch.key))
            try Self.setMode(0o600, scratch.key)
            try refuses(reason)
        }
        try key.write(to: URL(fileURLWithPath: scratch.key))
        try Self.setMode(0o600, scratch.key)
        #expect(try scratch.open().verify().count == 2)
    }

    @Test(
        "a lost key is replaced in the open, and who kept the old one believes nothing after that"
    )
    func replaced() throws {
        let scratch = try Scratch()
        let ledger = try scratch.filled(3)
        let old = ledger.publicKey
        try ledger.close()
        #expect(throws: LedgerError.exists(location: scratch.key)) {
            try Ledger.replaceKey(of: scratch.database, keyAt: scratch.key, because: "x", time: 9)
        }
        try FileManager.default.removeItem(atPath: scratch.key)
        #expect(throws: LedgerError.self) { try scratch.open() }
        #expect(throws: LedgerError.self) {
            try Ledger.rotateKey(of: scratch.database, keyAt: scratch.key, time: 9)
        }
        let done = try Ledger.replaceKey(
            of: scratch.database,
            keyAt: scratch.key,
            because: "the disk burned",
            time: 9
        )
        #expect(done.old == old)
        let again = try scratch.open()
        try again.append(.learning, Scratch.body(1), time: 10)
        let export = try again.exported()
        for depth in [VerificationDepth.chain, .everySignature] {
            for report in [
                try again.reader.verify(depth: depth, publicKey: old),
                Ledger.verifyExport(export, publicKey: old, depth: depth),
            ] {
                #expect(report.fault == VerificationFault(.row(4), .keyReplaced))
                #expect(report.count == 3, "what the old key vouches for is still proven")
            }
            for key in [nil, done.new] {
                let report = Ledger.verifyExport(export, publicKey: key, depth: depth)
                #expect(report.isIntact && report.replacement?.row == 4, "\(report)")
            }
        }
    }
}
