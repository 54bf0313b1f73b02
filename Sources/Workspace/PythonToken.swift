/// One piece of a Python text, as far as an audit of it needs to know.
public struct PythonToken: Sendable, Equatable {
    /// What it is.
    public let kind: Kind
    /// The line that it begins in, from 1.
    public let line: Int
    /// A name as it stands, an operator's character, a number as it stands, a string's value with its
    /// escapes resolved, or a comment with its sign.
    public let text: String

    /// The kinds of pieces.
    public enum Kind: Sendable, Equatable {
        /// A name or a word of the language.
        case name
        /// A number.
        case number
        /// A string or bytes; of a formatted one the text between its expressions.
        case string
        /// One character of an operator or bracket.
        case mark
        /// A comment.
        case comment
        /// The end of a line outside of brackets.
        case newline
    }
}

/// A Python text in pieces.
///
/// Good enough for an audit, and no more: it knows strings with all their prefixes, formatted strings
/// with the expressions inside, comments, names, numbers, brackets and joined lines. It does not know
/// grammar. A text that it cannot follow to its end is said to be unreadable, not guessed at.
public struct PythonTokens: Sendable, Equatable {
    /// The pieces, in order.
    public let tokens: [PythonToken]
    /// The line at which the text could not be followed, if there is one; pieces before it stand.
    public let unreadableLine: Int?

    /// Cuts a text into pieces.
    ///
    /// - Parameter text: the text of a file.
    public init(of text: String) {
        var scanner = PythonScanner(Array(text.utf8))
        scanner.scan()
        tokens = scanner.tokens
        unreadableLine = scanner.unreadableLine
    }

    /// The values of strings with the line of each; those that the language joins, by standing side by
    /// side or with a plus between, are one.
    public var literals: [(line: Int, value: String)] {
        var literals: [(line: Int, value: String)] = []
        var isOpen = false
        for token in tokens {
            switch token.kind {
            case .string:
                if isOpen, let last = literals.indices.last {
                    literals[last].value += token.text
                } else {
                    literals.append((token.line, token.text))
                }
                isOpen = true
            case .mark where token.text == "+": break
            // Inside of brackets strings are joined over lines, and a comment may stand between.
            case .comment, .newline: break
            case .name, .number, .mark: isOpen = false
            }
        }
        return literals
    }
}
