import Foundation
import HostKernel
import LinuxKernel
import TestSupport

/// One system call of a launch, as the fault injector counts and names it.
struct LaunchCall: CustomStringConvertible {
    /// By birth: `0` the launcher, `0.1` its first child, `0.1.1` that one's.
    let process: String
    let number: Int
    let name: String
    /// A path or the number that says what the call is about.
    let detail: String
    /// Whether the payload's program ran already, as far as the tracer had heard.
    private(set) var isLate: Bool

    init?(_ line: Substring, isLate: Bool) {
        let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == "call", let number = Int(words[2]) else { return nil }
        process = String(words[1])
        self.number = number
        name = String(words[3])
        detail = String(words[4])
        self.isLate = isLate
    }

    var description: String { "\(process) \(number) \(name) \(detail)" }

    /// The call, late also where it can only be: the tracer hears of a program's start and of what others
    /// do because of it in no fixed order.
    func settled(by normal: FaultReport) -> LaunchCall {
        // What the launcher does once init may start the payload, which is its second word to it, and init
        // once the program runs.
        let words = normal.calls.filter { $0.process == "0" && $0.name == "sendmsg" }
        let second = words.dropFirst().first
        let isLaunchers = process == "0" && number > second?.number ?? .max
        // Init opens its descriptor of signals, for which it first blocks them, when the program runs.
        let watch = normal.calls.first { $0.process == process && $0.name == "signalfd4" }
        let isInits = ["wait4", "sendmsg"].contains(name) || number + 1 >= watch?.number ?? .max
        var settled = self
        if isLaunchers || (process != "0" && isInits) {
            settled.isLate = true
        }
        return settled
    }

    // Ends of processes cannot fail.
    var canFail: Bool { name != "exit_group" && name != "exit" }

    /// What the launcher can only die of, as every Swift program.
    var isAllocation: Bool { ["brk", "mmap", "mremap"].contains(name) }
}

/// What is done to one call.
enum CallFault: String {
    /// It does nothing and reports EPERM.
    case refused = "1"
    /// It does nothing and reports EINTR, once.
    case interrupted = "4"
    /// Its process is killed at its beginning.
    case killed = "kill"
}

/// What the fault injector wrote down about one launch.
struct FaultReport {
    /// The calls, or the one that was made to fail.
    private(set) var calls: [LaunchCall] = []
    /// What payload and init were when the payload became its program; empty when it never did.
    private(set) var walls: [String] = []
    /// The launcher's exit code, or minus the signal that ended it.
    private(set) var end: Int?
    /// Whether what ran had every wall that a launch without a fault gives it, as long as it ran.
    func isWalled(like normal: FaultReport) -> Bool {
        walls.allSatisfy { normal.walls.contains($0) || $0 == "payload killed meanwhile" }
    }

    /// Processes that outlived the launcher.
    private(set) var left: [String] = []

    init(_ path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.split(separator: "\n") {
            let value = String(line.drop { $0 != " " }.dropFirst())
            if line.hasPrefix("at ") { walls.append(value) }
            if line.hasPrefix("end ") { end = Int(value) }
            if line.hasPrefix("left ") { left.append(value) }
            if let call = LaunchCall(line, isLate: !walls.isEmpty) { calls.append(call) }
        }
    }
}

/// A mount namespace with a launcher, a plan and a candidate's root, for many one-shot launches.
///
/// Its temporary directories are its own, so that whatever is written there is seen.
final class OneShotStage {
    private let scratch: Scratch
    private let holder: Int32
    private let end: Descriptor
    static let program = BuiltPrograms.besideTests + "/FaultInjector"

    private static let script = """
        mount -t tmpfs none /mnt && cd /mnt && cp $LAUNCHER launcher && cp $PLAN plan && mkdir tree \
        && mount -t tmpfs none tree && cd tree && mkdir -p proc dev tmp candidate usr/bin \
        && cp $PROBE usr/bin/probe && mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp \
        && echo ready && exec cat
        """

    init(_ plan: [UInt8]) throws {
        scratch = try Scratch()
        try Data(plan).write(to: URL(fileURLWithPath: scratch.path + "/plan"))
        var inputs = try DescriptorPair.pipe()
        var outputs = try DescriptorPair.pipe()
        let input = inputs.takeFirst()
        let output = outputs.takeSecond()
        let errors = try Descriptor.copy(ofInherited: 2)
        var descriptors = DescriptorPlacements()
        descriptors.add(input)
        descriptors.add(output)
        descriptors.add(errors)
        holder = try Spawn.start(
            "/usr/bin/unshare",
            arguments: ["--mount", "--propagation", "private", "sh", "-c", Self.script],
            environment: [
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "PROBE=\(Host.probe)",
                "LAUNCHER=\(Host.launcher)", "PLAN=\(scratch.path)/plan",
            ],
            descriptors: descriptors
        )
        end = inputs.takeSecond()
        let ready = outputs.takeFirst()
        guard try ready.read(atMost: 16) == Array("ready\n".utf8) else { throw NotReady() }
    }

    struct NotReady: Error {}

    deinit {
        // The holder is a `cat`, which a signal always ends.
        kill(holder, SIGKILL)
        _ = try? ProcessEnd.wait(for: holder)
    }

    struct Run {
        let report: FaultReport
        let output: String
        let errors: String
    }

    /// Runs one launch of the probe, with one of its calls made to fail or without.
    func run(_ words: [String], _ fault: CallFault = .refused, at call: LaunchCall? = nil) throws
        -> Run
    {
        let report = scratch.path + "/report"
        var arguments = [report, "--inside", "\(holder)"]
        if let call {
            arguments += ["--at", call.process, "\(call.number)", fault.rawValue]
        }
        arguments += ["run", "/mnt/launcher", "run", "/mnt/plan", "--tree", "/mnt/tree", "--"]
        arguments += [Lab.candidateProbe] + words
        let outcome = try Spawn.run(Self.program, arguments: arguments)
        // Which namespaces they are differs; that they are its own is in the report.
        let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
        return Run(
            report: try FaultReport(report),
            output: lines.filter { !$0.hasPrefix("ns.") }.joined(separator: "\n"),
            errors: String(decoding: outcome.errors, as: UTF8.self)
        )
    }

    /// The mounts of the namespace and its temporary files.
    func remains() throws -> [String] {
        var found = try Census.mounts(of: holder)
        for folder in ["tmp", "var/tmp", "mnt", "mnt/tree"] {
            let path = "/proc/\(holder)/root/\(folder)"
            found += try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        }
        return found
    }
}

/// Traces a resident launcher through one launch.
final class FaultTracer {
    private let scratch: Scratch
    private let pid: Int32

    init(_ launcher: Int32, _ fault: CallFault = .refused, at call: LaunchCall? = nil) throws {
        scratch = try Scratch()
        let ready = try SharedPair.pipe()
        let null = try Descriptor.open("/dev/null", .readWrite)
        let errors = try Descriptor.copy(ofInherited: 2)
        var descriptors = DescriptorPlacements()
        descriptors.add(null)
        descriptors.add(ready.second.descriptor)
        descriptors.add(errors)
        var arguments = [scratch.path + "/report"]
        if let call {
            arguments += ["--at", call.process, "\(call.number)", fault.rawValue]
        }
        pid = try Spawn.start(
            OneShotStage.program,
            arguments: arguments + ["attach", "\(launcher)"],
            environment: [],
            descriptors: descriptors
        )
        // A tracer that could not begin has ended, and says nothing; our own end is open all the same.
        try ready.first.descriptor.setNonBlocking(true)
        let loop = EventLoop()
        var isReady = false
        let token = loop.watch(ready.first.descriptor, .readable) { _ in isReady = true }
        try loop.turn(atMost: .milliseconds(10_000))
        loop.forget(token)
        guard isReady else { throw OneShotStage.NotReady() }
    }

    /// Lets go of the launcher and tells what happened.
    func report() throws -> FaultReport {
        kill(pid, SIGTERM)
        _ = try ProcessEnd.wait(for: pid)
        return try FaultReport(scratch.path + "/report")
    }
}
