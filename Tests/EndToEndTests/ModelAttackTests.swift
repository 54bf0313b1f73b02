import Foundation
import HostKernel
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What sandboxes try at the endpoint of a model, and what is left when the broker is gone.
    @Suite struct ModelAttacks {
        private static let client = """
            import http.client

            def model(body, path="/v1/chat/completions"):
                connection = http.client.HTTPConnection("127.0.0.1", 8377, timeout=60)
                connection.request("POST", path, body, {"content-type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                return answer.status

            QUESTION = json.dumps(
                {"model": "pinned-model", "messages": [{"role": "user", "content": "what now?"}]})

            def asked():
                try:
                    return model(QUESTION)
                except OSError as error:
                    return repr(error)

            """

        private static let key = "sk-the-real-key-0123456789abcdef"

        private static func night(
            _ agent: (ModelServer) -> String,
            role: String = "coding-agent",
            roleKeys: String = ""
        ) throws -> (Night, ModelServer) {
            let scratch = try Scratch()
            let server = try ModelServer(
                #"{"conversations": "one", "steps": [{"text": "hi", "times": 1000}]}"#,
                scratch: scratch
            )
            try server.writeKey(key)
            let night = try Night(in: scratch)
            let configuration = Configuration(
                agent: client + agent(server),
                more: server.models(role, more: roleKeys)
            )
            try night.prepare(configuration)
            return (night, server)
        }

        private static func expectNoGap(_ night: Night) throws {
            let gaps = try night.bodies(.modelUsage).compactMap { $0["gaps"]?.intValue }
            #expect(gaps.reduce(0, +) == 0)
        }

        @Test(
            "D03: inside a coding sandbox nothing answers but the endpoint, and the key is nowhere"
        )
        func inside() throws {
            let (night, server) = try Self.night { server in
                """
                def reached(family, address):
                    try:
                        with socket.socket(family, socket.SOCK_STREAM) as one:
                            one.settimeout(3)
                            one.connect(address)
                            # A port of one's own choosing can meet itself; nobody listens there.
                            return one.getsockname() != one.getpeername()
                    except OSError:
                        return False

                say("endpoint", open=reached(socket.AF_INET, ("127.0.0.1", 8377)))
                others = [("127.0.0.1", \(server.port)), ("127.0.0.1", 22), ("127.0.0.2", 8377),
                          ("10.0.0.1", 80), ("192.168.0.1", 80), ("169.254.169.254", 80),
                          ("8.8.8.8", 53), ("1.1.1.1", 443)]
                say("others", open=[a for a in others if reached(socket.AF_INET, a)])
                say("six", open=[a for a in ["::1", "fe80::1", "2606:4700::1111"]
                                 if reached(socket.AF_INET6, (a, 8377))])
                ports = [p for p in range(1, 65536)
                         if p != 8377 and reached(socket.AF_INET, ("127.0.0.1", p))]
                say("ports", open=ports)
                names = [line.split()[-1] for line in open("/proc/self/net/unix") if "@" in line]
                say("abstract", open=names)
                say("status", asked=asked())

                # Halves, so that this program is no find.
                needle = ("sk-the-real-" + "key-0123").encode()
                found, seen = [], 0
                for top, folders, files in os.walk("/"):
                    if top.startswith(("/sys", "/usr/lib", "/usr/share")):
                        folders.clear()
                        continue
                    for name in files:
                        path = os.path.join(top, name)
                        try:
                            if not os.path.isfile(path) or path.endswith(("kmsg", "pagemap")):
                                continue
                            with open(path, "rb") as file:
                                seen += 1
                                if needle in file.read(1 << 22) and not path.endswith("/cmdline"):
                                    found.append(path)
                        except OSError:
                            pass
                for process in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        maps = open(f"/proc/{process}/maps").read().splitlines()
                        memory = open(f"/proc/{process}/mem", "rb", 0)
                    except OSError:
                        continue
                    for line in maps:
                        first, last = (int(n, 16) for n in line.split()[0].split("-"))
                        try:
                            memory.seek(first)
                            whole = memory.read(min(last - first, 1 << 24))
                        except (OSError, ValueError, OverflowError):
                            continue
                        # What this program itself put together is no find.
                        if needle + b"456789abcdef" in whole:
                            found.append(f"memory of {process}")
                say("key", found=found, seen=seen, environment=[
                    name for name, value in os.environ.items() if "real-" + "key" in value])
                """
            }
            defer { withExtendedLifetime(server) {} }
            let ended = try night.run(["run", night.directory], seconds: 150)
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("endpoint").first?["open"] == true)
            for event in ["others", "six", "ports", "abstract"] {
                #expect(try night.agentLog(event).first?["open"] == [], "\(event)")
            }
            #expect(try night.agentLog("status").first?["asked"] == 200)
            let key = try #require(try night.agentLog("key").first)
            #expect(key["found"] == [] && key["environment"] == [], "\(key)")
            #expect((key["seen"]?.intValue ?? 0) > 100)
        }

        @Test("after the broker was lost every sandbox goes on with what is left of its budget")
        func lostBroker() throws {
            let (night, server) = try Self.night(
                { _ in
                    """
                    say("before", status=asked())
                    with socket.create_connection(("127.0.0.1", 8377), 5) as one:
                        one.settimeout(60)
                        try:
                            one.recv(1)
                        except OSError:
                            pass
                    say("after", statuses=[asked() for _ in range(3)])
                    """
                },
                roleKeys: ", budget: { sandbox: { requests: 3 } }"
            )
            defer { withExtendedLifetime(server) {} }
            let program = try night.start(["run", night.directory])
            try Stage.wait("the first call") { Self.hasSaid("before", night) }
            let broker = try #require(try Self.descendants(of: program.pid).first)
            kill(broker, SIGKILL)
            let ended = try program.waitForEnd(seconds: 90)
            #expect(ended.code == 0, "\(ended)")
            let after = try #require(try night.agentLog("after").first)
            #expect(after["statuses"] == [200, 200, 401], "\(after)")
            try night.expectSettled()
        }

        private static func hasSaid(_ event: String, _ night: Night) -> Bool {
            // Its log is not there before it starts.
            (try? night.agentLog(event))?.isEmpty == false
        }

        // The processes of a broker below a program.
        private static func descendants(of program: Int32) throws -> [Int32] {
            var parents: [Int32: Int32] = [:]
            var brokers: [Int32] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
                guard let pid = Int32(name),
                    let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat")
                else { continue }
                let text = String(decoding: stat, as: UTF8.self)
                guard let end = text.lastIndex(of: ")") else { continue }
                let rest = text[end...].split(separator: " ")
                parents[pid] = rest.count > 2 ? Int32(rest[2]) : nil
                if text.contains("(invigilator-bro") { brokers.append(pid) }
            }
            return brokers.filter { broker in
                var pid: Int32? = broker
                while let one = pid, one > 1, one != program { pid = parents[one] }
                return pid == program
            }
        }

        @Test("many large bodies at a time do not end the broker, and are refused")
        func flood() throws {
            let (night, server) = try Self.night { _ in
                """
                head = (b"POST /v1/chat/completions HTTP/1.1\\r\\nHost: 127.0.0.1:8377\\r\\n"
                        b"Content-Type: application/json\\r\\nContent-Length: 16777216\\r\\n\\r\\n")
                body = b"x" * ((16 << 20) - 1)
                kept, refused = [], 0
                for _ in range(100):
                    one = socket.create_connection(("127.0.0.1", 8377), 10)
                    try:
                        one.sendall(head + body)
                        kept.append(one)
                    except OSError:
                        refused += 1
                say("flood", kept=len(kept), refused=refused)
                for one in kept:
                    one.close()
                time.sleep(1)
                say("after", status=asked())
                """
            }
            defer { withExtendedLifetime(server) {} }
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("after").first?["status"] == 200)
            try Self.expectNoGap(night)
        }

        @Test("a file of bodies that is full ends no call and no broker")
        func fullFile() throws {
            let (night, server) = try Self.night { _ in
                """
                say("before", status=asked())
                time.sleep(3)
                say("after", statuses=[asked() for _ in range(3)])
                """
            }
            defer { withExtendedLifetime(server) {} }
            let program = try night.start(["run", night.directory])
            try Stage.wait("the first call") { Self.hasSaid("before", night) }
            // As a thousand large calls leave it: a byte below what a broker may write.
            let file = try #require(
                FileHandle(forWritingAtPath: "\(night.folder())/agent-calls.jsonl")
            )
            try file.truncate(atOffset: (1 << 30) - 1)
            let ended = try program.waitForEnd(seconds: 300)
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.agentLog("after").first?["statuses"] == [200, 200, 200])
            try Self.expectNoGap(night)
        }

        @Test("what a candidate sends is on the record as the candidate's")
        func blame() throws {
            let (night, server) = try Self.night(
                { _ in
                    #"""
                    text = source()
                    write('''
                    import socket as _s
                    try:
                        with _s.create_connection(("127.0.0.1", 8377), 5) as _one:
                            _one.sendall(b"GET / HTTP/9.9\\r\\n\\r\\n")
                            _one.recv(1000)
                    except OSError:
                        pass
                    ''' + text)
                    say("trained", code=code(ask("train")))
                    """#
                },
                role: "candidate"
            )
            defer { withExtendedLifetime(server) {} }
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let refusals = try night.bodies(.refusal).filter { $0["layer"] == "model" }
            #expect(!refusals.isEmpty)
            #expect(refusals.allSatisfy { $0["by"] == "candidate" }, "\(refusals)")
        }
    }
}
