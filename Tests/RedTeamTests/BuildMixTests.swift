import LauncherClient
import LinuxKernel
import Testing

extension RedTeam {
    @Suite("Builds that do not belong together")
    struct BuildMixTests {
        private static func start(launcherOf programs: String, hasSwitches: Bool) throws {
            var options = LauncherOptions(
                executable: programs + "/invigilator-launcher",
                supervisor: 0x7000_0000,
                protected: [],
                vault: nil
            )
            options.hasLayerSwitches = hasSwitches
            try LauncherClient.start(options, loop: EventLoop()).shutDown()
        }

        @Test(
            "a launcher says whether it has layer switches, and is refused where it must not",
            arguments: [(Builds.shipped, false), (Builds.testOnly, true)]
        )
        func refusesOtherLauncher(_ launcher: (programs: String, hasSwitches: Bool)) throws {
            try Self.start(launcherOf: launcher.programs, hasSwitches: launcher.hasSwitches)
            let error = #expect(throws: LauncherError.self) {
                try Self.start(launcherOf: launcher.programs, hasSwitches: !launcher.hasSwitches)
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
