import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What a coding agent can do to the directory that its file is put back into.
    @Suite struct Restores {
        @Test("nothing in the agent's directory ends the run of a revert that cannot be done")
        func obstacles() throws {
            let before = try Leftovers()
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        import shutil
                        best = source()
                        def tried(name):
                            say("tried", name=name, code=code(ask("revert")))
                        def filled(make):
                            made = []
                            try:
                                for n in range(100000):
                                    make("/work/agent/f%d" % n)
                                    made.append("/work/agent/f%d" % n)
                            except OSError:
                                pass
                            return made
                        tried("same")
                        write("# other\\n")
                        os.mkdir("/work/agent/.agent.py.new")
                        tried("in the way")
                        os.rmdir("/work/agent/.agent.py.new")
                        os.mkdir("/work/agent/.replaced")
                        open("/work/agent/.replaced/x", "w").close()
                        clear()
                        os.mkdir(AGENT)
                        tried("folder")
                        shutil.rmtree("/work/agent/.replaced")
                        clear()
                        write("# other\\n")
                        made = filled(lambda path: open(path, "wb").close())
                        tried("inodes")
                        for path in made: os.unlink(path)
                        with open("/work/agent/big", "wb", 0) as file:
                            try:
                                while True: file.write(bytes(1 << 16))
                            except OSError:
                                pass
                        tried("room")
                        os.unlink("/work/agent/big")
                        os.chmod("/work/agent", 0)
                        tried("closed")
                        os.chmod("/work/agent", 0o755)
                        os.chmod(AGENT, 0)
                        tried("unreadable")
                        say("back", same=source() == best)
                        """
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let tried = try night.agentLog("tried").map {
                [$0["name"]?.stringValue, $0["code"]?.stringValue]
            }
            let refused = ["in the way", "folder", "inodes", "room", "closed"]
            #expect(
                tried == [["same", "ok"]] + refused.map { [$0, "not-replaceable"] }
                    + [["unreadable", "ok"]]
            )
            #expect(try night.agentLog("back").map { $0["same"] } == [true])
            let refusals = try night.bodies(.refusal)
            #expect(refusals.map { $0["layer"]?.stringValue } == refused.map { _ in "snapshot" })
            #expect(try night.bodies(.revert).count == 1, "what changed nothing is no row")
            #expect(try night.bodies(.runEnded).count == 1)
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a flood of reverts costs as many rows as its budget, then refusals, then the run")
        func flood() throws {
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        for n in range(3000):
                            write("# %d\\n" % n)
                            answer = ask("revert")
                            if answer is None: break
                        """
                )
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            #expect(try night.bodies(.revert).count == 200)
            #expect(try night.bodies(.refusal).count == 1_000)
            try night.expectSettled()
        }
    }
}
