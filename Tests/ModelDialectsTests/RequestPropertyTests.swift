import ModelDialects
import StrictJSON
import TestSupport
import Testing

@Suite("Any request at all")
struct RequestPropertyTests {
    private static let names = [
        "model", "type", "role", "content", "store", "tools", "n", "url", "temperature", "id",
        "canary-name", "cache_control", "file_id", "effort", "output_config", "text", "metadata",
    ]

    private static func scalar(_ generator: inout SeededGenerator) -> JSONValue {
        switch generator.below(7) {
        case 0: .null
        case 1: .bool(generator.flag())
        case 2: JSONValue(generator.below(100_000) - 10)
        case 3: .number(0.5 + Double(generator.below(10)))
        case 4: .string(generator.pick(["user", "text", "function", "web_search", "canary-value"]))
        case 5: []
        default: [:]
        }
    }

    /// The value with one place changed, somewhere below.
    private static func mutant(_ value: JSONValue, _ generator: inout SeededGenerator) -> JSONValue
    {
        switch value {
        case .array(var elements):
            guard !elements.isEmpty, generator.chance(90) else { break }
            let place = generator.below(elements.count)
            switch generator.below(6) {
            case 0: elements.remove(at: place)
            case 1: elements.insert(elements[place], at: place)
            case 2: elements.append(["canary-name": "canary-value"])
            default: elements[place] = mutant(elements[place], &generator)
            }
            return .array(elements)
        case .object(var members):
            guard !members.isEmpty, generator.chance(95) else { break }
            let name = generator.pick(members.keys.sorted())
            switch generator.below(6) {
            case 0: members[name] = nil
            case 1: members[generator.pick(names)] = scalar(&generator)
            case 2: members["canary-name"] = members[name]
            default: members[name] = mutant(members[name] ?? .null, &generator)
            }
            return .object(members)
        case .null, .bool, .integer, .number, .string: break
        }
        return scalar(&generator)
    }

    @Test("goes upstream pinned and rebuilt, or not at all", arguments: Dialect.allCases)
    func pinned(dialect: Dialect) throws {
        var passed = 0
        for seed in 0..<1_500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var body = conversation(dialect)
            for _ in 0...generator.below(4) { body = Self.mutant(body, &generator) }
            let isSealed = generator.flag()
            let pin = pin(
                effort: generator.pick(["medium", "none", "4000", nil]),
                temperature: generator.pick([nil, 0, 0.25])
            )
            do throws(RequestRefusal) {
                let request = try parsed(body, route(dialect), pin: pin, sealed: isSealed)
                passed += 1
                Self.check(request, sealed: isSealed, "seed \(seed)")
            } catch {
                #expect(error.status == 400 || error.status == 413, "seed \(seed)")
                #expect(!error.reason.isEmpty && !error.remedy.isEmpty, "seed \(seed)")
                #expect(!isSealed || !error.message.contains("canary"), "seed \(seed)")
            }
        }
        // Most mutants are requests still, so the rules above were met by something.
        #expect(passed > 300)
    }

    private static func check(_ request: ModelRequest, sealed: Bool, _ seed: Comment) {
        let body = request.body
        if request.dialect == .geminiGenerate {
            let limit = body["generationConfig"]?["maxOutputTokens"]?.intValue ?? .max
            #expect(limit <= 8_000, seed)
        } else {
            #expect(body["model"] == "small-1", seed)
            let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"]
            #expect(names.compactMap { body[$0]?.intValue }.allSatisfy { $0 <= 8_000 }, seed)
            #expect(names.contains { body[$0] != nil }, seed)
        }
        #expect(body["store"] != true && body["n"] == nil, seed)
        let text = String(decoding: request.bodyBytes, as: UTF8.self)
        for name in ["canary-name\":", "file_id", "\"type\":\"url\"", "web_search\",\"user_loc"] {
            // A function's input and schema have the caller's own names.
            #expect(!text.contains(name) || isFree(body, name), seed)
        }
        #expect(request.events.count <= 32, seed)
        for event in request.events {
            #expect(event.detail.utf8.count <= 200, seed)
            #expect(!sealed || !event.detail.contains("canary"), seed)
        }
        checkAgain(request, sealed: sealed, seed)
    }

    /// What was rebuilt once is rebuilt into itself, and asks for nothing more.
    private static func checkAgain(_ request: ModelRequest, sealed: Bool, _ seed: Comment) {
        do throws(RequestRefusal) {
            let again = try ModelRequest.parse(
                request.bodyBytes,
                route: request.route,
                pins: [request.pin],
                policy: RequestPolicy(isSealed: sealed, unknownFields: .refuse)
            )
            #expect(again.body == request.body, seed)
            #expect(again.events.isEmpty, seed)
            #expect(again.cassetteKey == request.cassetteKey, seed)
        } catch {
            Issue.record("\(seed): \(error)")
        }
    }

    private static let free = [
        "parameters", "input_schema", "input", "args", "response", "env", "metadata", "schema",
    ]

    /// Whether a name stands only below what passes as it is.
    private static func isFree(_ value: JSONValue, _ name: String) -> Bool {
        switch value {
        case .object(let members):
            members.allSatisfy { key, member in
                if free.contains(key), member.arrayValue == nil { return true }
                return !"\"\(key)\":".contains(name) && isFree(member, name)
            }
        case .array(let elements): elements.allSatisfy { isFree($0, name) }
        case .null, .bool, .integer, .number, .string: true
        }
    }

    @Test("of bytes alone never ends the reader", arguments: Dialect.allCases)
    func bytes(dialect: Dialect) {
        var generator = SeededGenerator(seed: 4)
        let whole = conversation(dialect).canonicalBytes
        for _ in 0..<1_000 {
            var bytes = whole
            for _ in 0...generator.below(3) {
                bytes[generator.below(bytes.count)] = .random(in: .min ... .max, using: &generator)
            }
            do throws(RequestRefusal) {
                _ = try ModelRequest.parse(
                    bytes,
                    route: route(dialect),
                    pins: [pin()],
                    policy: RequestPolicy(isSealed: true)
                )
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
