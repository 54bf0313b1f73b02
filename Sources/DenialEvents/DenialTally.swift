/// Decides which counts go on the record, and when: a flood moves numbers and makes no rows.
///
/// A kind is written when it is first seen, again when ten times as many were counted since, and once
/// more at its sandbox's end. Counts are those since the row before, so that they add up. When the most
/// entries are written, what follows is the first entry of each kind that no policy could allow, of which
/// there are few, and one last entry at each sandbox's end, without kinds.
public struct DenialTally: Sendable {
    /// What the entry without kinds says of its call.
    public static let further = "further calls"

    private struct Kind: Hashable {
        let sandbox: UInt32
        let layer: String
        let attempt: String

        init(_ event: DenialEvent, of sandbox: UInt32) {
            self.sandbox = sandbox
            layer = event.layer
            attempt = event.attempt
        }
    }

    private let mostEntries: Int
    private var entries = 0
    private var written: [Kind: UInt64] = [:]

    /// Makes a tally that writes at most so many entries, but for the one at each end.
    public init(mostEntries: Int) {
        self.mostEntries = mostEntries
    }

    /// What of a sandbox's counts so far is to be written now.
    public mutating func note(_ events: [DenialEvent], of sandbox: UInt32) -> [DenialEvent] {
        write(events, of: sandbox) { count, before in before == 0 || count / 10 >= before }
    }

    /// What of a sandbox's last counts is to be written still, and how many calls beyond are not named.
    public mutating func end(
        _ events: [DenialEvent],
        of sandbox: UInt32
    ) -> (events: [DenialEvent], further: UInt64) {
        let last = write(events, of: sandbox) { count, before in count > before }
        let further = events.reduce(UInt64(0)) {
            $0 &+ $1.count &- (written[Kind($1, of: sandbox)] ?? 0)
        }
        written = written.filter { $0.key.sandbox != sandbox }
        return (last, further)
    }

    private mutating func write(
        _ events: [DenialEvent],
        of sandbox: UInt32,
        where isDue: (_ count: UInt64, _ before: UInt64) -> Bool
    ) -> [DenialEvent] {
        events.compactMap { event in
            let kind = Kind(event, of: sandbox)
            let before = written[kind] ?? 0
            // What no policy allows is written once however much was written of what is harmless.
            let isGrave = before == 0 && event.cure == nil
            guard event.count > before, isDue(event.count, before),
                isGrave || entries < mostEntries
            else { return nil }
            entries += 1
            written[kind] = event.count
            return event.counted(event.count - before)
        }
    }
}
