internal import StrictJSON

// What a request tried, in a few plain words for the record.

extension ObjectReader {
    /// What somebody typed into the record, for the refusal's own record.
    var typedFields: String {
        var reader = self
        let fields = reader.optionalValue("fields")?.objectValue ?? [:]
        return fields.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.stringValue ?? $0.value.prettyText())" }
            .joined(separator: " ")
            .shown(120)
    }
}

extension String {
    /// The beginning of a text from outside, with everything but printable ASCII as `?`.
    func shown(_ limit: Int) -> String {
        let shown = utf8.prefix(limit).map { byte in
            (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
