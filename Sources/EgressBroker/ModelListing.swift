internal import BrokerProtocol
internal import ModelDialects
internal import StrictJSON

/// The answer to `GET /v1/models`: what this listener has, under the names that choose it.
enum ModelListing {
    static func body(_ terms: ListenerTerms) -> [UInt8] {
        let models = terms.roles.map { role -> JSONValue in
            let name = JSONValue.string(role.pin.alias ?? role.pin.model)
            return [
                "id": name, "object": "model", "created": 0, "owned_by": "invigilator",
                "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
            ]
        }
        let list: JSONValue = ["object": "list", "data": .array(models), "has_more": false]
        return list.canonicalBytes
    }
}
