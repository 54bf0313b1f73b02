import HostKernel
import Foundation
import LinuxKernel

/// A program that runs beside the test, and what it printed so far.
final class Program {
    let pid: Int32
    private(set) var output: [UInt8] = []
    private(set) var errors: [UInt8] = []
    private var end: ProcessEnd?
    private let loop = EventLoop()
    private let streams: [Stream]
    private var tokens: [EventLoop.Token?] = [nil, nil]
    private var openStreams = 2

    private final class Stream {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// Starts a program with the environment of a plain shell.
    init(_ path: String, _ arguments: [String], temporary: String) throws {
        var outputs = try DescriptorPair.pipe()
        var failures = try DescriptorPair.pipe()
        let null = try Descriptor.open("/dev/null", .read)
        let outputEnd = outputs.takeSecond()
        let errorEnd = failures.takeSecond()
        var placements = DescriptorPlacements()
        placements.add(null)
        placements.add(outputEnd)
        placements.add(errorEnd)
        pid = try Spawn.start(
            path,
            arguments: arguments,
            environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=\(temporary)"],
            descriptors: placements
        )
        streams = [Stream(outputs.takeFirst()), Stream(failures.takeFirst())]
        for index in streams.indices { collect(index) }
    }

    deinit {
        for token in tokens { loop.forget(token) }
        guard end == nil else { return }
        // A test that failed early: its program must not outlive it.
        kill(pid, SIGKILL)
        _ = try? ProcessEnd.wait(for: pid)
    }

    private func collect(_ index: Int) {
        tokens[index] = loop.watch(streams[index].descriptor, .readable) { [unowned self] _ in
            let part = (try? streams[index].descriptor.read(atMost: 1 << 16)) ?? []
            if index == 0 { output += part } else { errors += part }
            if part.isEmpty {
                openStreams -= 1
                loop.forget(tokens[index])
            }
        }
    }

    var text: String { String(decoding: output, as: UTF8.self) }
    var notes: String { String(decoding: errors, as: UTF8.self) }

    private func wait(_ what: String, seconds: Int, until condition: () -> Bool) throws {
        var isLate = false
        let token = loop.at(MonotonicTime.now.advanced(by: .milliseconds(UInt64(seconds) * 1000))) {
            isLate = true
        }
        try loop.run(until: { isLate || condition() })
        loop.forget(token)
        guard condition() else {
            throw Stage.TimedOut(description: "waited \(seconds) s for \(what): \(notes) \(text)")
        }
    }

    /// Waits until standard error holds a text, this many times.
    func waitFor(_ part: String, times: Int = 1, seconds: Int = 60) throws {
        try wait("\(part.debugDescription) in the notes", seconds: seconds) {
            openStreams == 0 || notes.components(separatedBy: part).count > times
        }
        guard notes.components(separatedBy: part).count > times else {
            throw Stage.TimedOut(description: "the program ended before \(part): \(notes)")
        }
    }

    /// Waits until standard output holds a text.
    func waitForOutput(_ part: String, seconds: Int = 60) throws {
        try wait("\(part.debugDescription) in the output", seconds: seconds) {
            openStreams == 0 || text.contains(part)
        }
        guard text.contains(part) else {
            throw Stage.TimedOut(description: "the program ended before \(part): \(notes)")
        }
    }

    /// Waits for the end of the program and of everything that holds its output.
    func waitForEnd(seconds: Int = 90) throws -> Ended {
        try wait("the end of the program", seconds: seconds) { openStreams == 0 }
        let end = try end ?? ProcessEnd.wait(for: pid)
        self.end = end
        return Ended(
            code: end.exitCode,
            signal: end.signal,
            output: text,
            notes: notes
        )
    }

    /// Sends a signal to the program alone.
    func send(_ signal: Int32) { kill(pid, signal) }
}

/// How a program ended and what it printed.
struct Ended: CustomStringConvertible {
    let code: Int32?
    let signal: Int32?
    let output: String
    let notes: String

    var description: String {
        "ended with \(code.map(String.init) ?? "signal \(signal ?? 0)")\n\(notes)\n\(output)"
    }
}
