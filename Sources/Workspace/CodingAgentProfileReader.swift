internal import ModelDialects
internal import StrictYAML

extension CodingAgentProfile {
    /// Reads a profile.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: the file's name, for error texts.
    /// - Throws: ``WorkspaceError/document(_:)`` with every problem at once.
    public init(parsing bytes: [UInt8], file: String) throws(WorkspaceError) {
        let list = ProblemList(
            file: file,
            operation: "read the coding agent's profile",
            guide: "FORMATS.md"
        )
        var top = try list.top(of: bytes)
        let name = top.required("coding_agent") { $0.name("coding_agent") } ?? ""
        var reader = ProfileReader(name: name)
        let readsPlace = DocumentPlace(line: top.line(of: "reads"), key: "reads")
        self.init(
            name: name,
            version: top.required("version") { $0.integer("version", in: 1...1_000_000) }?.value
                ?? 0,
            title: top.required("title") { $0.string("title") }?.value ?? "",
            executable: reader.executable(&top),
            versionArguments: reader.words("version-arguments", &top) ?? ["--version"],
            files: top.paths("files") ?? [],
            workTexts: reader.texts("work-files", &top),
            homeTexts: reader.texts("home-files", &top),
            command: reader.command(&top),
            continueCommand: reader.words("continue-command", &top),
            directory: reader.insidePath("cwd", &top) ?? "/work",
            home: reader.insidePath("home", &top) ?? "/home/agent",
            environment: reader.environment(&top),
            reads: reader.words("reads", &top) ?? [],
            readsPlace: readsPlace,
            dialects: reader.dialects(&top),
            hasTerminal: top.bool("terminal")?.value ?? false,
            task: reader.text("task", &top) ?? "",
            transcript: reader.transcript(&top),
            restart: reader.restart(&top),
            idle: top.duration("idle", in: .seconds(1)...(.seconds(86_400)))?.value,
            clientTimeout: top.duration("client-timeout", in: .seconds(1)...(.seconds(86_400)))?
                .value ?? .seconds(7200)
        )
        top.finish()
        reader.check(self, top)
        try list.check()
    }
}

/// Reads the parts of a profile and remembers which variables they use, and where.
private struct ProfileReader {
    let name: String
    private var uses: [(name: CodingAgentVariables.Name, key: String, line: Int)] = []

    private static let longestText = 32 * 1024
    private static let absolute = "write an absolute path in the sandbox"

    init(name: String) { self.name = name }

    // MARK: - texts with variables

    private mutating func noted(_ text: Placed<String>, _ key: String, _ entry: MappingReader) {
        let found = CodingAgentVariables.used(in: text.value)
        uses += found.known.map { ($0, entry.place.child(key).key, text.line) }
        guard let unknown = found.unknown else { return }
        let known = CodingAgentVariables.Name.allCases.map(\.rawValue).joined(separator: ", ")
        entry.refuse(
            key,
            line: text.line,
            "«\(unknown.printablePrefix(40))» is no variable",
            remedy: "write one of: \(known); $${ stands for itself"
        )
    }

    mutating func words(_ key: String, _ top: inout MappingReader) -> [String]? {
        guard let found = top.strings(key) else { return nil }
        for word in found.value { noted(word, key, top) }
        return found.value.map(\.value)
    }

    mutating func text(
        _ key: String,
        atLeast least: Int = 1,
        _ top: inout MappingReader
    ) -> String? {
        guard let found = top.text(key, atLeast: least, limit: Self.longestText) else { return nil }
        noted(found, key, top)
        return found.value
    }

    mutating func texts(_ key: String, _ top: inout MappingReader) -> [BeneathPath: String] {
        guard var section = top.mapping(key) else { return [:] }
        var texts: [BeneathPath: String] = [:]
        for name in section.remainingKeys {
            guard let text = text(name, atLeast: 0, &section) else { continue }
            do throws(WorkspaceError) { texts[try BeneathPath(name)] = text } catch {
                section.refuse(
                    name.printablePrefix(60),
                    line: section.place.line,
                    "that is no path beneath a directory",
                    remedy: "write letters, digits, «.», «_», «-» and «/», such as .tool/config"
                )
            }
        }
        return texts
    }

    mutating func environment(_ top: inout MappingReader) -> [String: String] {
        guard var section = top.mapping("environment") else { return [:] }
        var variables: [String: String] = [:]
        for name in section.remainingKeys {
            guard let value = section.string(name) else { continue }
            noted(value, name, section)
            guard name.isVariableName else {
                section.refuse(
                    name.printablePrefix(60),
                    line: value.line,
                    "that is no variable's name",
                    remedy: "write letters, digits and «_», not beginning with a digit"
                )
                continue
            }
            // The launcher refuses every plan with such a variable.
            guard !name.hasPrefix("LD_"), name != "GCONV_PATH" else {
                section.refuse(
                    name.printablePrefix(60),
                    line: value.line,
                    "it steers the dynamic loader, and no sandbox has it",
                    remedy: "remove it; a library lies where its program looks for it"
                )
                continue
            }
            variables[name] = value.value
        }
        return variables
    }

    func dialects(_ top: inout MappingReader) -> [Dialect] {
        let one = top.word("dialect", of: Dialect.self)
        guard let list = top.dialects("dialects") else { return one.map { [$0.value] } ?? [] }
        if one != nil {
            top.refuse(
                "dialects",
                line: list.line,
                "dialect and dialects both say how it asks a model",
                remedy: "keep one of the two"
            )
        }
        return list.value
    }

    // MARK: - the program

    func executable(_ top: inout MappingReader) -> CodingAgentProfile.Executable? {
        let line = top.line(of: "package")
        let package = top.name("package")
        let found = top.string("executable")
        if package != nil, found?.value.hasPrefix("/") != false {
            top.refuse(
                "package",
                line: line,
                "no program of the package is named",
                remedy: "write executable: NAME, a program in the package's bin"
            )
        }
        guard let found else { return nil }
        guard !found.value.hasPrefix("/") else { return .path(found.value) }
        do throws(WorkspaceError) {
            guard try BeneathPath(found.value).components.count == 1 else {
                throw .path(text: found.value, reason: "it holds a slash")
            }
        } catch {
            top.refuse(
                "executable",
                line: found.line,
                "it is neither an absolute path nor a program's name",
                remedy: "write /usr/bin/NAME, or the name of a program of the package"
            )
        }
        return .packaged(name: found.value, package: package ?? name)
    }

    mutating func command(_ top: inout MappingReader) -> [String] {
        guard top.has("command") else {
            top.refuse(
                "command",
                line: top.place.line,
                "the key is missing",
                remedy: "add «command: […]»"
            )
            return []
        }
        let line = top.line(of: "command")
        let words = words("command", &top) ?? []
        if let first = words.first, first.hasPrefix("/") || first == "${executable}" {
            return words
        }
        top.refuse(
            "command",
            line: line,
            "it begins with no path",
            remedy: "\(Self.absolute), or ${executable}"
        )
        return []
    }

    func insidePath(_ key: String, _ top: inout MappingReader) -> String? {
        guard let path = top.string(key) else { return nil }
        if !path.value.hasPrefix("/") {
            top.refuse(key, line: path.line, "it is not absolute", remedy: Self.absolute)
        }
        return path.value
    }

    // MARK: - its end

    func transcript(_ top: inout MappingReader) -> CodingAgentProfile.Transcript? {
        guard var section = top.mapping("transcript") else { return nil }
        let path = section.required("path") { $0.path("path") }
        let limit = section.bytes("limit", in: 1...(1 << 30))
        section.finish()
        return path.map { CodingAgentProfile.Transcript(path: $0, limit: limit ?? 64 << 20) }
    }

    func restart(_ top: inout MappingReader) -> CodingAgentProfile.Restart {
        var section = top.mapping("restart")
        let after = section?.word("after", of: CodingAgentProfile.Restart.After.self)
        let limit = section?.integer("limit", in: 1...10_000)
        let pause = section?.duration("pause", in: .milliseconds(100)...(.seconds(3600)))
        section?.finish()
        if let limit, after?.value ?? .never == .never {
            section?.refuse(
                "limit",
                line: limit.line,
                "it is never started again, so there is nothing to count",
                remedy: "write after: failure or after: any-end, or remove the key"
            )
        }
        let isNever = after?.value ?? .never == .never
        return CodingAgentProfile.Restart(
            after: after?.value ?? .never,
            limit: isNever ? 0 : limit?.value ?? 20,
            pause: pause?.value ?? .seconds(5)
        )
    }

    // MARK: - what does not fit together

    func check(_ profile: CodingAgentProfile, _ top: MappingReader) {
        for use in uses {
            let (lacks, key): (Bool, String) =
                switch use.name {
                case .executable: (profile.executable == nil, "executable")
                case .package: (!profile.isPackaged, "package")
                case .task: (profile.task.isEmpty, "task")
                case .model, .modelEndpoint, .effort: (profile.dialects.isEmpty, "dialect")
                case .home, .agentFiles, .clientTimeoutSeconds, .clientTimeoutMilliseconds:
                    (false, "")
                }
            guard lacks else { continue }
            top.refuse(
                use.key,
                line: use.line,
                "${\(use.name.rawValue)} stands for nothing: there is no «\(key)»",
                remedy: "add «\(key): …» to the profile"
            )
        }
        for path in profile.reads where !path.hasPrefix("/") && !path.hasPrefix("${") {
            top.refuse(
                "reads",
                line: profile.readsPlace.line,
                "«\(path.printablePrefix(60))» is not absolute",
                remedy: "write paths of the host from its root"
            )
        }
    }
}

extension CodingAgentProfile {
    /// Whether its program belongs to a package of the cache.
    var isPackaged: Bool {
        if case .packaged = executable { true } else { false }
    }
}

extension String {
    /// Whether this is a name that programs accept for a variable of the environment.
    fileprivate var isVariableName: Bool {
        guard let first = utf8.first, !(0x30...0x39).contains(first), utf8.count <= 128 else {
            return false
        }
        return utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
        }
    }
}
