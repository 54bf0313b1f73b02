import Foundation
import Testing

extension EndToEnd {
    /// Programs that coding agents are made of or start, under the shipped policy.
    @Suite struct GuestPrograms {
        struct Guest: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let command: [String]
            /// What it must print, besides ending with 0.
            let output: String
            var isOnTerminal = false
            /// Whether its scratch directory is made executable, which the shipped policy's is not.
            var runsWhatItBuilds = false

            init(_ name: String, _ command: [String], prints output: String) {
                testDescription = name
                self.command = command
                self.output = output
            }

            func with(_ change: (inout Guest) -> Void) -> Guest {
                var changed = self
                change(&changed)
                return changed
            }
        }

        private static let guests = [
            Guest(
                "CPython with numpy",
                [
                    "/usr/bin/python3", "-c",
                    "import numpy; print(int((numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum()))",
                ],
                prints: "27000000"
            ),
            Guest(
                "CPython's process pool, whose locks lie in /dev/shm",
                [
                    "/usr/bin/python3", "-c",
                    "import multiprocessing; print(multiprocessing.Pool(2).map(abs, [-1, -2]))",
                ],
                prints: "[1, 2]"
            ),
            Guest(
                "Node with a worker, a child and a server on loopback",
                [
                    "/usr/bin/node", "-e",
                    """
                    const http = require("http"), { Worker } = require("worker_threads");
                    new Worker('console.log("worker")', { eval: true });
                    console.log(require("child_process").execSync("echo child").toString());
                    const server = http.createServer((_, answer) => answer.end("served"));
                    server.listen(0, "127.0.0.1", () => http.get(
                        { host: "127.0.0.1", port: server.address().port },
                        (answer) => answer.on("data", (part) => console.log(String(part)))
                            .on("end", () => server.close())));
                    """,
                ],
                prints: "served"
            ),
            Guest(
                "Node sees the policy's processors and memory",
                [
                    "/usr/bin/node", "-p",
                    """
                    const os = require("os");
                    [os.cpus().length, os.totalmem() / 2 ** 30, os.freemem() / 2 ** 30, os.uptime()].join(" ")
                    """,
                ],
                prints: "2 4 4 1\n"
            ),
            Guest(
                "CPython, a shell and procps see them, too",
                [
                    "/bin/sh", "-ec",
                    """
                    python3 -c 'import os; print(os.cpu_count(), end=" ")'
                    echo $(grep -c ^processor /proc/cpuinfo) $(free -m | sed -n 's/^Mem: *\\([0-9]*\\).*/\\1/p')
                    uptime >/dev/null; ps aux | grep -q '[p]s aux'
                    """,
                ],
                prints: "2 2 4096\n"
            ),
            Guest(
                "git: a repository, a commit, a packed history",
                [
                    "/bin/sh", "-ec",
                    """
                    cd /tmp; git init -q one; cd one; echo text > file; git add file
                    git -c user.name=a -c user.email=a@b commit -qm first; git gc -q
                    git clone -q . ../two; git -C ../two log --format=%s
                    """,
                ],
                prints: "first"
            ),
            Guest(
                "gcc, and what it built",
                [
                    "/bin/sh", "-ec",
                    """
                    cd /tmp; echo 'int puts(const char *); int main(void) { return puts("built") < 0; }' > a.c
                    gcc -O2 -o a a.c; ./a
                    """,
                ],
                prints: "built"
            ).with { $0.runsWhatItBuilds = true },
            Guest(
                "a shell on a terminal of the caller's size",
                ["/bin/bash", "-c", "stty size; test -t 0 && echo interactive"],
                prints: "33 120"
            ).with { $0.isOnTerminal = true },
        ]

        private static func policy(_ guest: Guest, _ night: Night) throws -> String {
            let shipped = Stage.repository + "/policies/coding-agent.yaml"
            guard guest.runsWhatItBuilds else { return "coding-agent" }
            let text = try String(contentsOfFile: shipped, encoding: .utf8)
            let line = "inodes: 65536, target: /tmp }"
            try #require(text.contains(line))
            let changed = "\(night.scratch.path)/policy.yaml"
            try text.replacingOccurrences(
                of: line,
                with: "inodes: 65536, target: /tmp, exec: true }"
            )
            .appending("  mounts./tmp.exec: what is built here is run here\n")
            .write(toFile: changed)
            return changed
        }

        @Test("a real program runs well in the coding sandbox", arguments: guests)
        func runs(_ guest: Guest) throws {
            let night = try Night()
            var line = [Stage.invigilator, "sandbox", "exec", "--state-directory", night.state]
            line += ["--policy", try Self.policy(guest, night)]
            if guest.isOnTerminal { line.append("--terminal") }
            line += ["--"] + guest.command
            var words = ["--mount", "--propagation", "private", "--"]
            if guest.isOnTerminal {
                // script(1) gives us a terminal; the words hold no quote of the shell's.
                let quoted = line.map { "'\($0)'" }.joined(separator: " ")
                words += [
                    "/usr/bin/script", "-qec", "stty rows 33 cols 120; " + quoted, "/dev/null",
                ]
            } else {
                words += line
            }
            let ended = try Program(
                "/usr/bin/unshare",
                words,
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.output.contains(guest.output), "\(ended)")
        }
    }
}
