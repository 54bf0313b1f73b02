public import ExamResults
internal import StrictJSON

/// Words that nobody can guess, drawn from the secret key of an experiment's split.
///
/// The same key gives the same words: a night that is replayed with the recorded split shows what was
/// shown before, and nothing more has to be kept in the vault.
public struct SecretWords: Sendable {
    private let key: [UInt8]

    /// Consonants, so that no word of a language comes out, and no number that a program would read.
    private static let letters = Array("bcdfghjklmnpqrst".utf8)
    /// 24 letters of 16: 96 bits.
    static let length = 24

    /// Takes the key.
    ///
    /// - Parameter key: 32 random bytes that stay in the vault.
    public init(key: [UInt8]) { self.key = key }

    /// The word that stands in a task for its canary.
    ///
    /// - Parameter task: the task.
    /// - Returns: 24 letters.
    public func canary(of task: TaskID) -> String { word("canary", task.text) }

    func word(_ domain: String, _ name: String) -> String {
        String(
            decoding: bytes(domain, name).prefix(Self.length).map { Self.letters[Int($0 & 15)] },
            as: UTF8.self
        )
    }

    /// A number below a limit, from the same source.
    func number(below limit: Int, _ domain: String, _ name: String) -> Int {
        Int(bytes(domain, name).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) % limit
    }

    private func bytes(_ domain: String, _ name: String) -> [UInt8] {
        SHA256Digest.keyed(Array("invigilator \(domain) v1\n\(name)".utf8), key: key)
    }
}

extension TaskCatalog {
    /// The tasks with drawn words in place of a member's text, wherever that text stands in the task.
    ///
    /// - Parameters:
    ///   - member: the member; every task has it, as a text of its own.
    ///   - words: where the words come from.
    /// - Returns: the tasks of both splits, so that nothing about the word tells of which it is.
    public func replacing(_ member: String, with words: SecretWords) -> TaskCatalog {
        TaskCatalog(
            entries: entries.map { entry in
                guard let old = entry.content[member]?.stringValue, !old.isEmpty else {
                    return entry
                }
                return Entry(
                    id: entry.id,
                    family: entry.family,
                    content: entry.content.replacing(old, with: words.canary(of: entry.id))
                )
            },
            shared: shared
        )
    }
}

extension JSONValue {
    /// The value with one text in place of another, in every text of it.
    fileprivate func replacing(_ old: String, with new: String) -> JSONValue {
        switch self {
        case .string(let text): .string(text.replacing(old, with: new))
        case .array(let values): .array(values.map { $0.replacing(old, with: new) })
        case .object(let members): .object(members.mapValues { $0.replacing(old, with: new) })
        case .null, .bool, .integer, .number: self
        }
    }
}
