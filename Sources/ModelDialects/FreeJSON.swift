internal import StrictJSON

/// The walk over JSON that is passed as it is: the input of a function, a schema.
struct FreeJSON {
    enum Finding {
        case sound
        case tooDeep
        case foreignReference
    }

    /// The deepest nesting below the member that holds it.
    static let deepest = 32

    let isSchema: Bool
    private(set) var textBytes = 0

    init(isSchema: Bool) {
        self.isSchema = isSchema
    }

    mutating func check(_ value: JSONValue, depth: Int) -> Finding {
        guard depth <= Self.deepest else { return .tooDeep }
        switch value {
        case .null, .bool, .integer, .number: textBytes += 4
        case .string(let text): textBytes += text.utf8.count
        case .array(let elements):
            for element in elements {
                let finding = check(element, depth: depth + 1)
                guard case .sound = finding else { return finding }
            }
        case .object(let members):
            for (name, member) in members {
                textBytes += name.utf8.count + 2
                // A reference is a text; a property of this name has an object.
                if isSchema, name == "$ref" || name == "$dynamicRef", case .string(let to) = member,
                    to.utf8.first != UInt8(ascii: "#")
                {
                    return .foreignReference
                }
                let finding = check(member, depth: depth + 1)
                guard case .sound = finding else { return finding }
            }
        }
        return .sound
    }
}

/// The alphabet of base64 (RFC 4648 section 4), with padding at the end only.
enum Base64Text {
    static func isValid(_ text: some BidirectionalCollection<UInt8>) -> Bool {
        let equals = UInt8(ascii: "=")
        var end = text.endIndex
        var padding = 0
        while end > text.startIndex, padding < 2, text[text.index(before: end)] == equals {
            end = text.index(before: end)
            padding += 1
        }
        let content = text[..<end]
        guard !content.isEmpty else { return false }
        return content.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
