internal import Yams

extension MappingReader {
    /// Takes a key that must be there; its absence is a problem.
    mutating func required<Value>(
        _ key: String,
        _ take: (inout MappingReader) -> Value?
    ) -> Value? {
        guard has(key) else {
            refuse(key, line: line, "the key is missing", remedy: "add «\(key): …»")
            return nil
        }
        return take(&self)
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
        string(key).flatMap { beneath($0, key) }
    }

    /// Paths beneath the document's directory, sorted, each listed once.
    mutating func paths(_ key: String) -> [BeneathPath]? {
        strings(key).map { beneath($0, key) }
    }

    func beneath(_ texts: Located<[Located<String>]>, _ key: String) -> [BeneathPath] {
        var paths: Set<BeneathPath> = []
        for text in texts.value {
            guard let path = beneath(text, key) else { continue }
            guard paths.insert(path).inserted else {
                refuse(
                    key,
                    line: text.line,
                    "«\(path.text)» is listed twice",
                    remedy: "list it once"
                )
                continue
            }
        }
        return paths.sorted()
    }

    private func beneath(_ text: Located<String>, _ key: String) -> BeneathPath? {
        do throws(WorkspaceError) {
            return try BeneathPath(text.value)
        } catch {
            let reason = if case .path(_, let why) = error { why } else { "the path is malformed" }
            refuse(
                key,
                line: text.line,
                "«\(text.value.printablePrefix(60))»: \(reason)",
                remedy: "name a file beneath the document's directory, such as lib/desk.py"
            )
            return nil
        }
    }
}

extension MappingReader {
    /// A text of any number of lines, without other control characters than tabs.
    mutating func text(
        _ key: String,
        atLeast least: Int = 1,
        limit: Int
    ) -> Located<String>? {
        let remedy = "write a text, of several lines below «\(key): |»"
        guard let found = scalar(key, "a text", remedy) else { return nil }
        let isText =
            (least...limit).contains(found.value.string.utf8.count)
            && !found.value.string.unicodeScalars.contains { scalar in
                scalar.isControl && scalar != "\n" && scalar != "\t"
            }
        guard isText else {
            refuse(
                key,
                line: found.line,
                "the text is empty, longer than \(limit) bytes or holds control characters",
                remedy: remedy
            )
            return nil
        }
        return Located(value: found.value.string, line: found.line)
    }

    /// A number of bytes with its unit, of a range.
    mutating func bytes(_ key: String, in range: ClosedRange<Int>) -> Located<Int>? {
        let remedy = "write a whole number with a unit (KiB, MiB, GiB), such as 64MiB"
        guard let found = scalar(key, "a number of bytes", remedy) else { return nil }
        let text = found.value.string
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let units = ["KiB": 10, "MiB": 20, "GiB": 30]
        guard digits.count <= 6, let count = Int(String(digits) ?? ""),
            let shift = units[String(text.utf8.dropFirst(digits.count)) ?? ""],
            range.contains(count << shift)
        else {
            refuse(
                key,
                line: found.line,
                "the value is no such number, or too large",
                remedy: remedy
            )
            return nil
        }
        return Located(value: count << shift, line: found.line)
    }
}
