// Events for a program that watches a night, one JSON object a line.
//
// Order of importance: the night, the record, and far behind them the reader. Nothing here waits for a
// reader while a run is on: what a pipe does not take is kept up to a size, and what does not fit there is
// counted and said in the stream itself. A reader that is gone changes nothing but that count.

public import HostKernel
public import LinuxKernel
package import StrictJSON

/// A stream of events.
public final class EventStream {
    /// What waits for its reader, in bytes: some thousand events.
    package static let room = 1 << 20
    // Nobody waits longer than this for a reader when the night is over.
    private static let patience = Nanoseconds.milliseconds(1000)

    private let stream: Descriptor
    private let loop: EventLoop
    private let limit: Int
    private var pending: [UInt8] = []
    private var token: EventLoop.Token?
    private var isBroken = false
    private var untold = 0
    /// How many events the reader did not get.
    package private(set) var lost = 0

    /// Writes to a stream that never waits.
    ///
    /// - Parameters:
    ///   - stream: where to.
    ///   - loop: the loop of this process.
    ///   - limit: the most bytes that wait.
    package init(_ stream: consuming Descriptor, loop: EventLoop, limit: Int = EventStream.room) {
        self.stream = stream
        self.loop = loop
        self.limit = limit
        token = loop.watch(self.stream, []) { [unowned self] _ in write() }
    }

    deinit { loop.forget(token) }

    /// Tells an event.
    package func tell(_ event: JSONValue) {
        let line = event.canonicalBytes + [0x0A]
        var told = line
        if untold > 0 {
            told =
                JSONValue.object([
                    "schema": .string(NightEvent.schema), "kind": "lost",
                    "time": .integer(WallClock.milliseconds), "count": JSONValue(untold),
                ]).canonicalBytes + [0x0A] + line
        }
        guard !isBroken, pending.count + told.count <= limit else {
            lost += 1
            untold += 1
            return
        }
        untold = 0
        pending += told
        write()
    }

    /// Waits a moment for a reader that is behind; what it has not taken then is lost.
    package func finish() throws(SystemError) {
        let end = MonotonicTime.now.advanced(by: Self.patience)
        while !pending.isEmpty, !isBroken, MonotonicTime.now < end {
            try loop.turn(atMost: .milliseconds(50))
        }
        lose()
    }

    private func write() {
        do throws(SystemError) {
            while !pending.isEmpty { pending.removeFirst(try stream.write(pending)) }
            loop.change(token, to: [])
        } catch {
            guard !error.isWouldBlock else { return loop.change(token, to: .writable) }
            isBroken = true
            lose()
        }
    }

    // Of a line that was cut its reader has a part, which is no JSON.
    private func lose() {
        lost += pending.count { $0 == 0x0A }
        pending = []
        loop.change(token, to: [])
    }
}

extension EventStream {
    /// Opens the place of a stream, with the rights of whoever asks for it.
    ///
    /// - Parameter place: a file, `-` for standard output, or `fd:N` for a descriptor that was handed to us.
    /// - Returns: a descriptor whose writes never wait.
    /// - Throws: ``SupervisorError`` with ``ExitStatus/usage``.
    public static func open(_ place: String) throws(SupervisorError) -> Descriptor?.Box {
        let number =
            place == "-" ? 1 : place.hasPrefix("fd:") ? Int32(place.dropFirst(3)) ?? 0 : nil
        if let number, number <= 0 {
            throw refusal(place, "this is no descriptor's number", "write fd:3, or a file")
        }
        do throws(SystemError) {
            if let number { return try inherited(number) }
            return try file(place)
        } catch {
            throw refusal(
                place,
                "\(error)",
                "start the reader of a pipe first; a file's directory must be there"
            )
        }
    }

    private static func inherited(_ number: Int32) throws(SystemError) -> Descriptor?.Box {
        Descriptor?.Box(try Descriptor.copy(ofInherited: number).writerThatNeverWaits())
    }

    // A new file is its directory's owner's, as every file that a command writes for its user.
    private static func file(_ path: String) throws(SystemError) -> Descriptor?.Box {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let name = parts.last ?? ""
        let above = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
        let folder = try Descriptor.open(try Descriptor.resolvedPath(above), [.read, .directory])
        return Descriptor?.Box(
            try folder.openOutput(name, [.append, .nonBlocking], emptied: false)
        )
    }

    private static func refusal(
        _ place: String,
        _ reason: String,
        _ remedy: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open the stream of events",
            location: "--events \(place)",
            reason: reason,
            remedy: remedy
        )
    }
}
