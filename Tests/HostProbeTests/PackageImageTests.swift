import Foundation
import HostProbe
import Testing

@Suite("The image of an examiner's packages")
struct PackageImageTests {
    private let root: URL

    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        for (name, text) in [
            ("pkg/__init__.py", "x = 1\n"), ("pkg/data/tasks.json", "[]"), ("pkg/gen/make.py", ""),
            ("other.py", ""),
        ] {
            let file = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
    }

    private func paths(hiding hidden: [String]) throws(HostProbeError) -> [String] {
        try PackageImage.manifest(of: root.path, hiding: hidden, over: ImageManifest()).paths
    }

    @Test("every file is there at its own path, without the hidden files and directories")
    func hidden() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        #expect(
            try paths(hiding: ["pkg/data/tasks.json", "pkg/gen"]) == [
                "environment", "environment/other.py", "environment/pkg",
                "environment/pkg/__init__.py",
            ]
        )
        #expect(try paths(hiding: []).contains("environment/pkg/gen/make.py"))
    }

    @Test("a path that hides nothing is a mistake, and is told")
    func nothing() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        #expect { try paths(hiding: ["pkg/task.json"]) } throws: { error in
            "\(error)".contains("pkg/task.json: it is to be hidden and is not there")
        }
    }

    @Test("what uv leaves beside the packages is not in it, and modules are known by their names")
    func names() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        for name in [
            "bin/tool", ".lock", "pkg-1.dist-info/RECORD", "fast.cpython-312.so", "pkg/bin/x",
        ] {
            let file = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data().write(to: file)
        }
        #expect(PackageImage.moduleNames(in: root.path) == ["fast", "other", "pkg"])
        try FileManager.default.removeItem(at: root.appending(path: "fast.cpython-312.so"))
        let found = try paths(hiding: [])
        #expect(found.contains("environment/pkg/bin/x"))
        #expect(!found.contains("environment/bin/tool") && !found.contains("environment/.lock"))
    }

    @Test("a file is found by what it holds")
    func held() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let all = try PackageImage.manifest(of: root.path, hiding: [], over: ImageManifest())
        let sought = Array("x = 1\n".utf8)
        #expect(
            try PackageImage.firstFile(of: all) { $0 == sought } == "environment/pkg/__init__.py"
        )
        #expect(try PackageImage.firstFile(of: all) { $0 == [7] } == nil)
    }

    @Test("a link is refused, wherever it leads")
    func link() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createSymbolicLink(
            at: root.appending(path: "pkg/link.py"),
            withDestinationURL: root.appending(path: "other.py")
        )
        #expect(throws: HostProbeError.self) { try paths(hiding: []) }
    }
}
