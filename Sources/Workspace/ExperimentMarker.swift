internal import StrictJSON

/// What the marker file of an experiment's directory says: which experiment it is, and the key that shows so.
///
/// The number alone would let whoever copied it into a directory of theirs have the experiment's results written
/// there. So the record holds the digest of a key, and the file, which its owner alone may read, the key.
package struct ExperimentMarker: Sendable, Equatable {
    /// The file's name.
    package static let name = ".invigilator"
    /// The most bytes that it may have: a path has at most 4,096.
    package static let limit = 8192
    private static let schema = "invigilator.experiment/2"
    // Without a key: written by versions whose records know no directory.
    private static let olderSchema = "invigilator.experiment/1"

    /// Names the experiment's state: 16 hexadecimal digits.
    package let experiment: String
    /// A benchmark of the user's own; nil for one that ships.
    package let benchmarkDirectory: String?
    /// Shows that the directory is the experiment's; nil in a file of an earlier version.
    package let key: MarkerKey?

    /// Why a file is no marker.
    package struct Malformed: Error, Sendable, Equatable {
        /// The reason in a few words.
        package let reason: String

        /// Creates a refusal.
        package init(reason: String) { self.reason = reason }
    }

    /// Makes a marker of a directory's number and key.
    package init(experiment: String, benchmarkDirectory: String?, key: MarkerKey?) {
        self.experiment = experiment
        self.benchmarkDirectory = benchmarkDirectory
        self.key = key
    }

    /// Reads a marker file.
    ///
    /// - Throws: ``Malformed``.
    package init(parsing bytes: [UInt8]) throws(Malformed) {
        guard !bytes.isEmpty else { throw Malformed(reason: "it is empty") }
        guard bytes.count <= Self.limit else {
            throw Malformed(reason: "it has more than \(Self.limit) bytes")
        }
        let (schema, hex): (String, String?)
        do throws(JSONError) {
            var reader = try ObjectReader(
                JSONValue(parsing: bytes, limits: .request),
                location: Self.name
            )
            schema = try reader.requiredString("schema")
            experiment = try reader.requiredString("experiment")
            benchmarkDirectory = try reader.optionalString("benchmark_directory")
            hex = schema == Self.schema ? try reader.requiredString("key") : nil
            try reader.finish()
        } catch {
            // Its remedy is for who writes JSON; what mends a marker is said by who opens it.
            throw Malformed(
                reason: "\(error)".split(separator: "; remedy:").first.map(String.init) ?? ""
            )
        }
        guard [Self.schema, Self.olderSchema].contains(schema) else {
            throw Malformed(reason: "its schema is unknown")
        }
        guard Self.isNumber(experiment) else {
            throw Malformed(reason: "its experiment is no 16 hexadecimal digits")
        }
        key = hex.flatMap { MarkerKey(hex: $0) }
        guard (key == nil) == (hex == nil) else {
            throw Malformed(reason: "its key is no 64 hexadecimal digits")
        }
    }

    /// The file's bytes.
    package var bytes: [UInt8] {
        var members: [String: JSONValue] = [
            "schema": .string(key == nil ? Self.olderSchema : Self.schema),
            "experiment": .string(experiment),
        ]
        if let benchmarkDirectory { members["benchmark_directory"] = .string(benchmarkDirectory) }
        if let key { members["key"] = .string(key.hex) }
        return JSONValue.object(members).canonicalBytes + [10]
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { MarkerKey.value(of: $0) != nil }
    }
}

/// The key of a marker file: 256 bits, never printed.
package struct MarkerKey: Sendable, Equatable, CustomStringConvertible {
    /// How many bytes it has.
    package static let byteCount = 32

    fileprivate let hex: String
    private let bytes: [UInt8]

    /// Adopts random bytes.
    ///
    /// - Returns: nil unless there are ``byteCount``.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
        let digits = Array("0123456789abcdef".utf8)
        hex = String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }

    fileprivate init?(hex: String) {
        let digits = hex.utf8.compactMap(Self.value)
        guard digits.count == hex.utf8.count, digits.count == 2 * Self.byteCount else { return nil }
        self.init(
            bytes: stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        )
    }

    fileprivate static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The SHA-256 of its bytes, as a record holds it.
    package var digest: String { SHA256Digest.hex(of: bytes) }

    /// Whether a digest is this key's; how long that takes does not depend on where they differ.
    package func has(digest other: String) -> Bool {
        let (own, other) = (Array(digest.utf8), Array(other.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    package static func == (one: MarkerKey, other: MarkerKey) -> Bool {
        one.has(digest: other.digest)
    }

    package var description: String { "a key" }
}
