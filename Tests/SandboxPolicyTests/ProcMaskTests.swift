import SandboxPlan
import SandboxPolicy
import Testing

@Suite("Constants in the place of the host's counters")
struct ProcMaskTests {
    /// The constants of a small policy, by name.
    private func constants(cpu: Int, memory: String = "64MiB") throws -> [String: String] {
        let text = PolicySample.coding.replacing("proc: pid-only", with: "proc: masked")
            .replacing("cpu: 100", with: "cpu: \(cpu)")
            .replacing("memory: 64MiB", with: "memory: \(memory)")
        let resolver = PolicyResolver(groups: try PolicySample.groups(), context: plainContext())
        let plan = try resolver.resolve(try PolicySample.policy(text)).plan
        guard case .masked(let entries) = plan.proc else { return [:] }
        var found: [String: String] = [:]
        for case .file(let path, let contents) in entries {
            // What the launcher reads of one file (PlanDecoding).
            #expect(contents.count <= 65536, "\(path)")
            found[String(path.text.dropFirst())] = String(decoding: contents, as: UTF8.self)
        }
        return found
    }

    @Test(
        "every hundred percent of a processor that is begun is one",
        arguments: [(1, 1), (100, 1), (101, 2), (200, 2), (350, 4), (25600, 256)]
    )
    func processors(cpu: Int, count: Int) throws {
        let constants = try constants(cpu: cpu)
        let lines = (constants["stat"] ?? "").split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("cpu") && !$0.hasPrefix("cpu ") }.count == count)
        #expect(lines.contains("cpu\(count - 1) 0 0 0 0 0 0 0 0 0 0"))
        let model = (constants["cpuinfo"] ?? "").split(separator: "\n")
        #expect(model.filter { $0.hasPrefix("processor\t: ") }.count == count)
        #expect(model.contains("cpu cores\t: \(count)"))
    }

    @Test("memory is what the policy allows, and all of it is free")
    func memory() throws {
        let lines = (try constants(cpu: 100, memory: "3GiB")["meminfo"] ?? "")
            .split(separator: "\n")
        for name in ["MemTotal", "MemFree", "MemAvailable"] {
            #expect(lines.contains("\(name): 3145728 kB"))
        }
        #expect(lines.contains("SwapTotal: 0 kB"))
    }

    @Test("one policy has the same constants each time, and another limit changes nothing else")
    func constant() throws {
        #expect(try constants(cpu: 200) == constants(cpu: 200))
        let (one, two) = (try constants(cpu: 100), try constants(cpu: 200))
        let differing = one.keys.filter { one[$0] != two[$0] }.sorted()
        #expect(one.count == two.count && differing == ["cpuinfo", "stat"])
    }
}
