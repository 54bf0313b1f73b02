public import SandboxPolicy
public import StrictJSON
public import StrictYAML

/// The result of `policy check`: what is wrong with policies on one host.
public struct PolicyCheck: Sendable, Equatable {
    /// The version of ``json``'s shape.
    public static let schema = "invigilator.policy-check/1"

    /// Policies that were looked at, by name, each with its problems.
    public let problems: [String: [DocumentProblem]]

    /// Whether nothing is wrong.
    public var isClean: Bool { problems.values.allSatisfy(\.isEmpty) }

    /// Checks policies of a library.
    ///
    /// - Parameters:
    ///   - names: which ones; all of the library when there is none.
    ///   - library: the documents.
    ///   - context: what resolution needs to know of the host.
    public init(_ names: [String], in library: PolicyLibrary, context: ResolutionContext) {
        let resolver = PolicyResolver(groups: library.groups, context: context)
        var found: [String: [DocumentProblem]] = [:]
        for name in names.isEmpty ? library.policyNames : names {
            do throws(PolicyRefusal) {
                found[name] = resolver.problems(of: try library.policy(named: name))
            } catch {
                found[name] = error.problems
            }
        }
        problems = found
    }

    /// One line a policy that is sound, and one a problem.
    public var text: String {
        problems.keys.sorted().flatMap { name -> [String] in
            let found = problems[name] ?? []
            return found.isEmpty ? ["\(name): sound"] : found.map(\.description)
        }.joined(separator: "\n") + "\n"
    }

    /// The result for programs.
    public var json: JSONValue {
        let entries = problems.keys.sorted().flatMap { name in
            (problems[name] ?? []).map { problem -> JSONValue in
                [
                    "policy": .string(name), "file": .string(problem.file),
                    "line": JSONValue(problem.line), "key": .string(problem.key),
                    "operation": .string(problem.operation), "reason": .string(problem.reason),
                    "remedy": .string(problem.remedy),
                ]
            }
        }
        return [
            "schema": .string(Self.schema), "policies": JSONValue(problems.keys.sorted()),
            "sound": .bool(isClean), "problems": .array(entries),
        ]
    }
}

extension PolicyResolver {
    /// Every problem of a policy on this host; empty when ``resolve(_:)`` would succeed for an exam.
    public func problems(of policy: SandboxPolicy) -> [DocumentProblem] {
        do throws(PolicyRefusal) {
            _ = try preview(policy)
            return []
        } catch {
            return error.problems
        }
    }
}
