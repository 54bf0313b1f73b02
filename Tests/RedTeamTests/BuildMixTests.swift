import LauncherClient
import LinuxKernel
import Testing

extension RedTeam {
    @Suite("Builds that do not belong together")
    struct BuildMixTests {
        private static func start(launcherOf programs: String) throws {
            let options = LauncherOptions(
                executable: programs + "/invigilator-launcher",
                supervisor: 0x7000_0000,
                protected: [],
                vault: nil
            )
            try LauncherClient.start(options, loop: EventLoop()).shutDown()
        }

        @Test("a supervisor that ships takes its own launcher and refuses a test-only one")
        func refusesTestOnlyLauncher() throws {
            try Self.start(launcherOf: Builds.shipped)
            let error = #expect(throws: LauncherError.self) {
                try Self.start(launcherOf: Builds.testOnly)
            }
            guard case .wrongBuild = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test(
            "neither program works with the other build's launcher",
            arguments: [(Builds.shipped, Builds.testOnly), (Builds.testOnly, Builds.shipped)]
        )
        func refusesTheOther(_ builds: (program: String, launcher: String)) throws {
            let scratch = try Scratch()
            let mixed = try InstalledBuild(
                builds.program,
                in: scratch,
                named: "mixed",
                launcherFrom: builds.launcher
            )
            try mixed.install(.watching)
            let place = [
                scratch.path + "/experiment", "--state-directory", scratch.path + "/state",
            ]
            let benchmark = ["--benchmark", Builds.fixtures + "/sums"]
            let agent = ["--agent", InstalledBuild.profile]
            #expect(try mixed.run(["init"] + place + benchmark + agent).status == 0)
            let outcome = try mixed.run(["prepare"] + place)
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("only one of the two programs has layer switches"))
        }
    }
}
