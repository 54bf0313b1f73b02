internal import ModelDialects
internal import StrictYAML

extension ProblemList {
    /// Reads the top mapping of a document of this target.
    ///
    /// - Throws: ``WorkspaceError/document(_:)`` where there is none.
    func top(of bytes: [UInt8]) throws(WorkspaceError) -> MappingReader {
        // A configuration that is larger than 64 KiB is not a configuration.
        let top = YAMLDocument.top(of: bytes, limit: 64 * 1024, self)
        guard let reader = top?.mapping() else { throw .document(sorted) }
        return reader
    }

    /// Throws what was collected, if anything was.
    func check() throws(WorkspaceError) {
        guard isEmpty else { throw .document(sorted) }
    }
}

/// Values by key together with their lines, for what is checked against other keys later.
extension MappingReader {
    /// Takes a key that must be there; its absence is a problem.
    mutating func required<Value>(
        _ key: String,
        _ take: (inout MappingReader) -> Value?
    ) -> Value? {
        guard has(key) else {
            refuseAbsence(of: key)
            return nil
        }
        return take(&self)
    }

    /// A text on one line.
    mutating func string(_ key: String) -> Placed<String>? {
        optional(key)?.placed { $0.text() }
    }

    /// A text of any number of lines.
    mutating func text(_ key: String, atLeast least: Int = 1, limit: Int) -> Placed<String>? {
        optional(key)?.placed { $0.text(atLeast: least, limit: limit) }
    }

    /// A whole number of a range.
    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Placed<Int>? {
        optional(key)?.placed { $0.integer(in: range) }
    }

    /// A finite number of a range.
    mutating func number(_ key: String, in range: ClosedRange<Double>) -> Placed<Double>? {
        optional(key)?.placed { $0.number(in: range) }
    }

    /// A truth value.
    mutating func bool(_ key: String) -> Placed<Bool>? {
        optional(key)?.placed { $0.boolean() }
    }

    /// One of the words of an enum.
    mutating func word<Word: RawRepresentable<String> & CaseIterable & Sendable & Equatable>(
        _ key: String,
        of type: Word.Type
    ) -> Placed<Word>? {
        optional(key)?.placed { $0.word(of: type) }
    }

    /// One of the words of an enum, or a whole number of a range in its place.
    mutating func wordOrNumber<Word: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        of type: Word.Type,
        in range: ClosedRange<Int>
    ) -> Placed<String>? {
        optional(key)?.placed { node in
            guard case .scalar(let text, isPlain: true) = node.content, Int(text) != nil else {
                return node.word(of: type)?.rawValue
            }
            return node.integer(in: range).map { "\($0)" }
        }
    }

    /// A length of time, of a range.
    mutating func duration(_ key: String, in range: ClosedRange<Duration>) -> Placed<Duration>? {
        let least = UInt64(range.lowerBound.wholeMilliseconds)
        let most = UInt64(range.upperBound.wholeMilliseconds)
        return optional(key)?.placed { node in
            node.milliseconds(in: least...most).map { .milliseconds($0) }
        }
    }

    /// A number of bytes, of a range.
    mutating func bytes(_ key: String, in range: ClosedRange<UInt64>) -> Int? {
        optional(key)?.bytes(in: range).map { Int($0) }
    }

    /// A list of texts.
    mutating func strings(_ key: String) -> Placed<[Placed<String>]>? {
        optional(key)?.placed { node in
            node.items(atMost: 256, remedy: "write a list of texts, such as [a.py, lib/b.py]")?
                .compactMap { item in item.placed { $0.text() } }
        }
    }

    /// A list of dialects, each once.
    mutating func dialects(_ key: String) -> Placed<[Dialect]>? {
        guard let texts = strings(key) else { return nil }
        let known = Dialect.allCases.map(\.rawValue).joined(separator: ", ")
        var dialects: [Dialect] = []
        for text in texts.value {
            guard let dialect = Dialect(rawValue: text.value), !dialects.contains(dialect) else {
                refuse(
                    key,
                    line: text.line,
                    "«\(text.value.printablePrefix(40))» is unknown or listed twice",
                    remedy: "write each once, of: \(known)"
                )
                continue
            }
            dialects.append(dialect)
        }
        if texts.value.isEmpty {
            refuse(
                key,
                line: texts.line,
                "the list is empty, so no request could be sent",
                remedy: "write one or more of: \(known)"
            )
        }
        return Placed(dialects, at: texts.place)
    }

    /// A mapping below this one, to be read and finished by its own reader.
    mutating func mapping(
        _ key: String,
        remedy: String = "indent «key: value» lines below it"
    ) -> MappingReader? {
        optional(key)?.mapping(remedy: remedy)
    }

    /// A name: lower-case letters, digits and `-`, beginning with a letter.
    mutating func name(_ key: String) -> String? {
        guard let name = string(key) else { return nil }
        guard name.value.isBenchmarkName else {
            refuse(
                key,
                line: name.line,
                "the name is malformed",
                remedy: "write lower-case letters, digits and «-», beginning with a letter"
            )
            return nil
        }
        return name.value
    }

    /// A path beneath the document's directory.
    mutating func path(_ key: String) -> BeneathPath? {
        optional(key)?.beneathPath()
    }

    /// Paths beneath the document's directory, sorted, each listed once.
    mutating func paths(_ key: String) -> [BeneathPath]? {
        optional(key)?.distinct { $0.beneathPath() }.map(\.value).sorted()
    }

    /// The line of a key that nobody asked for yet; the mapping's own where there is none.
    func line(of key: String) -> Int { peek(key)?.place.line ?? place.line }

    /// Whether the value of a key that nobody asked for yet is a mapping.
    func isMapping(_ key: String) -> Bool {
        if case .mapping? = peek(key)?.content { true } else { false }
    }
}

extension YAMLNode {
    /// A path beneath the document's directory.
    fileprivate func beneathPath() -> BeneathPath? {
        guard let text = text() else { return nil }
        do throws(WorkspaceError) {
            return try BeneathPath(text)
        } catch {
            let reason = if case .path(_, let why) = error { why } else { "the path is malformed" }
            refuse(
                "«\(text.printablePrefix(60))»: \(reason)",
                remedy: "name a file beneath the document's directory, such as lib/desk.py"
            )
            return nil
        }
    }
}

extension Duration {
    /// The whole milliseconds of this length of time.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
