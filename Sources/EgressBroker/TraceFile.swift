internal import LinuxKernel
internal import NIOPosix
internal import StrictJSON
internal import Synchronization

/// The file in which the bodies of one listener are kept, a JSON value a line.
final class TraceFile: Sendable {
    private struct State: ~Copyable {
        var written: Int
        var file: Descriptor?
        var dropped = 0
    }

    private let state: Mutex<State>
    private let limit: Int
    // Disks wait; event loops must not.
    private let pool: NIOThreadPool

    /// Takes the file over; nil where somebody did already.
    init?(_ handed: HandedDescriptor, limit: Int, pool: NIOThreadPool) {
        guard let file = handed.take() else { return nil }
        // The file may hold what listeners before this one left.
        state = Mutex(State(written: Self.size(of: file) ?? limit, file: file))
        self.limit = limit
        self.pool = pool
    }

    private static func size(of file: borrowing Descriptor) -> Int? {
        do throws(SystemError) { return Int(try file.status().size) } catch { return nil }
    }

    /// Bytes that were not kept.
    var droppedBytes: Int { state.withLock { $0.dropped } }

    /// Appends a line, and returns when it is written: the next request of the connection waits for
    /// it, so a fast sandbox cannot pile bodies up in memory.
    func append(_ value: JSONValue) async {
        var bytes = value.canonicalBytes
        bytes.append(0x0A)
        let line = bytes
        guard await pool.finish({ [self] in write(line) }) == nil else { return }
        // The pool has stopped: the process ends.
        state.withLock { $0.dropped += line.count }
    }

    private func write(_ line: [UInt8]) {
        state.withLock { state in
            guard state.written + line.count <= limit else {
                state.dropped += line.count
                return
            }
            do throws(SystemError) {
                try state.file?.writeAll(line)
                state.written += line.count
            } catch {
                state.dropped += line.count
            }
        }
    }

    /// Closes the file; what comes later is dropped.
    func close() {
        state.withLock { $0.file = nil }
    }
}
