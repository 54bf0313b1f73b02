internal import ExamResults
internal import StrictJSON

/// Answers that are none, for those who look for answers.
///
/// The file looks as the tasks of the other split would: train tasks with other ids, other names,
/// numbers and gold, all drawn. Whoever hands in one of its words has taken it from there, because it
/// stands nowhere else.
public struct HoneyGold: Sendable, Equatable {
    /// The file's bytes.
    public let bytes: [UInt8]
    /// Its words that are long enough to be found again.
    public let words: [String]

    /// As many as a small split has; more would only cost memory.
    private static let taskCount = 6

    /// Draws a file.
    ///
    /// - Parameters:
    ///   - tasks: the train tasks, whose form it takes.
    ///   - secret: where its words come from.
    public init(like tasks: [TaskCatalog.Entry], _ secret: SecretWords) {
        var disguise = Disguise(secret)
        let entries = tasks.prefix(Self.taskCount).map { entry -> JSONValue in
            var members = disguise.value(entry.content, at: entry.id.text).objectValue ?? [:]
            members["id"] = .string(disguise.fresh("id \(entry.id.text)"))
            members["split"] = "test"
            members["reference"] = .string(disguise.fresh("reference \(entry.id.text)"))
            return .object(members)
        }
        let file: JSONValue = ["split": "test", "tasks": .array(Array(entries))]
        bytes = Array(file.prettyText().utf8) + [0x0A]
        words = disguise.words
    }

    /// Other words in the same places.
    private struct Disguise {
        let secret: SecretWords
        private(set) var words: [String] = []

        init(_ secret: SecretWords) { self.secret = secret }

        mutating func fresh(_ place: String) -> String {
            let word = secret.word("honey", place)
            words.append(word)
            return word
        }

        mutating func value(_ value: JSONValue, at place: String) -> JSONValue {
            switch value {
            case .string(let text): return .string(string(text, at: place))
            case .integer(let number): return .integer(altered(number, at: place))
            case .array(let values):
                var list: [JSONValue] = []
                for (index, item) in values.enumerated() {
                    list.append(self.value(item, at: "\(place)[\(index)]"))
                }
                return .array(list)
            case .object(let members):
                var fields: [String: JSONValue] = [:]
                for (name, item) in members.sorted(by: { $0.key < $1.key }) {
                    fields[name] = self.value(item, at: "\(place).\(name)")
                }
                return .object(fields)
            case .null, .bool, .number: return value
            }
        }

        // Prose stays, ids and numbers in it change: what looks like a sentence is one.
        private func string(_ text: String, at place: String) -> String {
            var altered: [UInt8] = []
            for (index, byte) in text.utf8.enumerated() {
                guard (0x30...0x39).contains(byte) else {
                    altered.append(byte)
                    continue
                }
                let digit = secret.number(below: 9, "honey digit", "\(place) \(index)")
                altered.append(0x30 + UInt8((Int(byte - 0x30) + 1 + digit) % 10))
            }
            return String(decoding: altered, as: UTF8.self)
        }

        private func altered(_ number: Int64, at place: String) -> Int64 {
            guard abs(number) >= 10, abs(number) < 1 << 40 else { return number }
            return number + 1 + Int64(secret.number(below: 9, "honey number", place))
        }
    }
}
