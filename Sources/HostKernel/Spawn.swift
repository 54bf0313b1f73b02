// HostKernel: kernel wrappers that only programs without privilege use; the launcher does not link it.

internal import CLinux
@_spi(KernelHandles) public import LinuxKernel

/// Programs started with posix_spawn(3), for a process that may not fork.
public enum Spawn {
    /// Starts a program with exactly the descriptors listed, at numbers 0, 1, 2 and so on.
    ///
    /// - Returns: its process id; the caller reaps it with ``ProcessEnd/wait(for:)``.
    /// - Throws: ``SystemError``.
    public static func start(
        _ path: String,
        arguments: [String],
        environment: [String],
        descriptors: borrowing DescriptorPlacements
    ) throws(SystemError) -> Int32 {
        let list = CStringList([path] + arguments)
        let variables = CStringList(environment)
        var numbers: [Int32] = []
        for index in 0..<descriptors.count { numbers.append(descriptors.source(at: index)) }
        var pid: Int32 = 0
        // Safety: every pointer outlives the call; the number list is as long as its count.
        try result("posix_spawn", path) {
            unsafe numbers.withUnsafeBufferPointer { buffer in
                unsafe clx_spawn(
                    &pid,
                    path,
                    list.pointers,
                    variables.pointers,
                    buffer.baseAddress,
                    Int32(buffer.count)
                )
            }
        }
        return pid
    }

    private static func start(
        _ path: String,
        _ arguments: [String],
        _ environment: [String],
        childEnds input: consuming Descriptor,
        _ output: consuming Descriptor,
        _ errors: consuming Descriptor
    ) throws(SystemError) -> Int32 {
        var placements = DescriptorPlacements()
        placements.add(input)
        placements.add(output)
        placements.add(errors)
        return try start(
            path,
            arguments: arguments,
            environment: environment,
            descriptors: placements
        )
    }

    /// What a short program printed and how it ended.
    public struct Outcome: Sendable, Equatable {
        /// Standard output.
        public let output: [UInt8]
        /// Standard error.
        public let errors: [UInt8]
        /// How it ended.
        public let end: ProcessEnd
    }

    /// Runs a short program to its end, with input from memory and output to memory.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its arguments, its name left out.
    ///   - environment: its whole environment.
    ///   - input: what it reads on standard input.
    ///   - limit: the most bytes kept of each stream; more is EFBIG.
    /// - Returns: what it printed and how it ended.
    /// - Throws: ``SystemError``.
    public static func run(
        _ path: String,
        arguments: [String],
        environment: [String] = [],
        input: [UInt8] = [],
        limit: Int = 1 << 22
    ) throws(SystemError) -> Outcome {
        var inputs = try DescriptorPair.pipe()
        var outputs = try DescriptorPair.pipe()
        var errors = try DescriptorPair.pipe()
        let pid = try start(
            path,
            arguments,
            environment,
            childEnds: inputs.takeFirst(),
            outputs.takeSecond(),
            errors.takeSecond()
        )
        let exchange = SpawnExchange(
            input: input,
            limit: limit,
            writer: inputs.takeSecond(),
            output: outputs.takeFirst(),
            errors: errors.takeFirst()
        )
        let failure = exchange.run()
        let end = try ProcessEnd.wait(for: pid)
        if let failure { throw failure }
        return Outcome(output: exchange.outputBytes, errors: exchange.errorBytes, end: end)
    }
}

private final class SpawnExchange {
    private var input: [UInt8]
    private let limit: Int
    private var writer: Descriptor?
    private let output: Descriptor
    private let errors: Descriptor
    private(set) var outputBytes: [UInt8] = []
    private(set) var errorBytes: [UInt8] = []

    init(
        input: [UInt8],
        limit: Int,
        writer: consuming Descriptor,
        output: consuming Descriptor,
        errors: consuming Descriptor
    ) {
        self.input = input
        self.limit = limit
        self.writer = consume writer
        self.output = consume output
        self.errors = consume errors
    }

    // Serves the three pipes until both outputs end. Input is written in parts no larger than a
    // pipe takes at once when poll says there is room (pipe(7), PIPE_BUF), so no write waits.
    func run() -> SystemError? {
        let loop = EventLoop()
        var open = 2
        var failure: SystemError?
        func fail(_ error: SystemError) {
            failure = error
            open = 0
        }
        let inputToken = watchInput(loop)
        var tokens: [EventLoop.Token?] = []
        for isErrors in [false, true] {
            let handler = { [self] (_: EventLoop.Interest) in
                do throws(SystemError) {
                    let part =
                        isErrors ? try errors.read(atMost: 65536) : try output.read(atMost: 65536)
                    if part.isEmpty {
                        open -= 1
                        loop.forget(tokens[isErrors ? 1 : 0])
                    }
                    if isErrors { errorBytes += part } else { outputBytes += part }
                    if max(errorBytes.count, outputBytes.count) > limit {
                        fail(SystemError("read", "program output", number: EFBIG))
                    }
                } catch {
                    fail(error)
                }
            }
            tokens.append(
                isErrors
                    ? loop.watch(errors, .readable, handler)
                    : loop.watch(output, .readable, handler)
            )
        }
        do throws(SystemError) { try loop.run(until: { open <= 0 }) } catch { failure = error }
        for token in tokens + [inputToken] { loop.forget(token) }
        writer = nil
        return failure
    }

    private func watchInput(_ loop: EventLoop) -> EventLoop.Token? {
        guard !input.isEmpty, writer != nil else {
            writer = nil
            return nil
        }
        var token: EventLoop.Token?
        let handler = { [self] (_: EventLoop.Interest) in
            let part = Array(input.prefix(4096))
            do throws(SystemError) {
                switch writer {
                case .some(let pipe): input.removeFirst(try pipe.write(part))
                case .none: input = []
                }
            } catch {
                input = []  // the program closed its input; what it prints still counts
            }
            if input.isEmpty {
                loop.forget(token)
                writer = nil
            }
        }
        switch writer {
        case .some(let pipe): token = loop.watch(pipe, .writable, handler)
        case .none: break
        }
        return token
    }
}
