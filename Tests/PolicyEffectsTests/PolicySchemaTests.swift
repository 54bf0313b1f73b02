import PolicyEffects
import SandboxPolicy
import StrictJSON
import StrictYAML
import Testing

@Suite("The schemas of documents, their readers and their reference")
struct PolicySchemaTests {
    /// One mapping of a document: the keys of the schema there, and how a key is put into a document there.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let schema: PolicySchema
        let path: [String]
        /// A document with `@` where a key is added.
        let document: String
        /// Keys that are read to tell forms of the mapping from each other.
        var others: Set<String> = []
    }

    private static let head = """
        policy: sample
        version: 1
        role: candidate
        assurance: full
        proc: pid-only
        working-directory: /
        streams: pipes

        """
    private static let limits =
        "memory: 64MiB, processes: 8, cpu: 100, wall: 10s, output: 1MiB, output-action: truncate, "
        + "files: 64, file-size: 16MiB"
    private static let forms: Set<String> = ["source", "tree", "tmpfs", "vault"]

    private static func policy(
        _ top: String = "",
        root: String = "{ tree: true }",
        limits more: String = "",
        syscalls: String = "{ groups: [base] }",
        landlock: String = "{ minimum-abi: 6 }"
    ) -> String {
        head + "root: \(root)\nlimits: { \(limits)\(more) }\nsyscalls: \(syscalls)\n"
            + "landlock: \(landlock)\n\(top)"
    }

    static let places = [
        Place(testDescription: "policy", schema: .policy, path: [], document: policy("@")),
        Place(
            testDescription: "root",
            schema: .policy,
            path: ["root", "1"],
            document: policy(root: "{ skeleton: {}, @ }"),
            others: ["tree"]
        ),
        Place(
            testDescription: "skeleton",
            schema: .policy,
            path: ["root", "1", "skeleton"],
            document: policy(root: "{ skeleton: { @ } }")
        ),
        Place(
            testDescription: "a host mount",
            schema: .policy,
            path: ["mounts", "0"],
            document: policy("mounts: [{ source: /usr, target: /usr, access: read-only, @ }]"),
            others: forms
        ),
        Place(
            testDescription: "a tree",
            schema: .policy,
            path: ["mounts", "1"],
            document: policy("mounts: [{ tree: 1, target: /usr, access: read-only, @ }]"),
            others: forms
        ),
        Place(
            testDescription: "a tmpfs",
            schema: .policy,
            path: ["mounts", "2"],
            document: policy("mounts: [{ tmpfs: 1MiB, target: /usr, @ }]"),
            others: forms
        ),
        Place(
            testDescription: "the vault",
            schema: .policy,
            path: ["mounts", "3"],
            document: policy("mounts: [{ vault: split, target: /usr, @ }]"),
            others: forms
        ),
        Place(
            testDescription: "limits",
            schema: .policy,
            path: ["limits"],
            document: policy(limits: ", @")
        ),
        Place(
            testDescription: "syscalls",
            schema: .policy,
            path: ["syscalls"],
            document: policy(syscalls: "{ groups: [base], @ }")
        ),
        Place(
            testDescription: "a rule",
            schema: .policy,
            path: ["syscalls", "allow", "1"],
            document: policy(
                syscalls:
                    "{ groups: [], allow: [{ call: x, when: [{ argument: 0, in: [1] }], @ }] }"
            )
        ),
        Place(
            testDescription: "a condition",
            schema: .policy,
            path: ["syscalls", "allow", "1", "when"],
            document: policy(
                syscalls:
                    "{ groups: [], allow: [{ call: x, when: [{ argument: 0, in: [1], @ }] }] }"
            )
        ),
        Place(
            testDescription: "landlock",
            schema: .policy,
            path: ["landlock"],
            document: policy(landlock: "{ minimum-abi: 6, @ }")
        ),
        Place(
            testDescription: "group",
            schema: .group,
            path: [],
            document: "{ group: x, reason: why, calls: [], @ }"
        ),
        Place(
            testDescription: "site",
            schema: .site,
            path: [],
            document: "{ version: 1, reason: why, @ }"
        ),
        Place(
            testDescription: "limits of a site",
            schema: .site,
            path: ["limits"],
            document: "{ version: 1, reason: why, limits: { @ } }"
        ),
        Place(
            testDescription: "calls of a site",
            schema: .site,
            path: ["calls"],
            document: "{ version: 1, reason: why, calls: { @ } }"
        ),
    ]

    // A name leads to a property, and through lists; a number to a form.
    private func mapping(_ place: Place) throws -> [String: JSONValue] {
        var value = place.schema.json
        for part in place.path {
            if let items = value["items"] { value = items }
            if let index = Int(part) {
                value = try #require(value["oneOf"]?.arrayValue?[index])
            } else {
                value = try #require(value["properties"]?[part])
            }
        }
        if let items = value["items"] { value = items }
        return try #require(value["properties"]?.objectValue)
    }

    private func problems(_ place: Place, _ text: String) throws -> [String] {
        let bytes = Array(text.utf8)
        do throws(PolicyRefusal) {
            switch place.schema {
            case .policy: _ = try SandboxPolicy(parsing: bytes, file: "x.yaml")
            case .group: _ = try SyscallGroup(parsing: bytes, file: "x.yaml")
            case .site: _ = try SitePolicy(files: [("x.yaml", bytes)])
            }
            return []
        } catch {
            return error.problems.map { "\($0.key): \($0.reason); \($0.remedy)" }
        }
    }

    @Test("a schema has exactly the keys that the reader takes", arguments: places)
    func keys(_ place: Place) throws {
        let document = place.document.replacing("@", with: "")
        #expect(try problems(place, document) == [])
        let found = try problems(place, place.document.replacing("@", with: "zzzzzzzz: 1"))
        let words = try #require(found.first { $0.contains("known here: ") }, "\(found)")
        let list = words.components(after: "known here: ", before: ";")
        let known = Set(list.split(separator: ", ").map(String.init)).subtracting(place.others)
        #expect(try Set(mapping(place).keys).subtracting(place.others) == known)
    }

    @Test(
        "the reference has a row for every key, with value, default and reason",
        arguments: places
    )
    func reference(_ place: Place) throws {
        let text = try golden("../../../policies/README.md")
        let site = try #require(text.firstRange(of: "\n## Site policy\n"))
        let part = place.schema == .site ? text[site.upperBound...] : text[..<site.lowerBound]
        let rows = part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmed }
        }
        for (key, schema) in try mapping(place) {
            let value = schema["default"].map(said) ?? ""
            let isDescribed = rows.contains { row in
                row.count > 3 && row[0] == "`\(key)`" && row[2] == value && !row[1].isEmpty
                    && row.last?.isEmpty == false
            }
            #expect(isDescribed, "\(key), by default «\(value)»")
        }
    }

    private func said(_ value: JSONValue) -> String {
        switch value {
        case .null: "none"
        case .string(let text): "`\(text)`"
        case .integer(0xffff_ffff): "`0xffffffff`"
        case .array(let items): "`[\(items.compactMap(\.stringValue).joined(separator: ", "))]`"
        case .object: "`{}`"
        default: "`\(String(decoding: value.canonicalBytes, as: UTF8.self))`"
        }
    }

    @Test("the reference describes every group of calls")
    func groups() throws {
        let text = try golden("../../../policies/README.md")
        for name in try PolicyLibrary(directory: policyDirectory).groups.keys {
            #expect(text.contains("| `\(name)` |"), "\(name)")
        }
    }

    @Test("every schema names its draft and its document", arguments: PolicySchema.allCases)
    func titles(_ schema: PolicySchema) {
        #expect(schema.json["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema.json["title"]?.stringValue?.contains("invigilator") == true)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    fileprivate func components(after start: String, before end: Character) -> Substring {
        guard let range = firstRange(of: start) else { return "" }
        return self[range.upperBound...].prefix { $0 != end }
    }
}
