internal import Crypto

/// SHA-256 and HMAC-SHA256 over bytes, by swift-crypto.
public enum SHA256Digest {
    /// The digest as 64 lower-case hexadecimal digits.
    public static func hex(of bytes: [UInt8]) -> String {
        hexText(of: Array(SHA256.hash(data: bytes)))
    }

    /// The keyed digest, 32 bytes.
    static func keyed(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }

    /// Bytes as lower-case hexadecimal digits.
    static func hexText(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
