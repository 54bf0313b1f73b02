/// What one audit record says of a Landlock domain (Documentation/admin-guide/LSM/landlock.rst).
///
/// Records are the kernel's, but names and paths in them are chosen by programs. The kernel writes such a
/// text in quotes where it is plain, and otherwise in hexadecimal, so that no text holds a space or looks
/// like a field; a record in which a field stands twice is malformed all the same.
public enum LandlockRecord: Sendable, Equatable {
    /// A domain refused something.
    ///
    /// - event: what all records of one system call have in common.
    /// - blocker: the first access right or scope that was missing.
    case refused(event: UInt64, domain: UInt64, blocker: String, object: LandlockObject)
    /// A domain that refused for the first time, and the host's user that made it.
    case allocated(domain: UInt64, user: UInt32)
    /// A domain that is gone, and how often it refused, told or not.
    case released(domain: UInt64, refusals: UInt64)
    /// The system call of an event, by the host's user and the program's name.
    case called(event: UInt64, user: UInt32, program: String)

    /// What came of reading a message.
    public enum Reading: Sendable, Equatable {
        /// A record of a kind that is wanted.
        case record(LandlockRecord)
        /// A record of another kind.
        case foreign
        /// What the kernel does not write.
        case malformed
    }

    // AUDIT_LANDLOCK_ACCESS, AUDIT_LANDLOCK_DOMAIN and AUDIT_SYSCALL of linux/audit.h; struct nlmsghdr.
    private static let (access, domain, call): (UInt16, UInt16, UInt16) = (1423, 1424, 1300)
    private static let header = 16
    // MAX_AUDIT_MESSAGE_LENGTH.
    private static let longest = 8970

    /// Whether a message is a record of a system call, which may be of any program of the host.
    static func isCall(_ message: [UInt8]) -> Bool {
        message.count >= header && UInt16(message[4]) | UInt16(message[5]) << 8 == call
    }

    /// Reads one message of a socket that hears records.
    public static func read(_ message: [UInt8]) -> Reading {
        guard message.count >= header else { return .malformed }
        let type = UInt16(message[4]) | UInt16(message[5]) << 8
        guard [access, domain, call].contains(type) else { return .foreign }
        guard message.count - header <= longest,
            let text = AuditText(message[header...]),
            let record = record(type, text)
        else { return .malformed }
        return .record(record)
    }

    private static func record(_ type: UInt16, _ text: AuditText) -> LandlockRecord? {
        switch type {
        case call:
            guard let user = text.number("uid", radix: 10, UInt32.self),
                let program = text.name("comm")
            else { return nil }
            return .called(event: text.event, user: user, program: program)
        case access:
            guard let domain = text.number("domain", radix: 16, UInt64.self),
                let blockers = text.value("blockers"), let blocker = blocker(blockers),
                let object = LandlockObject(text)
            else { return nil }
            return .refused(event: text.event, domain: domain, blocker: blocker, object: object)
        default:
            guard let domain = text.number("domain", radix: 16, UInt64.self) else { return nil }
            switch text.value("status") {
            case "allocated":
                return text.number("uid", radix: 10, UInt32.self).map {
                    .allocated(domain: domain, user: $0)
                }
            case "deallocated":
                return text.number("denials", radix: 10, UInt64.self).map {
                    .released(domain: domain, refusals: $0)
                }
            default: return nil
            }
        }
    }

    // One kind for each refusal, however many rights were missing; kernels to come name more of them.
    private static func blocker(_ list: Substring) -> String? {
        let first = list.prefix { $0 != "," }
        let isName = first.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
        }
        return isName && !first.isEmpty && first.utf8.count <= 40 ? String(first) : nil
    }
}

/// What Landlock kept a program from.
public enum LandlockObject: Sendable, Equatable {
    /// A file or a directory, by its path inside.
    case path(String)
    /// A TCP port.
    case port(UInt16)
    /// Something else: a process, a socket.
    case other

    init?(_ text: AuditText) {
        if text.value("path") != nil {
            guard let path = text.name("path") else { return nil }
            self = .path(path)
        } else if let key = ["dest", "src"].first(where: { text.value($0) != nil }) {
            guard let port = text.number(key, radix: 10, UInt16.self) else { return nil }
            self = .port(port)
        } else {
            self = .other
        }
    }

    /// The class that refusals are counted by: the directory below the root, or whether a port is one of
    /// those that only root may serve on elsewhere.
    var kind: String {
        switch self {
        case .path(let path):
            guard path.hasPrefix("/") else { return "no path of the sandbox" }
            return "/" + path.dropFirst().prefix { $0 != "/" }.prefix(32)
        case .port(let port): return port < 1024 ? "a port below 1024" : "a port from 1024 on"
        case .other: return ""
        }
    }
}

/// The text of one record: `audit(SECONDS.MILLISECONDS:EVENT): KEY=VALUE …`.
struct AuditText {
    /// The number of the event that the record is part of.
    let event: UInt64
    private let fields: [Substring: Substring]

    init?(_ bytes: ArraySlice<UInt8>) {
        let bytes = bytes.last == 0 ? bytes.dropLast() : bytes
        guard bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let head = parts.first, head.hasPrefix("audit("), head.hasSuffix("):"),
            let colon = head.dropLast(2).lastIndex(of: ":"),
            let event = Self.digits(head.dropLast(2)[colon...].dropFirst(), radix: 10, UInt64.self)
        else { return nil }
        var fields: [Substring: Substring] = [:]
        for part in parts.dropFirst() {
            guard let equal = part.firstIndex(of: "=") else { return nil }
            let value = part[part.index(after: equal)...]
            guard fields.updateValue(value, forKey: part[..<equal]) == nil else { return nil }
        }
        self.event = event
        self.fields = fields
    }

    func value(_ key: String) -> Substring? { fields[key[...]] }

    func number<Number: FixedWidthInteger>(
        _ key: String,
        radix: Int,
        _: Number.Type
    ) -> Number? {
        value(key).flatMap { Self.digits($0, radix: radix, Number.self) }
    }

    // Without a sign, which the initialisers of numbers take.
    private static func digits<Number: FixedWidthInteger>(
        _ text: Substring,
        radix: Int,
        _: Number.Type
    ) -> Number? {
        guard text.utf8.allSatisfy({ $0.isHexadecimal }) else { return nil }
        return Number(text, radix: radix)
    }

    /// A text of a program's choosing, made printable.
    func name(_ key: String) -> String? {
        guard let value = value(key) else { return nil }
        if value.hasPrefix("\"") {
            guard value.utf8.count >= 2, value.hasSuffix("\"") else { return nil }
            let inner = value.dropFirst().dropLast()
            return inner.contains("\"") ? nil : String(inner)
        }
        if value == "(null)" { return "" }
        let digits = Array(value.utf8)
        guard digits.count % 2 == 0, digits.allSatisfy(\.isHexadecimal) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
            digits[place].hexadecimalValue << 4 | digits[place + 1].hexadecimalValue
        }
        return String(
            decoding: bytes.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self
        )
    }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
    }

    fileprivate var hexadecimalValue: UInt8 {
        self <= 0x39 ? self - 0x30 : (self | 0x20) - 0x61 + 10
    }
}
