// swift-tools-version: 6.2
import PackageDescription

// One constant for every Swift target: what the compiler can check, it checks.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .define("LayerSwitches", .when(traits: ["LayerSwitches"])),
    .define("Fuzzing", .when(traits: ["Fuzzing"])),
]

// The tests do millions of small things with these targets, and take minutes longer where the compiler
// does not optimise them. All others build four times as fast without it.
let optimised = house + [.unsafeFlags(["-O"], .when(configuration: .debug))]

// Linked without any shared library: the launcher runs as root, and a launch pays no dynamic linking.
let fullyStatic: [LinkerSetting] = [.unsafeFlags(["-static-executable"])]

// Without the toolchain at run time, and with the C library of the host, whose resolver it needs.
// The libraries after the first flag are those that SwiftNIO and AsyncHTTPClient use of the runtime.
let staticRuntime: [LinkerSetting] =
    [.unsafeFlags(["-static-stdlib", "-Xlinker", "--gc-sections", "-Xlinker", "--strip-all"])]
    + ["_FoundationCollections", "_FoundationCShims", "dispatch", "BlocksRuntime"]
    .map { .linkedLibrary($0) }

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser",
    package: "swift-argument-parser"
)
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let nio = ["NIOCore", "NIOHTTP1", "NIOPosix"].map {
    Target.Dependency.product(name: $0, package: "swift-nio")
}
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

// Foundation brings Glibc headers made without this macro, ours are made with it; a build that sees
// both refuses fd_set as defined twice.
let besideFoundation = house + [.unsafeFlags(["-Xcc", "-D_GNU_SOURCE"])]

/// A test target with the settings of everything else; only the build with layer switches has tests.
func tests(
    _ name: String,
    of dependencies: [Target.Dependency],
    exclude: [String] = []
) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        swiftSettings: besideFoundation
    )
}

let package = Package(
    name: "invigilator",
    products: [
        .executable(name: "invigilator", targets: ["Invigilator"]),
        .executable(name: "invigilator-launcher", targets: ["SandboxLauncher"]),
        .executable(name: "invigilator-broker", targets: ["EgressBrokerProgram"]),
        .executable(name: "invigilator-fuzz", targets: ["FuzzDriver"]),
        .executable(name: "invigilator-probe", targets: ["RedTeamProbe"]),
        .executable(name: "invigilator-selfcheck", targets: ["SelfCheckProgram"]),
    ],
    traits: [
        .trait(
            name: "LayerSwitches",
            description: "The build of the tests, in which single walls can be left out."
        ),
        .trait(
            name: "Fuzzing",
            description: "The parsers under the compiler's fuzzer; see scripts/fuzz."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    ],
    targets: [
        // Floor 0: ground.
        .target(name: "CLinux"),
        .systemLibrary(
            name: "CCapability",
            pkgConfig: "libcap",
            providers: [.apt(["libcap-dev"])]
        ),
        .systemLibrary(
            name: "CSeccomp",
            pkgConfig: "libseccomp",
            providers: [.apt(["libseccomp-dev"])]
        ),

        // Floor 1: kernel.
        .target(
            name: "LinuxKernel",
            dependencies: ["CLinux", "CCapability"],
            swiftSettings: house
        ),

        // Floor 2: containment.
        .target(
            name: "SandboxPlan",
            dependencies: ["CLinux", "LinuxKernel"],
            swiftSettings: optimised
        ),
        .target(name: "LauncherProtocol", dependencies: ["SandboxPlan"], swiftSettings: house),
        .target(name: "LauncherText", swiftSettings: house),
        .executableTarget(
            name: "SandboxLauncher",
            dependencies: ["LauncherProtocol", "LauncherText", "SandboxPlan", "LinuxKernel"],
            swiftSettings: house,
            linkerSettings: fullyStatic
        ),

        // Floor 3: control.
        .target(
            name: "HostKernel",
            dependencies: ["CLinux", "LinuxKernel"],
            swiftSettings: house
        ),
        .target(name: "StrictJSON", swiftSettings: optimised),
        .target(name: "StrictYAML", dependencies: [yams], swiftSettings: house),
        .target(name: "ModelDialects", dependencies: ["StrictJSON"], swiftSettings: house),
        .target(
            name: "BrokerProtocol",
            dependencies: ["ModelDialects", "StrictJSON"],
            swiftSettings: house
        ),
        .target(
            name: "BrokerClient",
            dependencies: [
                "BrokerProtocol", "HostKernel", "LauncherClient", "LauncherProtocol",
                "LinuxKernel", "ModelDialects", "SandboxPlan", "StrictJSON",
            ],
            swiftSettings: house
        ),
        .target(
            name: "SeccompCompiler",
            dependencies: ["SandboxPlan", "CSeccomp"],
            swiftSettings: optimised
        ),
        .target(
            name: "FilterLint",
            dependencies: ["SandboxPlan", "SeccompCompiler"],
            swiftSettings: optimised
        ),
        .target(
            name: "SandboxPolicy",
            dependencies: [
                "FilterLint",
                "HostKernel", "SandboxPlan", "SeccompCompiler", "StrictJSON", "StrictYAML",
                "LinuxKernel",
            ],
            swiftSettings: house
        ),
        .target(
            name: "PolicyEffects",
            dependencies: [
                "FilterLint", "SandboxPolicy", "SandboxPlan", "SeccompCompiler", "StrictJSON",
                "StrictYAML",
            ],
            swiftSettings: house
        ),
        .target(
            name: "HostProbe",
            dependencies: ["HostKernel", "LinuxKernel", "StrictJSON", crypto],
            swiftSettings: house
        ),
        .target(
            name: "LauncherClient",
            dependencies: ["HostKernel", "LauncherProtocol", "SandboxPlan", "LinuxKernel"],
            swiftSettings: house
        ),
        .target(
            name: "DenialEvents",
            dependencies: [
                "FilterLint", "HostKernel", "LauncherClient", "LinuxKernel", "SandboxPlan",
                "SeccompCompiler", "StrictJSON",
            ],
            swiftSettings: house
        ),
        .target(
            name: "SelfCheck",
            dependencies: [
                "HostKernel", "LauncherClient", "LauncherProtocol", "SandboxPlan", "LinuxKernel",
            ],
            swiftSettings: house
        ),
        // What the quick set of probes starts in sandboxes; it says what it finds, and attacks nothing.
        .executableTarget(
            name: "SelfCheckProgram",
            // It is copied for each look: what it does not use is left out.
            linkerSettings: fullyStatic + [
                .unsafeFlags(["-Xlinker", "--gc-sections", "-Xlinker", "--strip-all"])
            ]
        ),

        // Model access. Everything but the start is a library, so that tests link it their own way.
        .target(name: "HTTPFront", swiftSettings: house),
        .target(
            name: "EgressBroker",
            dependencies: [
                "BrokerProtocol", "HTTPFront", "HostKernel", "LinuxKernel", "ModelDialects",
                "SandboxPlan", "StrictJSON",
                crypto,
                nioSSL, httpClient,
            ] + nio,
            swiftSettings: house
        ),
        .executableTarget(
            name: "EgressBrokerProgram",
            dependencies: ["EgressBroker"],
            swiftSettings: house,
            linkerSettings: staticRuntime
        ),

        // Floor 4: examination.
        .target(name: "ExamResults", swiftSettings: optimised),
        .target(name: "Gate", dependencies: ["ExamResults"], swiftSettings: optimised),
        .target(
            name: "GateStatistics",
            dependencies: ["ExamResults", "Gate"],
            swiftSettings: optimised
        ),
        .target(
            name: "Ledger",
            dependencies: ["HostKernel", "StrictJSON", "LinuxKernel", grdb, crypto],
            swiftSettings: optimised
        ),
        .target(name: "Transparency", dependencies: ["StrictJSON", crypto], swiftSettings: house),
        .target(
            name: "Benchmarks",
            dependencies: [
                "HostKernel",
                "ExamResults", "StrictJSON", "LauncherClient", "LauncherProtocol", "SandboxPlan",
                "LinuxKernel",
            ],
            swiftSettings: optimised
        ),

        .target(
            name: "Workspace",
            dependencies: [
                "HostKernel", "ModelDialects",
                "StrictJSON", "StrictYAML", "ExamResults", "LinuxKernel", "SandboxPlan",
                "SandboxPolicy",
                crypto,
            ],
            swiftSettings: house
        ),
        .target(
            name: "IterationLoop",
            dependencies: [
                "StrictJSON", "ExamResults", "Gate", "GateStatistics", "Workspace", "SandboxPlan",
                "SandboxPolicy",
            ],
            swiftSettings: house
        ),
        .target(
            name: "Reveal",
            dependencies: [
                "ExamResults", "Gate", "IterationLoop", "StrictJSON", "Transparency", "Workspace",
                crypto,
            ],
            swiftSettings: house
        ),
        .target(
            name: "Supervisor",
            dependencies: [
                "BrokerClient", "BrokerProtocol", "DenialEvents",
                "HostKernel",
                "Benchmarks", "ExamResults", "Gate", "GateStatistics", "HostProbe", "IterationLoop",
                "LauncherClient", "LauncherProtocol", "Ledger", "LinuxKernel", "ModelDialects",
                "Reveal", "SandboxPlan",
                "SandboxPolicy", "SelfCheck", "StrictJSON", "StrictYAML", "Transparency",
                "Workspace",
            ],
            swiftSettings: house
        ),

        // Floor 5: front door.
        .target(
            name: "Report",
            dependencies: ["GateStatistics", "Ledger", "StrictJSON", "Workspace", crypto],
            swiftSettings: house
        ),
        .target(name: "CheckReports", swiftSettings: house),
        .target(
            name: "RedTeam",
            dependencies: ["CheckReports", "SandboxPlan", "StrictJSON"],
            swiftSettings: house
        ),
        // The attacks themselves; started by `invigilator redteam`, refuses to run anywhere else.
        .executableTarget(
            name: "RedTeamProbe",
            linkerSettings: fullyStatic
        ),
        .executableTarget(
            name: "Invigilator",
            dependencies: [
                "HostKernel",
                "Benchmarks", "BrokerClient", "BrokerProtocol", "CheckReports", "DenialEvents",
                "ExamResults",
                "Gate",
                "GateStatistics", "HostProbe",
                "LauncherClient",
                "IterationLoop", "LauncherProtocol", "Ledger", "LinuxKernel", "ModelDialects",
                "PolicyEffects", "RedTeam", "Report", "Reveal",
                "SandboxPlan", "SandboxPolicy", "SeccompCompiler", "SelfCheck", "StrictJSON",
                "StrictYAML", "Supervisor", "Transparency", "Workspace", argumentParser, grdb,
            ],
            swiftSettings: house
        ),

        // Every parser of untrusted bytes as one function each, for the fuzzer and its corpus.
        .target(
            name: "ParserFuzzer",
            dependencies: [
                "Benchmarks", "DenialEvents", "ExamResults", "HTTPFront", "IterationLoop",
                "LauncherClient", "LauncherProtocol", "Ledger", "ModelDialects", "SandboxPlan",
                "SandboxPolicy",
                "StrictJSON", "Transparency",
                "Workspace",
            ],
            swiftSettings: house
        ),
        .executableTarget(
            name: "FuzzDriver",
            dependencies: ["ParserFuzzer"],
            swiftSettings: house
        ),

        // What the tests of several targets share.
        .target(
            name: "TestSupport",
            dependencies: ["ExamResults", "SandboxPlan"],
            path: "Tests/TestSupport",
            swiftSettings: besideFoundation + [.unsafeFlags(["-O"])]
        ),

        // Without privilege, in seconds.
        tests("LinuxKernelTests", of: ["HostKernel", "LinuxKernel"]),
        tests("SandboxPlanTests", of: ["LauncherClient", "SandboxPlan", "TestSupport"]),
        tests(
            "LauncherProtocolTests",
            of: ["LauncherClient", "LauncherProtocol", "SandboxPlan", "TestSupport"]
        ),
        tests("StrictJSONTests", of: ["StrictJSON", "TestSupport"]),
        tests("StrictYAMLTests", of: ["StrictYAML", "TestSupport"]),
        tests("BrokerProtocolTests", of: ["BrokerProtocol", "ModelDialects"]),
        tests(
            "SeccompCompilerTests",
            of: ["FilterLint", "PolicyEffects", "SeccompCompiler", "SandboxPlan", "TestSupport"]
        ),
        tests(
            "SandboxPolicyTests",
            of: [
                "HostKernel", "LinuxKernel", "PolicyEffects", "SandboxPlan", "SandboxPolicy",
                "SeccompCompiler", "StrictJSON", "StrictYAML", "TestSupport",
            ]
        ),
        tests(
            "PolicyEffectsTests",
            of: [
                "HostKernel", "LinuxKernel", "PolicyEffects", "SandboxPlan", "SandboxPolicy",
                "StrictJSON", "StrictYAML", "TestSupport",
            ],
            exclude: ["Goldens"]
        ),
        tests("HostProbeTests", of: ["HostKernel", "HostProbe", "LinuxKernel"]),
        tests("ExamResultsTests", of: ["ExamResults", "TestSupport"]),
        tests("GateTests", of: ["Gate", "ExamResults", "TestSupport"]),
        tests(
            "GateStatisticsTests",
            of: ["Gate", "GateStatistics", "ExamResults", "TestSupport"]
        ),
        tests(
            "BenchmarksTests",
            of: [
                "HostKernel", "Benchmarks", "ExamResults", "LauncherProtocol", "LinuxKernel",
                "StrictJSON", "TestSupport",
            ]
        ),
        tests("LedgerTests", of: ["Ledger", "StrictJSON", "Transparency", grdb, "TestSupport"]),
        tests("TransparencyTests", of: ["StrictJSON", "TestSupport", "Transparency", crypto]),
        tests(
            "WorkspaceTests",
            of: [
                "HostKernel", "ModelDialects", "Workspace", "StrictJSON", "StrictYAML",
                "ExamResults", "LinuxKernel", "SandboxPlan", "SandboxPolicy", "TestSupport",
            ]
        ),
        tests(
            "RevealTests",
            of: [
                "ExamResults", "Gate", "IterationLoop", "Reveal", "StrictJSON", "TestSupport",
                "Workspace",
            ]
        ),
        tests(
            "IterationLoopTests",
            of: [
                "IterationLoop", "StrictJSON", "ExamResults", "Gate", "Workspace", "SandboxPlan",
                "SandboxPolicy", "TestSupport",
            ]
        ),
        tests(
            "SupervisorTests",
            of: [
                "BrokerClient", "BrokerProtocol", "ExamResults", "HostKernel", "IterationLoop",
                "Ledger", "LinuxKernel", "ModelDialects", "StrictJSON", "Supervisor", "Workspace",
            ]
        ),
        tests(
            "ReportTests",
            of: ["Report", "Ledger", "StrictJSON", "Workspace", "TestSupport"],
            exclude: ["Goldens"]
        ),
        tests(
            "InvigilatorTests",
            of: [
                "CheckReports",
                "Invigilator", "Gate", "GateStatistics", "HostProbe", "IterationLoop",
                "LauncherProtocol", "Ledger",
                "LauncherClient", "LinuxKernel", "RedTeam", "SandboxPlan", "SandboxPolicy",
                "SelfCheck", "StrictJSON", "StrictYAML", "Supervisor", "Transparency", "Workspace",
            ],
            exclude: ["Goldens"]
        ),

        tests(
            "EgressBrokerTests",
            of: [
                "BrokerProtocol", "EgressBroker", "HTTPFront", "HostKernel", "LinuxKernel",
                "ModelDialects", "StrictJSON", nioSSL,
            ] + nio
        ),
        tests(
            "DenialEventsTests",
            of: [
                "DenialEvents", "FilterLint", "LauncherClient", "SandboxPlan", "SeccompCompiler",
                "StrictJSON",
            ]
        ),
        tests("SelfCheckTests", of: ["LauncherClient", "SandboxPlan", "SelfCheck"]),
        tests("ParserFuzzerTests", of: ["ParserFuzzer", "TestSupport"], exclude: ["Corpus"]),
        tests("CheckReportsTests", of: ["CheckReports"]),
        tests(
            "RedTeamCatalogTests",
            of: [
                "HostKernel", "RedTeam", "LinuxKernel", "SandboxPlan", "StrictJSON",
            ]
        ),

        // Run inside sandboxes by the privileged tests; refuses to start outside one.
        .executableTarget(
            name: "SyscallProbe",
            // It uses what limits bound as fast as a real program would.
            cSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: fullyStatic
        ),

        // Fails single system calls of a launch for the privileged tests.
        .executableTarget(name: "FaultInjector"),

        // With real sandboxes, as root.
        tests(
            "PrivilegedTests",
            of: [
                "DenialEvents", "HostKernel",
                "Benchmarks", "ExamResults", "HostProbe", "LauncherClient", "LauncherProtocol",
                "LinuxKernel", "SandboxPlan", "SandboxPolicy", "SeccompCompiler", "SelfCheck",
                "StrictJSON", "Workspace", "TestSupport",
            ]
        ),
        tests(
            "RedTeamTests",
            of: [
                "HostKernel", "IterationLoop", "LauncherClient", "Ledger", "LinuxKernel", "RedTeam",
                "Report", "SandboxPlan", "StrictJSON", "TestSupport", "Workspace",
            ],
            exclude: ["Fixtures"]
        ),
        tests(
            "EndToEndTests",
            of: [
                "HostKernel", "LauncherProtocol", "Ledger", "LinuxKernel", "SandboxPlan",
                "StrictJSON", "TestSupport",
            ],
            exclude: ["Fixtures"]
        ),
    ]
)
