/// A coding policy made of choices, so that two can differ in exactly what a seed picks.
package struct GeneratedPolicy: Sendable, CustomStringConvertible {
    /// What can be chosen, and in how many ways; 0 is the least of them.
    package static let choices: [(name: String, ways: Int)] = visible + invisible

    /// What a program inside can see.
    package static let visible: [(name: String, ways: Int)] = [
        ("watching", 2), ("host-totals", 2), ("memory-files", 2), ("free-space", 2),
        ("shared-memory", 2), ("mlock2", 4), ("refuse", 3), ("data", 3), ("more", 2),
        ("scratch", 4), ("files", 3), ("file-size", 2), ("memory", 2), ("cpu", 2),
        ("processes", 2), ("A", 3), ("B", 2), ("devices", 3), ("inet6", 2), ("netlink", 2),
        ("directory", 2), ("marker", 3),
    ]

    /// What only the plan shows.
    package static let invisible: [(name: String, ways: Int)] = [
        ("assurance", 3), ("abi", 3), ("proc", 2), ("streams", 2), ("network", 2), ("wall", 2),
        ("idle", 2), ("cpu-time", 2), ("output", 2), ("output-action", 2), ("inodes", 2),
        ("save", 3), ("command", 3), ("link", 3), ("descriptors", 2), ("role", 1),
    ]

    private var chosen: [String: Int]
    private let shown: String

    /// Chooses all from a seed.
    ///
    /// - Parameters:
    ///   - generator: where the choices come from.
    ///   - shown: a directory of the host whose directories `data` and `more` can be mounted.
    ///   - isVisible: whether everything that only the plan shows stays as it is.
    package init(
        _ generator: inout SeededGenerator,
        shown: String,
        isVisible: Bool = false
    ) {
        self.shown = shown
        chosen = [:]
        for (name, ways) in isVisible ? Self.visible : Self.choices {
            chosen[name] = generator.below(ways)
        }
    }

    /// The policy with some of its choices made again.
    package func changed(_ generator: inout SeededGenerator, percent: Int) -> GeneratedPolicy {
        var changed = self
        for (name, ways) in Self.choices where chosen[name] != nil && generator.chance(percent) {
            changed.chosen[name] = generator.below(ways)
        }
        return changed
    }

    private func choice(_ name: String) -> Int { chosen[name] ?? 0 }
    private func one(_ name: String, of texts: [String]) -> String { texts[choice(name)] }

    /// The choices that are not the least.
    package var description: String {
        chosen.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// The document, with a reason for all that needs one.
    package var text: String {
        """
        policy: generated
        version: 1
        role: coding
        assurance: \(one("assurance", of: ["full", "delegated", "single-uid"]))
        save: \(one("save", of: ["replace", "replace", "in-place"]))
        surface: [agent/agent.py\(one("save", of: ["", ", agent/*.md", ""]))]
        root:
          skeleton:
            directories: [/data, /more, /scratch]
            links: {/bin: usr/bin, /lib: usr/lib, /lib64: usr/lib64\(one("link", of: ["", ", /x: here", ", /x: there"]))}
            files:
              /etc/passwd: "agent:x:1000:1000::/:/bin/sh"
        \(one("marker", of: ["", "      /etc/marker: one", "      /etc/marker: two"]))
        mounts:
          - { source: /usr, target: /usr, access: read-only, exec: true }
          - { tree: 1, target: /agent, access: read-write }
        \(mounts)
        proc: \(one("proc", of: ["masked", "pid-only"]))
        devices: \(one("devices", of: ["[\"null\"]", "[\"null\", zero]", "[\"null\", urandom]"]))
        environment:
          PATH: /usr/bin
        \(one("A", of: ["", "  A: one", "  A: two"]))
        \(one("B", of: ["", "  B: \"\""]))
        working-directory: \(one("directory", of: ["/", "/data"]))
        command: \(one("command", of: ["[]", "[/usr/bin/env]", "[/usr/bin/env, A=b]"]))
        streams: \(one("streams", of: ["pipes", "terminal"]))
        network: \(one("network", of: ["loopback", "endpoint", "model-socket"]))
        \(limits)
        sockets: [unix, inet\(one("inet6", of: ["", ", inet6"]))\(one("netlink", of: ["", ", netlink-route"]))]
        \(syscalls)
        landlock: { minimum-abi: \(one("abi", of: ["6", "5", "7, log: true"])) }
        descriptors: \(one("descriptors", of: ["{}", "{ 3: frames }"]))
        \(because)
        """
        .split(separator: "\n").joined(separator: "\n") + "\n"
    }

    private var mounts: String {
        let data = "  - { source: \(shown)/data, target: /data, access: read-only"
        return [
            one("data", of: ["", data + " }", data + ", exec: true }"]),
            one(
                "more",
                of: ["", "  - { source: \(shown)/more, target: /more, access: read-only }"]
            ),
            one(
                "scratch",
                of: [
                    "", "  - { tmpfs: 1MiB, target: /scratch }",
                    "  - { tmpfs: 4MiB, target: /scratch }",
                    "  - { tmpfs: 4MiB, target: /scratch, exec: true }",
                ]
            ),
            one("inodes", of: ["", "  - { tmpfs: 1MiB, inodes: 64, target: /few }"]),
        ].joined(separator: "\n")
    }

    private var limits: String {
        """
        limits:
          memory: \(one("memory", of: ["256MiB", "384MiB"]))
          processes: \(one("processes", of: ["12", "20"]))
          cpu: \(one("cpu", of: ["100", "200"]))
          wall: \(one("wall", of: ["60s", "50s"]))
        \(one("cpu-time", of: ["", "  cpu-time: 30s"]))
        \(one("idle", of: ["", "  idle: 30s"]))
          output: \(one("output", of: ["1MiB", "2MiB"]))
          output-action: \(one("output-action", of: ["truncate", "kill"]))
          files: \(one("files", of: ["64", "128", "256"]))
          file-size: \(one("file-size", of: ["64MiB", "32MiB"]))
        """
    }

    private static let optional = [
        "watching", "host-totals", "memory-files", "free-space", "shared-memory",
    ]

    private var syscalls: String {
        let groups = ["base", "files", "threads", "signals", "time", "events", "sockets"]
        let more = Self.optional.filter { choice($0) == 1 }
        let rule = "[{ call: mlock2, when: [{ argument: 2, in: "
        let allowed = one(
            "mlock2",
            of: ["[]", rule + "[0] }] }]", rule + "[0, 1] }] }]", "[mlock2]"]
        )
        return """
            syscalls:
              groups: [\((groups + more).joined(separator: ", "))]
              allow: \(allowed)
              refuse: \(one("refuse", of: ["[]", "[link]", "[link, symlink]"]))
            """
    }

    private var because: String {
        let reasons = [
            ("assurance", choice("assurance") > 0), ("landlock.minimum-abi", choice("abi") == 1),
            ("landlock.log", choice("abi") == 2),
            ("mounts./data", choice("data") > 0), ("mounts./more", choice("more") > 0),
            ("mounts./scratch.exec", choice("scratch") == 3),
            ("sockets.netlink-route", choice("netlink") > 0),
            ("calls.watching", choice("watching") > 0),
            ("calls.host-totals", choice("host-totals") > 0),
            ("calls.memory-files", choice("memory-files") > 0),
            ("calls.free-space", choice("free-space") > 0),
            ("calls.memory-locks", choice("mlock2") > 0),
        ]
        let given = reasons.filter(\.1).map { "\($0.0): generated" }
        return "because: {\(given.joined(separator: ", "))}"
    }
}
