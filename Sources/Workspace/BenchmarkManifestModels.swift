internal import ModelDialects
internal import StrictYAML

// The key of benchmark.yaml that says which models an examiner cannot do without.

extension BenchmarkManifest {
    private static let examinerRoles: [ModelRole] = [.userSimulator, .judge]

    static func readModels(_ top: inout MappingReader) -> [ModelRole] {
        guard let names = top.strings("models") else { return [] }
        var roles: [ModelRole] = []
        for name in names.value {
            guard let role = examinerRoles.first(where: { $0.rawValue == name.value }),
                !roles.contains(role)
            else {
                top.refuse(
                    "models",
                    line: name.line,
                    "«\(name.value.printablePrefix(40))» is no role of an examiner, or named twice",
                    remedy: "list user-simulator, judge or both"
                )
                continue
            }
            roles.append(role)
        }
        return roles
    }

    /// Refuses a configuration without a model that the examiner cannot do without.
    ///
    /// - Parameters:
    ///   - config: the experiment's configuration.
    ///   - file: its name, for error texts.
    /// - Throws: ``WorkspaceError/document(_:)`` with every such role at once.
    public func requireModels(of config: ExperimentConfig, file: String) throws(WorkspaceError) {
        let list = ProblemList(file: file, operation: "look for the examiner's models")
        for role in models where config.models.roles[role] == nil {
            let short = role == .userSimulator ? ", or user_model" : ""
            list.add(
                DocumentPlace(line: 1, key: "models.roles.\(role.rawValue)"),
                "\(benchmark) cannot examine without this model",
                remedy: "write the key\(short); FORMATS.md says how a model is named"
            )
        }
        try list.check()
    }
}
