/// Words of Python by which a program reaches beyond its own conversation.
///
/// A word is looked for as a name, as a module that is imported, and as a string that says nothing
/// else, because `getattr` takes one. A word that is put together while the program runs is not seen.
enum WordAudit {
    /// The findings, one for each word and line.
    static func findings(in tokens: PythonTokens) -> [(word: WordFinding, finding: AuditFinding)] {
        var reader = WordReader(tokens)
        reader.read()
        var seen: Set<String> = []
        return reader.found.filter { seen.insert("\($0.line) \($0.word.name)").inserted }
            .sorted { ($0.line, $0.word.name) < ($1.line, $1.word.name) }
            .map { found in
                let detail = found.detail
                return (found.word, AuditFinding(found.word.kind, line: found.line, detail))
            }
    }
}

/// A word that was found, whatever its place.
struct WordFinding: Hashable, Sendable {
    /// What it is a way to.
    let kind: AuditFinding.Kind
    /// The word, of our own lists.
    let name: String
}

/// Goes through the pieces of a program once.
private struct WordReader {
    struct Found {
        let word: WordFinding
        let line: Int
        let detail: String
    }

    private let tokens: [PythonToken]
    private let literals: [(line: Int, value: String)]
    private(set) var found: [Found] = []

    init(_ tokens: PythonTokens) {
        self.tokens = tokens.tokens.filter { $0.kind != .comment }
        literals = tokens.literals
    }

    mutating func read() {
        for (index, token) in tokens.enumerated() where token.kind == .name {
            if !token.text.utf8.allSatisfy({ $0 < 0x80 }) {
                // Python folds such letters: another spelling of eval is eval.
                add(
                    .hiddenText,
                    "a name beyond ASCII",
                    token.line,
                    "a name with letters beyond ASCII"
                )
            }
            if let kind = WordLists.names[token.text] {
                add(kind, token.text, token.line, "names \(token.text)")
            }
            if WordLists.calls.contains(token.text), isCall(index) {
                add(.dynamicCode, token.text, token.line, "calls \(token.text)")
            }
            if text(at: index - 1) == ".", text(at: index - 2) == "os",
                WordLists.isProcessCall(token.text)
            {
                add(.process, token.text, token.line, "names os.\(token.text)")
            }
            if token.text == "import" { readImport(at: index) }
        }
        for literal in literals { read(literal) }
    }

    private mutating func read(_ literal: (line: Int, value: String)) {
        if let kind = WordLists.names[literal.value] {
            add(kind, literal.value, literal.line, "says \(literal.value) in a string")
        } else if WordLists.calls.contains(literal.value), literal.value != "compile" {
            add(.dynamicCode, literal.value, literal.line, "says \(literal.value) in a string")
        }
        for path in WordLists.paths where literal.value.hasPrefix(path) {
            add(.foreignPath, path, literal.line, "a path that begins with \(path)")
        }
    }

    private mutating func add(
        _ kind: AuditFinding.Kind,
        _ name: String,
        _ line: Int,
        _ detail: String
    ) {
        let word = WordFinding(kind: kind, name: name)
        found.append(Found(word: word, line: line, detail: detail))
    }

    private func text(at index: Int) -> String? {
        tokens.indices.contains(index) ? tokens[index].text : nil
    }

    // A method or a function of this name that the program defines is its own.
    private func isCall(_ index: Int) -> Bool {
        text(at: index + 1) == "(" && text(at: index - 1) != "." && text(at: index - 1) != "def"
    }

    /// Reads `import a.b, c` and `from a import b`.
    private mutating func readImport(at index: Int) {
        if let module = moduleBefore(index) {
            note(module, tokens[index].line)
            return
        }
        var place = index + 1
        var isBeginning = true
        // Up to the next one, so that a line of nothing but imports is read once.
        while place < tokens.count, tokens[place].kind != .newline, tokens[place].text != ";",
            tokens[place].text != "import"
        {
            if isBeginning, tokens[place].kind == .name {
                note(tokens[place].text, tokens[place].line)
            }
            isBeginning = tokens[place].text == ","
            place += 1
        }
    }

    /// The first word of `a.b` in `from a.b import`, if the import has a `from`.
    private func moduleBefore(_ index: Int) -> String? {
        var place = index - 1
        while place >= 0, tokens[place].kind == .name || tokens[place].text == ".",
            tokens[place].text != "import"
        {
            if tokens[place].text == "from" { return text(at: place + 1) }
            place -= 1
        }
        return nil
    }

    private mutating func note(_ module: String, _ line: Int) {
        guard let kind = WordLists.modules[module] else { return }
        add(kind, "module \(module)", line, "imports \(module)")
    }
}
