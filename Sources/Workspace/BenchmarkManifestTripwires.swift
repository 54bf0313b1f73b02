internal import ExamResults
internal import StrictJSON
internal import StrictYAML

// The keys of benchmark.yaml that name tasks which watch for cheats: canary, impossible, twins.

extension BenchmarkManifest {
    static func readWatchful(_ top: inout MappingReader) -> WatchfulTasks {
        let canary = top.string("canary")
        if let canary,
            !canary.value.isTaskFamily || ["id", "family", "split"].contains(canary.value)
        {
            top.refuse(
                "canary",
                line: canary.line,
                "it is no member of a task that may be drawn anew",
                remedy: "name a text of every task that tells nothing of its answer, such as marker"
            )
        }
        let impossible = readTasks(of: "impossible", &top)
        return WatchfulTasks(
            canary: canary?.value,
            impossible: Set(impossible),
            twins: readTwins(&top)
        )
    }

    private static func readTasks(of key: String, _ top: inout MappingReader) -> [TaskID] {
        guard let names = top.strings(key) else { return [] }
        var tasks: [TaskID] = []
        for name in names.value {
            guard let task = task(name.value), !tasks.contains(task) else {
                top.refuse(
                    key,
                    line: name.line,
                    "«\(name.value.printablePrefix(40))» is no task's id, or named twice",
                    remedy: "list ids of tasks"
                )
                continue
            }
            tasks.append(task)
        }
        return tasks
    }

    private static func readTwins(_ top: inout MappingReader) -> [WatchfulTasks.Twins] {
        guard
            let items = top.optional("twins")?.items(
                atMost: 256,
                remedy: "write a list of pairs, such as [{task: a-1, twin: a-9}]"
            )
        else { return [] }
        var pairs: [WatchfulTasks.Twins] = []
        var seen: Set<TaskID> = []
        for item in items {
            guard var pair = item.mapping(remedy: "write {task: ID, twin: ID}") else { continue }
            let names = [pair.required("task"), pair.required("twin")].map { $0?.text() }
            pair.finish()
            let tasks = names.compactMap { $0.flatMap(task) }
            guard tasks.count == 2, tasks.allSatisfy({ seen.insert($0).inserted }) else {
                item.refuse(
                    "one of the two is no task's id, or is in a pair already",
                    remedy: "write two ids that no other pair has"
                )
                continue
            }
            pairs.append(WatchfulTasks.Twins(task: tasks[0], twin: tasks[1]))
        }
        // Their mean difference is recorded; of one pair it would be the outcome of one sealed task.
        if pairs.count == 1, items.count == 1 {
            items[0].refuse(
                "a single pair would tell how one sealed task went",
                remedy: "write two pairs or more"
            )
        }
        return pairs
    }

    private static func task(_ text: String) -> TaskID? {
        do throws(ExamError) { return try TaskID(text) } catch {
            return nil  // the caller says what is wrong with it
        }
    }

    /// Refuses a manifest whose watchful tasks are not among the benchmark's.
    ///
    /// - Parameters:
    ///   - tasks: the tasks.
    ///   - file: the manifest's name, for error texts.
    /// - Throws: ``WorkspaceError/tasks(location:reason:remedy:)`` for the first one.
    public func requireWatchful(in tasks: TaskCatalog, file: String) throws(WorkspaceError) {
        let known = Set(tasks.entries.map(\.id))
        let named = watchful.twins.flatMap { [$0.task, $0.twin] } + watchful.impossible
        if let stranger = named.sorted().first(where: { !known.contains($0) }) {
            throw .tasks(
                location: file,
                reason: "impossible or twins names \(stranger), which is no task of the benchmark",
                remedy: "name tasks that there are"
            )
        }
        guard let member = watchful.canary else { return }
        var texts: Set<String> = []
        for entry in tasks.entries {
            let text = entry.content[member]?.stringValue ?? ""
            guard text.utf8.count >= Self.shortestCanary, texts.insert(text).inserted else {
                throw .tasks(
                    location: "\(file), task \(entry.id)",
                    reason: "its member «\(member)» is no text of its own",
                    remedy: "give each task another text of at least 6 characters in «\(member)»"
                )
            }
        }
    }

    // Shorter ones stand elsewhere in a task by chance, and are replaced there, too.
    private static let shortestCanary = 6
}
