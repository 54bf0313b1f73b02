import Foundation
import StrictJSON
import Testing

/// A few tasks of tau2 in place of a whole domain, in a copy of the benchmark's directory.
///
/// All else of the copy is what ships, but that there are no floors. The scenarios hold a mark each, by
/// which the cast tells even those apart that read the same.
struct TauSelection {
    let domain: String
    var train = 20
    var test = 2
    /// Changes the list of tasks: Python that is given `tasks`, before they are written.
    var change = ""

    /// The file of tasks.
    func file(in scratch: Scratch) -> String { "\(scratch.path)/selected/tasks.json" }

    /// What the customer of each task begins with, by the task's id.
    func marks(in scratch: Scratch) throws -> [String: String] {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file(in: scratch))))
        let tasks = try JSONValue(parsing: bytes, limits: .document)["tasks"]?.arrayValue ?? []
        var marks: [String: String] = [:]
        for task in tasks {
            let told = task["task"]?["user_scenario"]?["instructions"]?["task_instructions"]
            let words = told?.stringValue?.components(separatedBy: "Your reference is ") ?? []
            marks[try #require(task["id"]?.stringValue)] = words.last?.replacing(".", with: "")
        }
        return marks
    }

    /// Makes the benchmark's directory.
    func benchmark(in scratch: Scratch) throws -> String {
        let directory = "\(scratch.path)/selected"
        try FileManager.default.copyItem(atPath: TauStage.folder, toPath: directory)
        let manifest = try String(contentsOfFile: "\(directory)/benchmark.yaml", encoding: .utf8)
        let kept = manifest.split(separator: "\n").prefix { !$0.hasPrefix("floors:") }
        let lines = kept.filter { !$0.hasPrefix("  packaged:") && !$0.hasPrefix("  splits:") }
            .map { $0 == "tasks:" ? "tasks: tasks.json" : $0 }
        try (lines.joined(separator: "\n") + "\n").write(toFile: "\(directory)/benchmark.yaml")
        let script = """
            import json, sys
            sys.path[:0] = [sys.argv[1]]
            from pathlib import Path
            import cast
            made = cast.tasks_file(Path(sys.argv[2]), "\(domain)", {"train": \(train), "test": \(test)})
            tasks = [entry["task"] for entry in made["tasks"]]
            \(change)
            Path(sys.argv[3]).write_text(json.dumps(made))
            """
        let ended = try Program(
            "/usr/bin/python3",
            [
                "-B", "-c", script, "\(TauStage.folder)/tests", try TauStage.packages(),
                file(in: scratch),
            ],
            temporary: "\(scratch.path)/tmp"
        ).waitForEnd()
        try #require(ended.code == 0, "\(ended)")
        return directory
    }
}
