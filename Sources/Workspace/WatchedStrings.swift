/// Strings that nothing honest holds, looked for in what an untrusted party wrote.
///
/// A string is found as it stands, in other cases, backwards, with anything but letters and digits in
/// between (so also in pieces that a program joins), in hexadecimal and in base 64. Who encrypts it is
/// not found.
public struct WatchedStrings: Sendable, Equatable {
    private let folded: NeedleTable
    private let exact: NeedleTable

    /// The shortest string that is worth watching: shorter ones occur by chance.
    public static let shortest = 12

    /// Makes the list.
    ///
    /// - Parameter strings: the strings by what they betray; letters and digits count.
    public init(_ strings: [Tripwire.Kind: [String]]) {
        let known = strings.mapValues { list in
            list.filter { Self.folded($0.utf8).count >= Self.shortest }
        }
        folded = NeedleTable(
            known.mapValues { list in
                list.flatMap { text -> [[UInt8]] in
                    let plain = Self.folded(text.utf8)
                    return [plain, plain.reversed(), Self.hexadecimal(text.utf8)]
                }
            }
        )
        exact = NeedleTable(known.mapValues { list in list.flatMap { Self.base64($0) } })
    }

    /// The most bytes that a string takes in any of its spellings, with room for what stands between.
    public static let longest = 4096

    /// Which kinds of strings a text holds.
    ///
    /// - Parameter text: the text.
    /// - Returns: the kinds, in their order.
    public func found(in text: some StringProtocol) -> [Tripwire.Kind] {
        let found = folded.kinds(in: Self.folded(text.utf8))
            .union(exact.kinds(in: Array(text.utf8)))
        return Tripwire.Kind.allCases.filter(found.contains)
    }

    private static func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.compactMap { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: nil
            }
        }
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    // At each of three places a text has other digits; those that depend on its neighbours are left out.
    private static func base64(_ text: String) -> [[UInt8]] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = Array(text.utf8)
        return (0..<3).map { shift in
            let padded = [UInt8](repeating: 0, count: shift) + bytes
            let whole = padded.count / 3 * 3
            var encoded: [UInt8] = []
            for start in stride(from: 0, to: whole, by: 3) {
                let group =
                    UInt32(padded[start]) << 16 | UInt32(padded[start + 1]) << 8
                    | UInt32(padded[start + 2])
                for place in stride(from: UInt32(18), through: 0, by: -6) {
                    encoded.append(digits[Int(group >> place & 63)])
                }
            }
            return Array(encoded.dropFirst(shift == 0 ? 0 : 4))
        }
    }
}

/// Many strings, looked for in one pass (Rabin and Karp): the hash of a window is rolled on byte by
/// byte, and a hit is compared.
private struct NeedleTable: Sendable, Equatable {
    private struct Needle: Sendable, Equatable {
        let kind: Tripwire.Kind
        let bytes: [UInt8]
    }

    private let needles: [UInt64: [Needle]]
    private static let window = WatchedStrings.shortest
    private static let base: UInt64 = 1_099_511_628_211

    init(_ lists: [Tripwire.Kind: [[UInt8]]]) {
        var needles: [UInt64: [Needle]] = [:]
        for (kind, list) in lists {
            for bytes in list where bytes.count >= Self.window {
                let hash = bytes.prefix(Self.window).reduce(UInt64(0)) {
                    $0 &* Self.base &+ UInt64($1)
                }
                needles[hash, default: []].append(Needle(kind: kind, bytes: bytes))
            }
        }
        self.needles = needles
    }

    func kinds(in text: [UInt8]) -> Set<Tripwire.Kind> {
        guard !needles.isEmpty, text.count >= Self.window else { return [] }
        let leading = (1..<Self.window).reduce(UInt64(1)) { power, _ in power &* Self.base }
        var kinds: Set<Tripwire.Kind> = []
        var hash: UInt64 = 0
        for index in text.indices {
            if index >= Self.window {
                hash = hash &- UInt64(text[index - Self.window]) &* leading
            }
            hash = hash &* Self.base &+ UInt64(text[index])
            guard index >= Self.window - 1, let hits = needles[hash] else { continue }
            let rest = text[(index + 1 - Self.window)...]
            for hit in hits where rest.starts(with: hit.bytes) { kinds.insert(hit.kind) }
        }
        return kinds
    }
}
