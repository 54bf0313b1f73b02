// Init's side of what a filter leaves to it: refusals that are told, and calls that are counted.
//
// The listener never leaves init, which nobody outside can speak to and whose processor time is the
// sandbox's own. Nothing is decided here that the plan has not decided: a call that the plan counts goes on
// as long as there is room, and every other one is refused. Neither depends on what a pointer points to.
// Refusals move counters; the table of counters goes out whole: for the first call at once, because a
// payload may be killed, and then five times a second at the most.

internal import LinuxKernel
internal import SandboxPlan

/// Answers what the filter of one sandbox leaves to init.
final class CallListener {
    let loop = EventLoop()
    private let control: Held
    private let counted: [CountedCall]
    private var objectsLeft: UInt32
    // Of those, how many may be shared memory.
    private var memoryLeft: UInt32
    // By call (upper half) and kind.
    private var rows: [UInt64: (count: UInt64, program: [UInt8])] = [:]
    private var pause: EventLoop.Token?
    private var token: EventLoop.Token?

    // Calls whose first argument says what they would do: socket, clone, ptrace, keyctl, unshare, bpf.
    private static let withKinds: Set<UInt64> = [41, 56, 101, 250, 272, 321]
    // Kinds of one call that are told apart; the others are counted together, as the highest number.
    private static let mostKinds = 8

    init(_ plan: SandboxPlan, _ listener: Held?, _ control: Held) {
        self.control = control
        counted = plan.counted
        objectsLeft = plan.limits.objects
        memoryLeft = CountedCalls.memoryShare(of: plan.limits.objects)
        guard let listener else { return }
        token = loop.watch(listener.descriptor, .readable) { [unowned self] _ in
            answer(at: listener)
        }
    }

    private func answer(at listener: Held) {
        var refused: UInt64?
        do throws(SystemError) {
            try listener.descriptor.answerWaitingCall { pid, call, argument in
                if counted.contains(where: { $0.covers(call, argument) }) {
                    if take(call) { return .proceed }
                    refused = row(pid, UInt64(call), Self.ofLimit)
                    return .exhausted
                }
                refused = row(pid, UInt64(call), UInt64(argument))
                return .refuse
            }
        } catch {
            // Nobody is left under this filter, and the kernel would say so without end. After any other
            // error others may wait for an answer; a caller that a signal took out of its call asks again.
            if error.isDisconnected { loop.forget(token) }
            return
        }
        guard let refused else { return }
        rows[refused]?.count += 1
        guard pause == nil else { return }
        tell()
        pause = loop.at(.now.advanced(by: .milliseconds(200))) { [unowned self] in tell() }
    }

    // Whether there is room for the numbers that a call takes.
    private func take(_ call: UInt32) -> Bool {
        guard !Layer.objects.isOmitted else { return true }
        guard let kind = CountedCalls.all.first(where: { $0.number == call }),
            kind.takes <= objectsLeft, !kind.isMemory || kind.takes <= memoryLeft
        else { return false }
        objectsLeft -= kind.takes
        if kind.isMemory { memoryLeft -= kind.takes }
        return true
    }

    // The kind of a call that the plan counts, once there is no room left; no kind of a refusal.
    private static let ofLimit: UInt64 = 0xffff_fffe

    // The program of a row is its first caller's name: text of its own choosing. A sandbox without procfs
    // tells none.
    private func row(_ pid: UInt32, _ call: UInt64, _ argument: UInt64) -> UInt64 {
        let kinds = rows.keys.filter { $0 >> 32 == call }
        let isKind = argument == Self.ofLimit || Self.withKinds.contains(call)
        var row = call << 32 | (isKind ? argument : 0)
        if kinds.count >= Self.mostKinds, !kinds.contains(row) { row = call << 32 | 0xffff_ffff }
        guard rows[row] == nil else { return row }
        rows[row] = (0, [])
        // A caller that has died by now has no name.
        do throws(SystemError) {
            rows[row]?.program = try Descriptor.open("/proc/\(pid)/comm", .read).read(atMost: 16)
        } catch {}
        return row
    }

    /// Sends the table of all that was refused.
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
