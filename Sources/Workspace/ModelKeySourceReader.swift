internal import StrictYAML

extension ModelKeySource {
    /// Reads the key `key`; a key itself is refused there, and not repeated.
    static func read(_ entry: inout MappingReader) -> ModelKeySource? {
        let forms = "write key: {file: PATH}, {environment: NAME} or {credential: NAME}"
        let remedy = "keep the key itself out of this file; \(forms)"
        guard var section = entry.mapping("key", remedy: remedy) else { return nil }
        let isEmpty = section.remainingKeys.isEmpty
        let file = section.string("file")
        let variable = section.string("environment")
        let credential = section.string("credential")
        section.finish()
        let lines = [file, variable, credential].compactMap { $0?.line }
        guard lines.count < 2 else {
            section.refuse(
                "",
                line: lines.max() ?? section.place.line,
                "\(lines.count) sources of one key",
                remedy: "keep one of them"
            )
            return nil
        }
        if let file { return Self.file(file, section) }
        if let variable { return Self.environment(variable, section) }
        if let credential { return Self.credential(credential, section) }
        guard isEmpty else { return nil }
        section.refuse("", line: section.place.line, "it names no source", remedy: forms)
        return nil
    }

    private static func file(_ path: Placed<String>, _ section: MappingReader) -> ModelKeySource? {
        guard path.value.hasPrefix("/") else {
            section.refuse(
                "file",
                line: path.line,
                "the path is not absolute",
                remedy: "write the full path of a file that only its owner may read"
            )
            return nil
        }
        return .file(path.value)
    }

    private static func environment(
        _ name: Placed<String>,
        _ section: MappingReader
    ) -> ModelKeySource? {
        let isName =
            name.value.utf8.count <= 128 && name.value.utf8.first.map { !$0.isDigit } == true
            && name.value.utf8.allSatisfy { $0.isUpper || $0.isDigit || $0 == UInt8(ascii: "_") }
        guard isName else {
            section.refuse(
                "environment",
                line: name.line,
                "that is no variable's name",
                remedy: "write capital letters, digits and «_», such as PROVIDER_API_KEY"
            )
            return nil
        }
        return .environment(name.value)
    }

    private static func credential(
        _ name: Placed<String>,
        _ section: MappingReader
    ) -> ModelKeySource? {
        do throws(WorkspaceError) {
            guard try BeneathPath(name.value).components.count == 1 else {
                throw .path(text: name.value, reason: "it holds a slash")
            }
            return .credential(name.value)
        } catch {
            section.refuse(
                "credential",
                line: name.line,
                "that is no credential's name",
                remedy:
                    "write the name that LoadCredential= gives it: letters, digits, «.», «_», «-»"
            )
            return nil
        }
    }
}

extension UInt8 {
    /// Whether this is an ASCII digit.
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    /// Whether this is an ASCII capital letter.
    fileprivate var isUpper: Bool { (0x41...0x5A).contains(self) }
}
