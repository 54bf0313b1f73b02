internal import HostKernel
internal import LinuxKernel

/// The right to append, held by one process of the host at a time.
///
/// An advisory lock (flock(2)) on a file beside the database. The kernel gives it back when
/// the process ends in whatever way, so a killed run leaves no stale lock. The descriptor is
/// close-on-exec: nothing that the supervisor spawns inherits the right.
struct ProcessLock: ~Copyable {
    private static let noteLength = 11
    private let file: Descriptor

    private init(_ file: consuming Descriptor) { self.file = file }

    deinit {
        // Closing alone leaves it held for as long as a child of this process is between fork and exec.
        do throws(SystemError) { try file.unlock() } catch {}
    }

    /// Takes the lock at `path` or says who holds it; never waits.
    static func take(at path: String) throws(LedgerError) -> ProcessLock {
        let note: [UInt8]
        do throws(SystemError) {
            let file = try Descriptor.open(path, [.readWrite, .create])
            if try file.tryLock() {
                // As long as any other note, so that nothing of an older one stays.
                let text = "\(CurrentProcess.pid)"
                let padding = String(repeating: " ", count: noteLength - 1 - text.count)
                try file.writeAll(Array((text + padding + "\n").utf8))
                return ProcessLock(file)
            }
            note = try file.read(atMost: noteLength)
        } catch {
            throw LedgerError(error, operation: "lock the ledger", location: path)
        }
        let digits = String(decoding: note, as: UTF8.self).prefix { $0.isNumber }
        throw .locked(location: path, holder: Int32(digits))
    }
}
