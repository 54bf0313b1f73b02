internal import SandboxPlan
internal import FilterLint
internal import SeccompCompiler
internal import StrictYAML

extension SiteDocument {
    /// Reads one document of a site's policy.
    ///
    /// - Parameters:
    ///   - bytes: the YAML text.
    ///   - file: the name used in errors.
    /// - Throws: ``PolicyRefusal`` with every problem.
    init(parsing bytes: [UInt8], file: String) throws(PolicyRefusal) {
        let problems = ProblemList(
            file: file,
            operation: "read a site policy",
            guide: "policies/README.md"
        )
        let top = YAMLDocument.top(of: bytes, limit: SandboxPolicy.maximumBytes, problems)
        guard let top, let document = SiteReading(top: top).document(file), problems.isEmpty
        else { throw PolicyRefusal(problems) }
        self = document
    }
}

/// Reads the top level of a site document.
private struct SiteReading {
    let top: YAMLNode

    func document(_ file: String) -> SiteDocument? {
        guard var reader = top.mapping() else { return nil }
        let _: Int? = reader.required("version")?.integer(in: 1...1)
        let reason = reader.required("reason")?.text()
        let roles = reader.optional("roles")?.distinct { $0.choice(Self.roles) }.map(\.value)
        var bounds: [Placed<SiteBound>] = []
        func read(_ key: String, _ bound: (YAMLNode) -> SiteBound?) {
            guard let node = reader.optional(key), let found = bound(node) else { return }
            bounds.append(Placed(found, at: DocumentPlace(line: node.place.line, key: key)))
        }
        read("assurance") { $0.choice(Self.levels).map(SiteBound.assurance) }
        read("minimum-abi") { $0.integer(in: 1...99).map(SiteBound.minimumABI) }
        read("network") { .network(Self.words($0)) }
        read("proc") { .proc(Self.words($0)) }
        read("sockets") { .sockets(Self.words($0)) }
        read("devices") { .devices(Self.words($0)) }
        read("sources") { .sources($0.distinct { $0.path()?.text }.map(\.value)) }
        let limits = reader.optional("limits").map(Self.limits) ?? []
        let calls = reader.optional("calls").map(Self.calls) ?? []
        let (keys, upstreams) = Self.shared(&reader)
        reader.finish()
        guard let reason else { return nil }
        return SiteDocument(
            file: file,
            reason: reason,
            roles: roles ?? SandboxRole.allCases,
            bounds: bounds + limits + calls,
            keys: keys,
            upstreams: upstreams
        )
    }

    // Keys of root's and where they may be sent: neither says anything without the other.
    private static func shared(
        _ reader: inout MappingReader
    ) -> (keys: [String], upstreams: [String]) {
        let keys = reader.optional("keys")
        let upstreams = reader.optional("upstreams")
        if let alone = keys ?? upstreams, keys == nil || upstreams == nil {
            alone.refuse(
                "keys and upstreams are written together",
                remedy:
                    "write keys: [PATH] and upstreams: [URL], the only places they may be sent to"
            )
        }
        return (
            keys?.distinct(key).map(\.value) ?? [],
            upstreams?.distinct { $0.text() }.map(\.value) ?? []
        )
    }

    private static func key(_ node: YAMLNode) -> String? {
        guard let text = node.text() else { return nil }
        let isSource = ["/", "environment:", "credential:"].contains { text.hasPrefix($0) }
        if !isSource {
            node.refuse(
                "it is no source of a key",
                remedy: "write a full path, environment:NAME or credential:NAME"
            )
        }
        return text
    }

    private static let roles: [String: SandboxRole] = Dictionary(
        uniqueKeysWithValues: SandboxRole.allCases.map { ("\($0)", $0) }
    )
    private static let levels = Dictionary(
        uniqueKeysWithValues: AssuranceLevel.allCases.map { ($0.name, $0) }
    )

    private static func words<Word: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ node: YAMLNode
    ) -> [Word] {
        node.distinct { $0.word(of: Word.self) }.map(\.value)
    }

    private static func limits(_ node: YAMLNode) -> [Placed<SiteBound>] {
        guard var reader = node.mapping() else { return [] }
        var bounds: [Placed<SiteBound>] = []
        for key in LimitKey.allCases {
            guard let node = reader.optional(key.rawValue) else { continue }
            let value: UInt64? =
                switch key {
                case .memory, .output, .fileSize: node.bytes()
                case .wall, .idle, .cpuTime: node.milliseconds()
                case .processes, .cpu, .files: node.integer(in: 1...1_048_576)
                }
            guard let value, case .scalar(let text, _) = node.content else { continue }
            let place = DocumentPlace(line: node.place.line, key: "limits.\(key.rawValue)")
            bounds.append(Placed(.limit(key, value, text: text), at: place))
        }
        reader.finish()
        return bounds
    }

    private static func calls(_ node: YAMLNode) -> [Placed<SiteBound>] {
        guard var reader = node.mapping() else { return [] }
        var bounds: [Placed<SiteBound>] = []
        for (key, bound) in [("only", SiteBound.onlyCalls), ("never", SiteBound.neverCalls)] {
            guard let node = reader.optional(key) else { continue }
            let names = node.distinct(call).map(\.value)
            let place = DocumentPlace(line: node.place.line, key: "calls.\(key)")
            bounds.append(Placed(bound(names), at: place))
        }
        reader.finish()
        return bounds
    }

    private static func call(_ node: YAMLNode) -> String? {
        guard let name = node.text() else { return nil }
        do throws(SeccompError) {
            _ = try SyscallNumbers.number(of: name)
            return name
        } catch {
            node.refuse(error.description, remedy: "correct the name, or remove it")
            return nil
        }
    }
}
