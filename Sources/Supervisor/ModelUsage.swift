internal import BrokerProtocol
package import Ledger
package import ModelDialects
package import StrictJSON

/// Calls of one role that a provider failed, one after the other.
package struct ProviderFailures: Equatable {
    /// How many.
    package let times: Int
    /// The last one, in the provider's own words where it said any.
    package let words: String

    /// On one line.
    package var text: String { "\(times) \(times == 1 ? "call" : "calls") ended by \(words)" }

    /// The second, and then every doubling.
    var isWorthTelling: Bool { times > 1 && times & (times - 1) == 0 }

    /// For a row.
    package var value: JSONValue { ["times": JSONValue(times), "words": .string(words)] }
}

/// What roles used of models, as `model-usage` rows keep it.
package struct ModelUsage: Equatable {
    /// What one role used.
    package struct Share: Equatable {
        /// Calls that had an answer or an error of the provider.
        package internal(set) var calls = 0
        /// Calls that ended with an error, or before their time.
        package internal(set) var failures = 0
        /// Tokens of questions.
        package internal(set) var inputTokens = 0
        /// Tokens of answers.
        package internal(set) var outputTokens = 0
        /// Cost in millionths of a dollar.
        package internal(set) var microdollars = 0

        static func += (left: inout Share, right: Share) {
            left.calls = ModelUsage.sum(left.calls, right.calls)
            left.failures = ModelUsage.sum(left.failures, right.failures)
            left.inputTokens = ModelUsage.sum(left.inputTokens, right.inputTokens)
            left.outputTokens = ModelUsage.sum(left.outputTokens, right.outputTokens)
            left.microdollars = ModelUsage.sum(left.microdollars, right.microdollars)
        }
    }

    // The broker's numbers are a claim: they neither take anything back nor overflow, now or when the
    // rows are read again.
    private static let ceiling = 1 << 50

    private static func sum(_ left: Int, _ right: Int) -> Int {
        min(min(max(0, left), ceiling) + min(max(0, right), ceiling), ceiling)
    }

    /// What each role used.
    package private(set) var shares: [ModelRole: Share] = [:]
    /// Requests that were changed or refused, by role and kind.
    package private(set) var events: [ModelRole: [String: Int]] = [:]
    /// Whose calls failed at last, and how.
    package internal(set) var failing: [ModelRole: ProviderFailures] = [:]
    /// How often the broker was lost and started anew.
    package internal(set) var gaps = 0

    /// Whether there is nothing to keep.
    package var isEmpty: Bool { self == ModelUsage() }

    /// What all roles used.
    var total: Share { shares.values.reduce(into: Share()) { $0 += $1 } }

    /// What one role used.
    func share(of role: ModelRole) -> Share { shares[role] ?? Share() }

    /// Adds a call.
    mutating func add(_ call: CallRecord) {
        var share = Share()
        share.calls = 1
        share.failures = call.status >= 400 || call.isCut ? 1 : 0
        share.inputTokens = call.inputTokens
        share.outputTokens = call.outputTokens
        share.microdollars = call.microdollars
        shares[call.role, default: Share()] += share
    }

    /// Adds a call that has not ended; `isCut` where it never will.
    mutating func add(_ spending: CallSpending, isCut: Bool) {
        var share = Share()
        share.calls = 1
        share.failures = isCut ? 1 : 0
        share.inputTokens = spending.inputTokens
        share.outputTokens = spending.outputTokens
        share.microdollars = spending.microdollars
        shares[spending.role, default: Share()] += share
    }

    /// Counts an event.
    mutating func add(_ event: ModelEvent, of role: ModelRole) {
        events[role, default: [:]][event.kind.rawValue, default: 0] += 1
    }

    // MARK: - the record

    /// The kind of row.
    package static let kind = EventKind.modelUsage

    /// The row's body.
    func body(iteration: Int) -> JSONValue {
        let roles = shares.map { role, share in
            (
                role.rawValue,
                JSONValue.object([
                    "calls": JSONValue(share.calls), "failures": JSONValue(share.failures),
                    "input_tokens": JSONValue(share.inputTokens),
                    "output_tokens": JSONValue(share.outputTokens),
                    "microdollars": JSONValue(share.microdollars),
                ])
            )
        }
        let kinds = events.map { role, counts in
            (role.rawValue, JSONValue.object(counts.mapValues { JSONValue($0) }))
        }
        var body: [String: JSONValue] = [
            "iteration": JSONValue(iteration), "gaps": JSONValue(gaps),
            "roles": .object(Dictionary(uniqueKeysWithValues: roles)),
            "events": .object(Dictionary(uniqueKeysWithValues: kinds)),
        ]
        if !failing.isEmpty {
            let failures = failing.map { ($0.rawValue, $1.value) }
            body["failing"] = .object(Dictionary(uniqueKeysWithValues: failures))
        }
        return .object(body)
    }

    /// What all rows of a record say together.
    ///
    /// - Parameters:
    ///   - bodies: bodies of rows; what is none of ours is left out.
    ///   - keepsRecovered: whether whose calls succeed again stays, with no failure, as a row has it.
    package init(adding bodies: [JSONValue], keepsRecovered: Bool = false) {
        for body in bodies {
            gaps = Self.sum(gaps, body["gaps"]?.intValue ?? 0)
            for (name, value) in body["roles"]?.objectValue ?? [:] {
                guard let role = ModelRole(rawValue: name) else { continue }
                var share = Share()
                share.calls = value["calls"]?.intValue ?? 0
                share.failures = value["failures"]?.intValue ?? 0
                share.inputTokens = value["input_tokens"]?.intValue ?? 0
                share.outputTokens = value["output_tokens"]?.intValue ?? 0
                share.microdollars = value["microdollars"]?.intValue ?? 0
                shares[role, default: Share()] += share
            }
            for (name, value) in body["failing"]?.objectValue ?? [:] {
                guard let role = ModelRole(rawValue: name), let words = value["words"]?.stringValue
                else { continue }
                // None is written when a call succeeds again.
                let times = max(0, value["times"]?.intValue ?? 0)
                failing[role] =
                    times > 0 || keepsRecovered ? ProviderFailures(times: times, words: words) : nil
            }
            for (name, value) in body["events"]?.objectValue ?? [:] {
                guard let role = ModelRole(rawValue: name) else { continue }
                for (kind, count) in value.objectValue ?? [:] {
                    let before = events[role]?[kind] ?? 0
                    events[role, default: [:]][kind] = Self.sum(before, count.intValue ?? 0)
                }
            }
        }
    }

    /// Nothing used.
    package init() {}
}
