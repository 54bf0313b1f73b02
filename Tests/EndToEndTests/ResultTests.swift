import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What is left when a night is over: the result, and the proof.
    @Suite struct Results {
        private static func judged(_ agent: String) throws -> Night {
            let night = try Night()
            try night.prepare(Configuration(agent: agent))
            try night.done(["run", night.directory])
            return night
        }

        private static func python(_ script: String, _ words: [String], _ night: Night) throws {
            let ended = try Program(
                "/usr/bin/python3",
                ["-I", "-c", script] + words,
                temporary: "\(night.scratch.path)/tmp"
            ).waitForEnd()
            try #require(ended.code == 0, "\(ended)")
        }

        @Test("best, diff and apply hand out the accepted candidate and leave nothing behind")
        func handedOut() throws {
            let before = try Leftovers()
            let night = try Self.judged(
                """
                write(knowing("add", "subtract", "multiply"))
                judged()
                write(knowing("multiply"))
                judged()
                """
            )
            let best = try night.done(["best", night.directory])
            #expect(best.output.contains(#"KNOWN = {"add", "subtract", "multiply"}"#))
            let all = try night.done(["diff", night.directory])
            #expect(all.output.contains(#"+KNOWN = {"add", "subtract", "multiply"}"#))
            let refused = try night.done(["diff", "2", night.directory])
            #expect(refused.output.contains(#"+KNOWN = {"multiply"}"#))
            let template = try String(contentsOfFile: night.agentFile, encoding: .utf8)
            try night.done(["apply", night.directory])
            let applied = try String(contentsOfFile: night.agentFile, encoding: .utf8)
            #expect(applied == best.output)
            #expect(applied != template)
            try night.done(["report", night.directory, "-o", "\(night.directory)/report.html"])
            try night.done(["status", night.directory, "--json"])
            try night.done(["verify", night.directory])
            try before.expectNone(night)
        }

        @Test("an export verifies without the host, and one flipped byte ends with 4")
        func export() throws {
            let night = try Self.judged("write(knowing(\"add\", \"subtract\"))\njudged()\n")
            let export = try night.done(["ledger", "export", night.directory])
            let file = "\(night.scratch.path)/export"
            try export.output.write(toFile: file)
            func verified() throws -> Ended {
                // As a user who has nothing but the file.
                try Program(
                    "/usr/bin/setpriv",
                    [
                        "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                        Stage.invigilator, "ledger", "verify", file,
                    ],
                    temporary: "\(night.scratch.path)/tmp"
                ).waitForEnd()
            }
            #expect(try verified().code == 0)
            let forged = export.output.replacingOccurrences(
                of: #"verdict":"accepted""#,
                with: #"verdict":"rejected""#
            )
            let isChanged = forged != export.output
            #expect(isChanged)
            try forged.write(toFile: file)
            let ended = try verified()
            #expect(ended.code == 4, "\(ended)")
            #expect((ended.output + ended.notes).contains("row "), "\(ended)")
        }

        @Test("C02: a record that was edited by hand is refused by run, verify and report")
        func tampered() throws {
            let night = try Self.judged("write(knowing(\"add\", \"subtract\"))\njudged()\n")
            // Root can change any file; what it cannot do is sign.
            try Self.python(
                """
                import re, sqlite3, sys
                base = sqlite3.connect(sys.argv[1])
                guards = base.execute(
                    "select name, sql from sqlite_master where type = 'trigger'").fetchall()
                for name, _ in guards:
                    base.execute('drop trigger "%s"' % name)
                tables = [name for (name,) in base.execute(
                    "select name from sqlite_master where type = 'table'")]
                for table in tables:
                    columns = [row[1] for row in base.execute('pragma table_info("%s")' % table)]
                    if "body" in columns and "kind" in columns:
                        rows = base.execute(
                            'select rowid, body from "%s" where kind = ?' % table, ("baseline",)
                        ).fetchall()
                        for number, body in rows:
                            raw = body if isinstance(body, bytes) else body.encode()
                            raw, count = re.subn(
                                b'"sealed_mean":[0-9.]+', b'"sealed_mean":0.05', raw)
                            assert count == 1, raw
                            raw = raw if isinstance(body, bytes) else raw.decode()
                            base.execute(
                                'update "%s" set body = ? where rowid = ?' % table, (raw, number))
                for _, text in guards:
                    base.execute(text)
                base.commit()
                """,
                ["\(night.folder())/ledger.sqlite"],
                night
            )
            for words in [["verify"], ["ledger", "verify"], ["run"], ["gate"], ["prepare"]] {
                let ended = try night.run(words + [night.directory])
                #expect(ended.code == 4, "\(words): \(ended)")
            }
            #expect(try night.bodies(.runResumed).isEmpty, "nothing was appended")
        }

        @Test("C14: what is judged is what was handed in, whatever the file says later")
        func frozenText() throws {
            let night = try Self.judged(
                """
                import hashlib

                text = knowing("add", "subtract", "multiply")
                write(text)
                answer = submit()
                write("raise SystemExit(1)\\n")
                say("digest", digest=hashlib.sha256(text.encode()).hexdigest())
                say("verdict", verdict=ask("result", ticket=answer["ticket"]).get("verdict"))
                """
            )
            let decision = try #require(try night.bodies(.decision).first)
            #expect(decision["verdict"]?.stringValue == "accepted")
            let digest = try night.agentLog("digest").first?["digest"]?.stringValue
            #expect(decision["digest"]?.stringValue == digest)
        }

        @Test("rubbish on the request socket is refused and recorded, and honest work goes on")
        func rubbish() throws {
            let before = try Leftovers()
            let night = try Self.judged(
                """
                def throw(data, ends=True):
                    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    connection.connect("/work/.exam/exam.sock")
                    try:
                        connection.sendall(data)
                        if ends:
                            connection.shutdown(socket.SHUT_WR)
                            while connection.recv(65536):
                                pass
                    except OSError:
                        pass
                    return connection

                frame = lambda body: struct.pack(">I", len(body)) + body
                for data in (
                    b"", b"\\0", b"\\xff" * 4, frame(b""), frame(b"{}"), frame(b"[1]"), frame(b"\\xff"),
                    frame(b'{"verb":"train","verb":"test"}'), frame(b'{"verb":"train","x":1}'),
                    frame(b'{"verb":"stop"}'), frame(b'{"verb":"hold"}'), frame(b"[" * 5000),
                    struct.pack(">I", 1 << 31) + b"x" * 100000, frame(b'{"verb":"status"}') * 3,
                ):
                    throw(data).close()
                kept = [throw(b"\\0\\0", ends=False) for _ in range(20)]
                write(knowing("add", "subtract"))
                judged()
                """
            )
            #expect(try night.bodies(.decision).map { $0["verdict"]?.stringValue } == ["accepted"])
            #expect(try night.bodies(.refusal).count >= 5)
            #expect(try night.bodies(.stop).isEmpty)
            try night.expectSettled()
            try before.expectNone(night)
        }
    }
}
