internal import StrictJSON

/// The models that a listener has, as the providers list theirs.
public enum ModelList {
    /// The answer to a listing: the names by which requests choose a pin, in the pins' order.
    ///
    /// - Parameters:
    ///   - pins: the listener's pins.
    ///   - isAnthropic: whether the request had an `anthropic-version` header; the path is the
    ///     same for both.
    /// - Returns: the JSON text.
    public static func body(_ pins: [ModelPin], isAnthropic: Bool) -> [UInt8] {
        var names: [String] = []
        for pin in pins {
            let name = pin.alias ?? pin.model
            if !names.contains(name) { names.append(name) }
        }
        let models = names.map { name -> JSONValue in
            isAnthropic
                ? [
                    "type": "model", "id": .string(name), "display_name": .string(name),
                    "created_at": "1970-01-01T00:00:00Z",
                ]
                : ["id": .string(name), "object": "model", "created": 0, "owned_by": "operator"]
        }
        var list: [String: JSONValue] = ["data": .array(models)]
        if isAnthropic {
            list["has_more"] = false
            list["first_id"] = names.first.map { .string($0) } ?? .null
            list["last_id"] = names.last.map { .string($0) } ?? .null
        } else {
            list["object"] = "list"
        }
        return JSONValue.object(list).canonicalBytes
    }
}
