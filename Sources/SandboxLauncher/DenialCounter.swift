// Init's side of refusals that are told: it answers each with EPERM and counts it.
//
// The listener never leaves init, which nobody outside can speak to and whose processor time is the
// sandbox's own. Nothing is decided here: the only answer is the refusal, so that what a call's pointers
// point to does not matter. A flood moves a counter; the table of counters goes out whole: for the first
// call at once, because a payload may be killed, and then five times a second at the most.

internal import LinuxKernel
internal import SandboxPlan

/// Counts what the filter of one sandbox refused and told.
final class DenialCounter {
    let loop = EventLoop()
    private let control: Held
    // By call (upper half) and kind.
    private var rows: [UInt64: (count: UInt64, program: [UInt8])] = [:]
    private var pause: EventLoop.Token?

    // Calls whose first argument says what they would do: socket, clone, ptrace, keyctl, unshare, bpf.
    private static let withKinds: Set<UInt64> = [41, 56, 101, 250, 272, 321]
    // Kinds of one call that are told apart; the others are counted together, as the highest number.
    private static let mostKinds = 8

    init(_ listener: Held?, _ control: Held) {
        self.control = control
        guard let listener else { return }
        _ = loop.watch(listener.descriptor, .readable) { [unowned self] _ in refuse(at: listener) }
    }

    private func refuse(at listener: Held) {
        var row: UInt64 = 0
        do throws(SystemError) {
            try listener.descriptor.refuseWaitingCall { row = self.row($0, UInt64($1), UInt64($2)) }
        } catch { return }  // A caller that a signal took out of its call asks again.
        rows[row]?.count += 1
        guard pause == nil else { return }
        tell()
        pause = loop.at(.now.advanced(by: .milliseconds(200))) { [unowned self] in tell() }
    }

    // The program of a row is its first caller's name: text of its own choosing.
    private func row(_ pid: UInt32, _ call: UInt64, _ argument: UInt64) -> UInt64 {
        let kinds = rows.keys.filter { $0 >> 32 == call }
        var row = call << 32 | (Self.withKinds.contains(call) ? argument : 0)
        if kinds.count >= Self.mostKinds, !kinds.contains(row) { row = call << 32 | 0xffff_ffff }
        guard rows[row] == nil else { return row }
        rows[row] = (0, [])
        // A caller that has died by now has no name.
        do throws(SystemError) {
            rows[row]?.program = try Descriptor.open("/proc/\(pid)/comm", .read).read(atMost: 16)
        } catch {}
        return row
    }

    /// Sends the table of all that was counted.
    func tell() {
        pause = nil
        guard !rows.isEmpty else { return }
        var encoder = WireEncoder()
        encoder.write(rows.sorted { $0.key < $1.key }) {
            $0.write($1.key)
            $0.write($1.value.count)
            $0.write($1.value.program)
        }
        let record = ControlRecord.denied(encoder.bytes).bytes
        // Without a launcher everything here is about to end.
        do throws(SystemError) { try control.descriptor.send(record) } catch {}
    }
}
