internal import StrictJSON

// Objects and lists.
extension ShapeReader {
    mutating func object(
        _ value: JSONValue,
        _ shape: Shape.Members,
        tag: String? = nil
    ) throws(RequestRefusal) -> JSONValue {
        guard case .object(let members) = value else { throw kind(value, "an object") }
        var result: [String: JSONValue] = [:]
        result.reserveCapacity(members.count)
        for (name, member) in members {
            // The name that goes upstream is the table's: a dictionary finds names up to canonical
            // equivalence, a provider compares bytes.
            guard let index = index(of: name, in: shape.shapes) else {
                if name == tag {
                    result[tag ?? name] = member
                } else {
                    try unknown(name)
                }
                continue
            }
            let entry = shape.shapes[index]
            path.append(.name(entry.key))
            guard result[entry.key] == nil else {
                throw refusal(.badRequest, "the member is there in two spellings", "send it once")
            }
            if case .null = member, !entry.value.keepsNull {
                path.removeLast()
                continue
            }
            if let kept = try rebuilt(member, as: entry.value) { result[entry.key] = kept }
            path.removeLast()
        }
        for name in shape.required where result[name] == nil {
            path.append(.name(name))
            throw refusal(.badRequest, "the member is missing or empty", "send it")
        }
        return .object(result)
    }

    private func index(
        of name: String,
        in shapes: [String: Shape]
    ) -> Dictionary<String, Shape>.Index? {
        if let index = shapes.index(forKey: name) { return index }
        guard foldsNames, name.utf8.contains(UInt8(ascii: "_")) else { return nil }
        let words = name.split(separator: "_")
        guard let first = words.first else { return nil }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return shapes.index(forKey: first + rest.joined())
    }

    mutating func tagged(
        _ value: JSONValue,
        _ shape: Shape.Tagged
    ) throws(RequestRefusal) -> JSONValue? {
        guard case .object(let members) = value else { throw kind(value, "an object") }
        guard let tag = members[shape.tag], !tag.isNull else {
            guard let absent = shape.absent else {
                if let special = shape.special[""] { return try rebuilt(value, as: special) }
                path.append(.name(shape.tag))
                throw refusal(.badRequest, "the member is missing", "send it")
            }
            return try object(value, absent)
        }
        guard let word = tag.stringValue else {
            path.append(.name(shape.tag))
            throw kind(tag, "a string")
        }
        if let members = shape.cases[word] { return try object(value, members, tag: shape.tag) }
        if let special = shape.special[word] { return try rebuilt(value, as: special) }
        for (prefix, members) in shape.prefixes where Self.isDated(word, prefix) {
            return try object(value, members, tag: shape.tag)
        }
        if case .removed(.unknownField?) = shape.otherwise {
            path.append(.name(shape.tag))
            try unknown(word)
            path.removeLast()
            return nil
        }
        return try rebuilt(value, as: shape.otherwise)
    }

    /// Whether a word is this prefix and a date of eight digits, and nothing else.
    private static func isDated(_ word: String, _ prefix: String) -> Bool {
        word.utf8.count == prefix.utf8.count + 8 && word.utf8.starts(with: prefix.utf8)
            && word.utf8.dropFirst(prefix.utf8.count)
                .allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    mutating func list(
        _ value: JSONValue,
        of shape: Shape,
        most: Int
    ) throws(RequestRefusal) -> JSONValue {
        guard case .array(let elements) = value else { throw kind(value, "a list") }
        guard elements.count <= most else {
            throw refusal(.tooLarge, "more than \(most) elements", "send fewer", status: 413)
        }
        var result: [JSONValue] = []
        result.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            path.append(.index(index))
            if let kept = try rebuilt(element, as: shape) { result.append(kept) }
            path.removeLast()
        }
        return .array(result)
    }

    mutating func byKind(
        _ value: JSONValue,
        text: Shape?,
        list: Shape?,
        object: Shape?
    ) throws(RequestRefusal) -> JSONValue? {
        switch value {
        case .string: if let text { return try rebuilt(value, as: text) }
        case .array: if let list { return try rebuilt(value, as: list) }
        case .object: if let object { return try rebuilt(value, as: object) }
        case .null, .bool, .integer, .number: break
        }
        throw kind(value, "another kind of value")
    }
}

extension Shape {
    var keepsNull: Bool {
        switch self {
        case .orNull, .json, .constant: true
        case .text, .word, .truth, .integer, .number, .list, .object, .tagged, .kinds, .base64,
            .dataURL, .schema, .removed, .refused, .effort, .unlessEmpty, .client, .unsealed,
            .providerTool:
            false
        }
    }
}
