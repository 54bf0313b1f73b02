// What the kernel says of a payload, in words that the payload chose.

internal import DenialEvents

extension FuzzSurface {
    // One line of input is one message: the type in decimal, a space, and the record's text.
    func feedLandlockRecords(_ bytes: [UInt8]) -> Bool {
        var counts = LandlockCounts()
        var isTaken = false
        var users: Set<UInt32> = []
        for line in bytes.split(separator: 10) {
            let number = line.prefix { $0 != 32 }
            let type = UInt16(String(decoding: number, as: UTF8.self)) ?? 1423
            let header: [UInt8] = [0, 0, 0, 0, UInt8(type & 0xff), UInt8(type >> 8)]
            let message =
                header + [UInt8](repeating: 0, count: 10) + line.dropFirst(number.count + 1)
            if case .record = LandlockRecord.read(message) { isTaken = true }
            if let user = counts.note(message) { users.insert(user) }
        }
        for user in users {
            let events = counts.events(of: user)
            precondition(events.count <= 25 * 512, "a table is bounded")
            for event in events {
                precondition(event.call.utf8.count <= 40 && event.kind.utf8.count <= 40)
                precondition(event.program.utf8.count <= 15)
                precondition((event.path?.utf8.count ?? 0) <= 160, "a path is cut")
                let texts = [event.program, event.kind, event.path ?? ""]
                precondition(
                    texts.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } },
                    "what a payload chose is printable"
                )
            }
        }
        return isTaken
    }
}
