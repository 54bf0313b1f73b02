import Foundation
import Testing

extension EndToEnd {
    /// What root opens of what a user wrote, in whole commands.
    @Suite struct UserFiles {
        private static let user = 4711
        private static let secret = "root:$y$only-for-root"
        private let night: Night
        private let home: String

        init() throws {
            night = try Night(name: "home/night")
            home = try night.scratch.directory("home")
            try give("")
            try Self.secret.write(toFile: "\(night.scratch.path)/shadow")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: "\(night.scratch.path)/shadow"
            )
        }

        /// Gives something in the user's home to the user.
        private func give(_ name: String) throws {
            try FileManager.default.setAttributes(
                [.ownerAccountID: Self.user, .groupOwnerAccountID: Self.user],
                ofItemAtPath: "\(home)/\(name)"
            )
        }

        /// A benchmark of the user's in which one key leads elsewhere.
        private func benchmark(_ key: String, _ path: String) throws -> String {
            let place = "\(home)/bench-\(UUID().uuidString)"
            try FileManager.default.copyItem(atPath: Stage.fixture("sums"), toPath: place)
            let manifest = "\(place)/benchmark.yaml"
            let text = try String(contentsOfFile: manifest, encoding: .utf8)
                .split(separator: "\n").map { $0.hasPrefix("\(key):") ? "\(key): \(path)" : $0 }
            try text.joined(separator: "\n").write(toFile: manifest)
            try FileManager.default.setAttributes([.ownerAccountID: Self.user], ofItemAtPath: place)
            return place
        }

        private func expectRefusal(_ ended: Ended, _ words: String) {
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains(words), "\(ended)")
            #expect(!(ended.notes + ended.output).contains(Self.secret))
        }

        @Test(
            "a link in a benchmark's folder hands nobody a file of root's",
            arguments: ["program", "agent"]
        )
        func linkedFolder(key: String) throws {
            let place = try benchmark(key, "e2/shadow")
            try FileManager.default.createSymbolicLink(
                atPath: "\(place)/e2",
                withDestinationPath: night.scratch.path
            )
            let ended = try night.run(["init", night.directory, "--benchmark", place])
            expectRefusal(ended, "\(place)/e2/shadow: a part of the path is a symbolic link")
            #expect(!FileManager.default.fileExists(atPath: night.directory))
        }

        @Test("a second name of root's file hands nobody what is in it")
        func secondName() throws {
            let place = try benchmark("program", "e2")
            try FileManager.default.linkItem(
                atPath: "\(night.scratch.path)/shadow",
                toPath: "\(place)/e2"
            )
            let ended = try night.run(["init", night.directory, "--benchmark", place])
            expectRefusal(ended, "\(place)/e2: uid \(Self.user), whose directory this is, may not")
        }

        @Test(
            "neither a link nor a second name stands for a file of an experiment",
            arguments: ["experiment_config.yaml", "PROGRAM.md", "packages.txt", ".invigilator"]
        )
        func experiment(name: String) throws {
            try night.done(["init", night.directory, "--benchmark", Stage.fixture("sums")])
            let list = "candidate: { packages: packages.txt }"
            try night.configure(Configuration(more: name == "packages.txt" ? list : ""))
            let (file, kept) = ("\(night.directory)/\(name)", "\(night.scratch.path)/kept")
            if FileManager.default.fileExists(atPath: file) {
                try FileManager.default.moveItem(atPath: file, toPath: kept)
            } else {
                try "".write(toFile: kept)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: kept)
            try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: kept)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: kept)
            expectRefusal(
                try night.run(["prepare", night.directory]),
                "\(file): a part of the path is a symbolic link"
            )
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.linkItem(atPath: kept, toPath: file)
            expectRefusal(
                try night.run(["prepare", night.directory]),
                "\(file): uid \(Self.user), whose directory this is, may not"
            )
        }

        // MARK: - what a configuration names

        private static let address = "https://model.example"

        private func models(_ key: String) -> String {
            """
            models:
              upstreams:
                own: { url: "\(Self.address)", dialects: [openai-chat], key: \(key) }
              roles: { coding-agent: { upstream: own, model: m } }
            """
        }

        private func configure(_ more: String) throws {
            try night.configure(Configuration(more: more))
            let config = "home/night/experiment_config.yaml"
            try FileManager.default.setAttributes(
                [.ownerAccountID: Self.user],
                ofItemAtPath: "\(night.scratch.path)/\(config)"
            )
        }

        @Test(
            "a user's configuration sends no key of root's away, unless the site lists it and where it goes"
        )
        func rootsKey() throws {
            try night.done(["init", night.directory, "--benchmark", Stage.fixture("sums")])
            let key = "\(night.scratch.path)/shadow"
            try configure(models("{ file: \(key) }"))
            let remedy = "keys: [SOURCE] with upstreams: [\(Self.address)]"
            let ended = try night.run(["prepare", night.directory])
            expectRefusal(
                ended,
                "\(key): uid \(Self.user), whose configuration names it, may not read it"
            )
            #expect(ended.notes.contains(remedy))
            // Root's variables neither.
            try configure(models("{ environment: A_KEY }"))
            expectRefusal(
                try night.run(["prepare", night.directory], before: "export A_KEY=\(Self.secret)"),
                "uid \(Self.user), whose configuration names it, did not bring it along"
            )
            // What the site shares it shares for one upstream.
            try configure(models("{ file: \(key) }"))
            for (address, isShared) in [("https://other.example", false), (Self.address, true)] {
                let own = try night.scratch.directory("etc-\(UUID().uuidString)")
                let site = "\(night.scratch.path)/site.yaml"
                try "version: 1\nreason: r\nkeys: [\(key)]\nupstreams: [\(address)]\n"
                    .write(toFile: site)
                let place = "/etc/invigilator/policy.d"
                let line =
                    "cp -a /etc/. \(own) && mount --bind \(own) /etc && mkdir -p \(place) "
                    + "&& chmod 755 /etc/invigilator \(place) && cp \(site) \(place)/team.yaml "
                    + "&& chmod 644 \(place)/team.yaml"
                // There is no such provider, so nobody is asked.
                let words = ["prepare", "--no-preflight", night.directory]
                let ended = try night.run(words, before: line)
                #expect((ended.code == 0) == isShared, "\(ended)")
                #expect(ended.notes.contains(remedy) != isShared, "\(ended)")
            }
        }

        @Test(
            "a user's configuration has root neither read policies nor run a Python of the user's"
        )
        func otherFiles() throws {
            try night.done(["init", night.directory, "--benchmark", Stage.fixture("sums")])
            let policies = try night.scratch.directory("policies")
            try "- \(Self.secret)".write(toFile: "\(policies)/coding-agent.yaml")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: policies
            )
            try configure("sandbox: { policies: \(policies) }")
            expectRefusal(try night.run(["prepare", night.directory]), "EACCES")
            // A Python that the user could change: root would run it to install packages.
            let python = try night.scratch.directory("home/python")
            try FileManager.default.createDirectory(
                atPath: "\(python)/bin",
                withIntermediateDirectories: true
            )
            let real = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
            let name = URL(fileURLWithPath: real).lastPathComponent
            try FileManager.default.copyItem(atPath: real, toPath: "\(python)/bin/\(name)")
            let library = "\(python)/lib/\(name)"
            try FileManager.default.createDirectory(
                atPath: library,
                withIntermediateDirectories: true
            )
            try "".write(toFile: "\(library)/os.py")
            try configure("sandbox: { python: \(python)/bin/\(name) }")
            expectRefusal(
                try night.run(["prepare", night.directory]),
                "is not root's alone, and uid \(Self.user), whose configuration names it"
            )
        }
    }
}
