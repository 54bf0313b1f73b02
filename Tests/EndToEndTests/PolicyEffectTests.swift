import Foundation
import StrictJSON
import TestSupport
import Testing

extension EndToEnd {
    /// What `policy diff` says against what sandboxes then let a program do.
    @Suite struct PolicyEffects {
        /// What was seen, by "section/subject".
        private func seen(_ document: String, _ night: Night) throws -> [String: JSONValue] {
            let probe = try Stage.fixtureText("effects_probe.py")
            let ended = try night.run(
                ["sandbox", "exec", "--policy", document, "--no-terminal"],
                after: ["--", "/usr/bin/python3", "-I", "-B", "-c", probe]
            )
            try #require(ended.code == 0, "\(ended)")
            let answer = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            return flat(try #require(answer.objectValue))
        }

        private func flat(_ sections: [String: JSONValue]) -> [String: JSONValue] {
            var flat: [String: JSONValue] = [:]
            for (section, value) in sections {
                for (subject, seen) in value.objectValue ?? [:] {
                    flat["\(section)/\(subject)"] = seen
                }
            }
            return flat
        }

        /// What the command says changes, by "section/subject".
        private func said(_ old: String, _ new: String, _ night: Night) throws -> Set<String> {
            let ended = try night.done(["policy", "diff", old, new, "--json"])
            let answer = try JSONValue(parsing: Array(ended.output.utf8), limits: .document)
            let sections = answer["policies"]?.arrayValue?.first?["sections"]?.arrayValue ?? []
            return Set(
                sections.flatMap { section -> [String] in
                    let name = section["section"]?.stringValue ?? ""
                    // What needs a reason follows from the rest.
                    guard name != "dangers" else { return [] }
                    return (section["changes"]?.arrayValue ?? []).map {
                        "\(name)/\($0["subject"]?.stringValue ?? "")"
                    }
                }
            )
        }

        @Test(
            "what policy diff says changes is what changes inside, and nothing else",
            arguments: [7]
        )
        func equality(seed: UInt64) throws {
            let night = try Night()
            let shown = try night.scratch.directory("shown")
            for name in ["data", "more"] {
                let place = try night.scratch.directory("shown/\(name)")
                try name.write(toFile: "\(place)/\(name)")
                try FileManager.default.copyItem(atPath: "/usr/bin/true", toPath: "\(place)/true")
            }
            var generator = SeededGenerator(seed: seed)
            var policy = GeneratedPolicy(&generator, shown: shown, isVisible: true)
            var old = "\(night.scratch.path)/0.yaml"
            try policy.text.write(toFile: old)
            var before = try seen(old, night)
            var kinds: Set<String> = []
            for index in 1...24 {
                policy = policy.changed(&generator, percent: 20)
                let new = "\(night.scratch.path)/\(index).yaml"
                try policy.text.write(toFile: new)
                let after = try seen(new, night)
                try #require(before.keys.sorted() == after.keys.sorted())
                let changed = Set(before.keys.filter { before[$0] != after[$0] })
                let said = try said(old, new, night)
                #expect(said == changed, "seed \(seed), step \(index): \(policy)")
                kinds.formUnion(changed.map { String($0.prefix { $0 != "/" }) })
                (old, before) = (new, after)
            }
            // The control: the instrument saw something change of every kind.
            let all = Set(before.keys.map { String($0.prefix { $0 != "/" }) })
            #expect(kinds == all)
        }
    }
}
