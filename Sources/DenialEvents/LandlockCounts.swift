/// Counts of what Landlock refused, by the host's user that each sandbox's payload is.
///
/// A record of a refusal names a domain; whose domain that is a record beside its first one says. All
/// tables are bounded: what does not fit is a number among others, and no flood makes anything longer.
public struct LandlockCounts: Sendable {
    // Kinds of one domain, classes of one blocker among them; others are counted together.
    private static let mostKinds = 24
    private static let mostClasses = 8
    // Domains, those of other programs of the host among them, and events whose call is still to come.
    private static let mostDomains = 512
    private static let mostOpen = 64
    private static let longestPath = 160
    /// What the kinds beyond are counted as, and what no record told.
    static let others = "further refusals"

    private struct Kind: Sendable {
        let blocker: String
        let objects: String
        var count: UInt64 = 0
        var program = ""
        var path: String?
    }

    private struct Domain: Sendable {
        let id: UInt64
        var user: UInt32?
        var kinds: [Kind] = []
        // Of all kinds beyond the table, and of refusals that no record told.
        var further: UInt64 = 0
        var told: UInt64 = 0
        var isReleased = false
    }

    private struct Call: Sendable {
        let event: UInt64
        let domain: UInt64
        let kind: Int
    }

    private var domains: [Domain] = []
    private var calls: [Call] = []
    private var users: Set<UInt32> = []
    /// How often the kernel said that records are gone which we did not read in time.
    public private(set) var losses: UInt64 = 0
    /// How many records were not what the kernel writes.
    public private(set) var malformed: UInt64 = 0

    /// Counts nothing yet.
    public init() {}

    /// Has the domains of a user kept when there is no room for all.
    public mutating func expect(_ user: UInt32) { users.insert(user) }

    /// Drops what was counted of a user.
    public mutating func forget(_ user: UInt32) {
        users.remove(user)
        domains.removeAll { $0.user == user }
    }

    /// Takes note that records are gone.
    public mutating func lose() { losses &+= 1 }

    /// Counts a message.
    ///
    /// - Returns: the user of whom there is more now, where that is known.
    public mutating func note(_ message: [UInt8]) -> UInt32? {
        // Most messages of a flood: what a first refusal of a kind waits for, and nobody else.
        if calls.isEmpty, LandlockRecord.isCall(message) { return nil }
        switch LandlockRecord.read(message) {
        case .foreign: return nil
        case .malformed:
            malformed &+= 1
            return nil
        case .record(let record): return note(record)
        }
    }

    mutating func note(_ record: LandlockRecord) -> UInt32? {
        switch record {
        case .refused(let event, let domain, let blocker, let object):
            let place = place(of: domain)
            domains[place].told &+= 1
            if let kind = count(blocker, object, in: place) {
                if calls.count == Self.mostOpen { calls.removeFirst() }
                calls.append(Call(event: event, domain: domain, kind: kind))
            }
            return domains[place].user
        case .allocated(let domain, let user):
            let place = place(of: domain)
            domains[place].user = user
            return user
        case .released(let domain, let refusals):
            guard let place = domains.firstIndex(where: { $0.id == domain }) else { return nil }
            let unseen = refusals > domains[place].told ? refusals - domains[place].told : 0
            domains[place].further &+= unseen
            domains[place].told = refusals
            domains[place].isReleased = true
            guard let user = domains[place].user, users.contains(user) else {
                // Nobody of ours; no record will name it again.
                domains.remove(at: place)
                return nil
            }
            return user
        case .called(let event, let user, let program): return attribute(event, user, program)
        }
    }

    /// Whether more may come of a user: it was refused something, and its domain is not gone yet.
    public func isOpen(_ user: UInt32) -> Bool {
        domains.contains { $0.user == user && !$0.isReleased }
    }

    /// What was counted of a user.
    public func events(of user: UInt32) -> [DenialEvent] {
        var events: [DenialEvent] = []
        var further: UInt64 = 0
        for domain in domains where domain.user == user {
            further &+= domain.further
            for kind in domain.kinds {
                events.append(
                    DenialEvent(
                        landlock: kind.blocker,
                        kind: kind.objects,
                        count: kind.count,
                        program: kind.program,
                        path: kind.path
                    )
                )
            }
        }
        guard further > 0 else { return events }
        return events + [DenialEvent(landlock: Self.others, kind: "", count: further)]
    }

    private mutating func place(of domain: UInt64) -> Int {
        if let known = domains.firstIndex(where: { $0.id == domain }) { return known }
        if domains.count == Self.mostDomains {
            let stranger = domains.firstIndex { !users.contains($0.user ?? 0) } ?? 0
            domains.remove(at: stranger)
        }
        domains.append(Domain(id: domain))
        return domains.count - 1
    }

    // The kind's index, where its first program is still to be told.
    private mutating func count(_ blocker: String, _ object: LandlockObject, in place: Int) -> Int?
    {
        let objects = object.kind
        let known = domains[place].kinds.firstIndex {
            $0.blocker == blocker && $0.objects == objects
        }
        if let known {
            domains[place].kinds[known].count &+= 1
            return domains[place].kinds[known].program.isEmpty ? known : nil
        }
        let classes = domains[place].kinds.count { $0.blocker == blocker }
        guard domains[place].kinds.count < Self.mostKinds, classes < Self.mostClasses else {
            domains[place].further &+= 1
            return nil
        }
        var kind = Kind(blocker: blocker, objects: objects, count: 1)
        if case .path(let path) = object { kind.path = String(path.prefix(Self.longestPath)) }
        domains[place].kinds.append(kind)
        return domains[place].kinds.count - 1
    }

    // The record of a call comes after those of what it was refused, and names user and program.
    private mutating func attribute(
        _ event: UInt64,
        _ user: UInt32,
        _ program: String
    ) -> UInt32? {
        let made = calls.filter { $0.event == event }
        guard !made.isEmpty else { return nil }
        calls.removeAll { $0.event == event }
        for call in made {
            // A domain that made room for others meanwhile has other kinds, or none.
            guard let place = domains.firstIndex(where: { $0.id == call.domain }),
                domains[place].kinds.indices.contains(call.kind)
            else { continue }
            if domains[place].kinds[call.kind].program.isEmpty {
                domains[place].kinds[call.kind].program = String(program.prefix(15))
            }
            // Where the record that names the domain's user was lost.
            if domains[place].user == nil { domains[place].user = user }
        }
        return user
    }
}
