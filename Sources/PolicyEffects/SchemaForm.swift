internal import StrictJSON

/// The forms that schemas of documents are made of.
///
/// Each says what the reader of documents takes: quantities with units, numbers without quotes, and texts
/// that YAML does not read as anything else.
enum SchemaForm {
    static let text: JSONValue = ["type": "string", "minLength": 1]
    static let anyText: JSONValue = ["type": "string"]
    static let path = pattern("^/[^\\u0000-\\u001f]*$")
    static let size = pattern("^[0-9]+(B|KiB|MiB|GiB)$")
    static let time = pattern("^[0-9]+(ms|s|m|h)$")
    static let flag: JSONValue = ["type": "boolean"]

    static func mapping(
        required: [String: JSONValue] = [:],
        optional: [String: JSONValue] = [:]
    ) -> JSONValue {
        [
            "type": "object", "additionalProperties": false,
            "required": JSONValue(required.keys.sorted()),
            "properties": .object(required.merging(optional) { first, _ in first }),
        ]
    }

    static func document(_ title: String, _ mapping: JSONValue) -> JSONValue {
        mapping.adding([
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title),
        ])
    }

    static func number(_ least: UInt32, _ most: UInt32) -> JSONValue {
        ["type": "integer", "minimum": JSONValue(Int(least)), "maximum": JSONValue(Int(most))]
    }

    static func words(_ words: [String]) -> JSONValue {
        ["enum": JSONValue(words)]
    }

    static func pattern(_ pattern: String) -> JSONValue {
        ["type": "string", "pattern": .string(pattern)]
    }

    static func list(_ items: JSONValue) -> JSONValue {
        ["type": "array", "items": items]
    }

    /// A list in which nothing stands twice.
    static func distinct(_ items: JSONValue) -> JSONValue {
        list(items).adding(["uniqueItems": true])
    }

    static func map(_ values: JSONValue) -> JSONValue {
        ["type": "object", "additionalProperties": values]
    }
}

extension JSONValue {
    /// An object with more members.
    func adding(_ members: [String: JSONValue]) -> JSONValue {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(members) { first, _ in first })
    }

    /// A property with what holds where it is absent.
    func defaulting(to value: JSONValue) -> JSONValue { adding(["default": value]) }
}
