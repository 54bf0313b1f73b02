internal import ModelDialects
internal import StrictYAML

extension BenchmarkManifest {
    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: the file's name, for error texts.
    /// - Throws: ``WorkspaceError/document(_:)`` with every problem at once.
    public init(parsing bytes: [UInt8], file: String) throws(WorkspaceError) {
        let list = ProblemList(file: file, operation: "read the benchmark's manifest")
        let top = try list.top(of: bytes)
        let manifest = Self.read(top, list)
        try list.check()
        // Whatever is missing was reported, so that the check above has thrown.
        guard let manifest else { fatalError("a manifest without problems is complete") }
        self = manifest
    }

    private static func read(_ mapping: MappingReader, _ list: ProblemList) -> BenchmarkManifest? {
        var top = mapping
        let name = readName(&top)
        let version = top.required("version") { $0.integer("version", in: 1...1_000_000) }
        let title = top.required("title") { $0.string("title") }
        let examiner = readProgram("examiner", &top)
        let variants = readVariants(&top)
        let packages = readPackages(&top)
        let tasks = readTasks(&top, variants)
        var refusedPackages: [String] = []
        let candidate = readProgram("candidate", &top) { refusedPackages = readRefused(&$0) }
        let agent = readPath("agent", &top)
        let program = readPath("program", &top)
        let limits = readLimits(&top)
        let deterministic = top.required("deterministic") { $0.bool("deterministic") }
        let floors = readFloors(&top)
        let oracle = readOracle(&top)
        let shim = top.name("shim")
        let models = readModels(&top)
        let watchful = readWatchful(&top)
        checkSeparation(examiner, candidate, tasks, &top)
        top.finish()
        guard let name, let version, let title, let examiner, let tasks, let candidate, let agent,
            let program, let limits, let deterministic
        else {
            return nil
        }
        return BenchmarkManifest(
            benchmark: name,
            version: version.value,
            title: title.value,
            examiner: examiner,
            tasks: tasks,
            packages: packages,
            variants: variants,
            candidate: candidate,
            refusedPackages: refusedPackages,
            agent: agent,
            program: program,
            limits: limits,
            isDeterministic: deterministic.value,
            floors: floors,
            oracle: oracle,
            shim: shim,
            models: models,
            watchful: watchful
        )
    }

    private static func readName(_ top: inout MappingReader) -> String? {
        top.required("benchmark") { $0.name("benchmark") }
    }

    private static func readProgram(
        _ key: String,
        _ top: inout MappingReader,
        more: (inout MappingReader) -> Void = { _ in }
    ) -> Program? {
        guard var section = top.required(key, { $0.mapping(key) }) else { return nil }
        more(&section)
        let command = section.required("command") { $0.strings("command") }
        let files = section.required("files") { $0.paths("files") }
        section.finish()
        guard let command, let files else { return nil }
        guard command.value.first?.value.hasPrefix("/") == true else {
            section.refuse(
                "command",
                line: command.line,
                "the command is empty or its first word is no absolute path",
                remedy: "write the path inside the sandbox, such as /usr/bin/python3"
            )
            return nil
        }
        return Program(command: command.value.map(\.value), files: files)
    }

    private static func readPath(_ key: String, _ top: inout MappingReader) -> BeneathPath? {
        top.required(key) { $0.path(key) }
    }

    private static func readOptionalPath(
        _ key: String,
        _ top: inout MappingReader
    ) -> BeneathPath? {
        top.path(key)
    }

    private static func readLimits(_ top: inout MappingReader) -> Limits? {
        guard var section = top.required("limits", { $0.mapping("limits") }) else { return nil }
        let turns = section.required("turns") { $0.integer("turns", in: 1...1_000) }
        let seconds = section.required("seconds") { $0.integer("seconds", in: 1...86_400) }
        section.finish()
        guard let turns, let seconds else { return nil }
        return Limits(turns: turns.value, seconds: seconds.value)
    }

    private static func readFloors(_ top: inout MappingReader) -> [String: BeneathPath] {
        guard var section = top.mapping("floors") else { return [:] }
        var floors: [String: BeneathPath] = [:]
        for name in section.remainingKeys {
            let line = section.place.line
            guard name.isBenchmarkName else {
                section.refuse(
                    name.printablePrefix(60),
                    line: line,
                    "the floor's name is malformed",
                    remedy: "write lower-case letters, digits and «-»"
                )
                continue
            }
            floors[name] = readOptionalPath(name, &section)
        }
        return floors
    }

    private static func readOracle(_ top: inout MappingReader) -> BeneathPath? {
        guard var section = top.mapping("conformance") else { return nil }
        let oracle = readOptionalPath("oracle", &section)
        section.finish()
        return oracle
    }

    /// What the examiner knows must not travel with the candidate.
    private static func checkSeparation(
        _ examiner: Program?,
        _ candidate: Program?,
        _ tasks: TaskSource?,
        _ top: inout MappingReader
    ) {
        guard let examiner, let candidate else { return }
        for file in candidate.files where examiner.files.contains(file) || tasks == .file(file) {
            top.refuse(
                "candidate.files",
                line: top.place.line,
                "«\(file.text)» belongs to the examiner's side",
                remedy: "give the candidate a file of its own; the two sides share nothing"
            )
        }
    }
}
