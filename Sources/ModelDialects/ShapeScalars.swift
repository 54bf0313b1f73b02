internal import StrictJSON

// Values without members of their own, and JSON that passes as it is.
extension ShapeReader {
    mutating func text(_ value: JSONValue) throws(RequestRefusal) -> String {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        textBytes += text.utf8.count
        return text
    }

    mutating func word(
        _ value: JSONValue,
        _ words: [String]
    ) throws(RequestRefusal) -> JSONValue? {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        guard words.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
            try unknown(text)
            return nil
        }
        return value
    }

    mutating func integer(
        _ value: JSONValue,
        _ range: ClosedRange<Int64>
    ) throws(RequestRefusal) -> JSONValue {
        guard let number = value.integerValue else { throw kind(value, "a whole number") }
        guard range.contains(number) else {
            throw refusal(.badRequest, "a number out of range", "see the provider's reference")
        }
        return value
    }

    mutating func number(
        _ value: JSONValue,
        _ range: ClosedRange<Double>
    ) throws(RequestRefusal) -> JSONValue {
        guard let number = value.numberValue else { throw kind(value, "a number") }
        guard range.contains(number) else {
            throw refusal(.badRequest, "a number out of range", "see the provider's reference")
        }
        return value
    }

    mutating func base64(_ value: JSONValue) throws(RequestRefusal) -> JSONValue {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        guard Base64Text.isValid(text.utf8) else {
            throw refusal(.badRequest, "a text that is not base64", "encode the bytes in base64")
        }
        attachments += 1
        return value
    }

    mutating func dataURL(
        _ value: JSONValue,
        _ types: [String]
    ) throws(RequestRefusal) -> JSONValue {
        guard case .string(let text) = value else { throw kind(value, "a string") }
        for type in types {
            let head = "data:\(type);base64,"
            guard text.utf8.starts(with: head.utf8) else { continue }
            guard Base64Text.isValid(text.utf8.dropFirst(head.utf8.count)) else { break }
            attachments += 1
            return value
        }
        throw refusal(
            .urlContent,
            "content that the provider would fetch",
            "send it inline as data:TYPE;base64, with TYPE one of \(types.joined(separator: " "))"
        )
    }

    mutating func free(
        _ value: JSONValue,
        isSchema: Bool
    ) throws(RequestRefusal) -> JSONValue {
        var walk = FreeJSON(isSchema: isSchema)
        switch walk.check(value, depth: 1) {
        case .sound:
            textBytes += walk.textBytes
            return value
        case .tooDeep:
            throw refusal(.tooLarge, "nested too deeply", "flatten it", status: 413)
        case .foreignReference:
            throw refusal(.urlContent, "a schema in another document", "write the schema inline")
        }
    }
}
