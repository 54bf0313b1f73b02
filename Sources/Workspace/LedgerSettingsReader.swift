internal import StrictYAML

extension LedgerSettings {
    /// Reads the section `ledger`.
    static func read(_ top: inout MappingReader) -> LedgerSettings {
        var section = top.mapping("ledger")
        var settings: PublishSettings?
        if var publish = section?.mapping("publish") {
            settings = PublishSettings.read(&publish)
            publish.finish()
        }
        section?.finish()
        return LedgerSettings(publish: settings)
    }
}

extension PublishSettings {
    // A slow git host answers in seconds; nobody waits for longer than for an exam.
    private static let longest = Duration.seconds(600)

    fileprivate static func read(_ section: inout MappingReader) -> PublishSettings? {
        let file = section.string("file")
        let ref = section.string("ref")
        let repository = section.string("repository")
        let command = section.strings("command")
        let isRequired = section.bool("required")?.value ?? false
        let timeout = section.duration("timeout", in: .seconds(1)...longest)?.value
        let line = section.place.line
        guard [file != nil, ref != nil, command != nil].filter(\.self).count == 1 else {
            section.refuse(
                "",
                line: line,
                "exactly one of file, ref and command says where checkpoints go",
                remedy: "write file: PATH, ref: NAME with repository: PATH, or command: [PATH, …]"
            )
            return nil
        }
        guard (ref == nil) == (repository == nil) else {
            section.refuse(
                "repository",
                line: repository?.line ?? line,
                "ref and repository are written together",
                remedy: "write both, or another place"
            )
            return nil
        }
        for (key, path) in [("file", file), ("repository", repository)] {
            guard let path, !path.value.hasPrefix("/") else { continue }
            section.refuse(
                key,
                line: path.line,
                "the path is not absolute",
                remedy: "write the full path, of a place that nobody on this host can change"
            )
        }
        let words = command?.value.map(\.value) ?? []
        if let command, words.first?.hasPrefix("/") != true {
            section.refuse(
                "command",
                line: command.line,
                "the command is empty or its first word is no absolute path",
                remedy: "write the program's path first"
            )
        }
        return PublishSettings(
            place: file.map { .file($0.value) }
                ?? ref.map { .ref($0.value, repository: repository?.value ?? "") }
                ?? .command(words),
            isRequired: isRequired,
            timeout: timeout ?? .seconds(30)
        )
    }
}
