internal import StrictJSON

/// Which of a listener's pins a request means.
struct PinChoice {
    let dialect: Dialect
    let pins: [ModelPin]

    func pin(of value: JSONValue, route: Route) throws(RequestRefusal) -> ModelPin {
        let offered = pins.filter { $0.dialects.contains(dialect) }
        guard let first = offered.first else {
            throw RequestRefusal(
                status: 404,
                kind: .unknownRoute,
                field: nil,
                reason: "no model is offered in the dialect \(dialect.rawValue)",
                remedy: "ask in another dialect, or let the operator offer a model in this one"
            )
        }
        guard let name = Self.name(in: value, route: route) else { return first }
        return offered.first { $0.isNamed(name) } ?? first
    }

    /// Notes where a request named another model than it gets, and refuses one that names none.
    static func note(
        _ value: JSONValue,
        route: Route,
        pin: ModelPin,
        in reader: inout ShapeReader
    ) throws(RequestRefusal) {
        guard let name = name(in: value, route: route) else {
            throw RequestRefusal(
                status: 400,
                kind: .badRequest,
                field: "model",
                reason: "the member is missing or no string",
                remedy: "name a model"
            )
        }
        guard !pin.isNamed(name) else { return }
        reader.note(
            .modelChanged,
            reader.policy.isSealed
                ? "another model was named" : ModelEvent.printable(name, limit: 100) + " was named"
        )
    }

    private static func name(in value: JSONValue, route: Route) -> String? {
        switch route {
        case .geminiGenerate(let model, _), .geminiCountTokens(let model): model
        case .generate, .countTokens: value["model"]?.stringValue
        case .listModels, .reachability: nil
        }
    }
}
