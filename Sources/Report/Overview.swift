internal import Ledger
internal import GateStatistics
internal import Workspace

/// The top of the page: what was judged, whether the record holds, and the figures that matter.
struct Overview {
    private let chronicle: Chronicle
    private let verification: VerificationReport

    init(_ chronicle: Chronicle, _ verification: VerificationReport) {
        self.chronicle = chronicle
        self.verification = verification
    }

    var markup: Markup {
        let genesis = chronicle.genesis
        return """
            <header>
            <p class="kicker">Invigilator report</p>
            <h1>\(genesis.experiment ?? "unnamed experiment")</h1>
            <p class="sub">benchmark <b>\(genesis.benchmark ?? "not recorded")</b> · assurance \
            <b>\(genesis.assurance ?? "not recorded")</b> · \(isolation)\(internet)\(span)</p>
            \(seal)
            \(alarms)
            <ul class="tiles">
            \(tiles.joined())</ul>
            </header>

            """
    }

    // As usual, nothing is said.
    private var isolation: Markup {
        guard let isolation = chronicle.genesis.isolation else { return "" }
        return """
            isolation <b>\(isolation)</b>: other coding agents of the host ran beside sealed exams, live \
            channels are not bounded · 
            """
    }

    private var internet: Markup {
        let roles = chronicle.genesis.internet
        if roles.isEmpty { return "" }
        return """
            internet sockets of <b>\(roles.joined(separator: ", "))</b>: what the host's counters of sockets \
            told coding agents is not bounded · 
            """
    }

    private var span: String {
        guard let first = chronicle.firstTime, let last = chronicle.lastTime else {
            return "no row yet"
        }
        return "\(Figures.time(first)), \(Figures.duration(milliseconds: max(0, last - first)))"
    }

    private var seal: Markup {
        guard let fault = verification.fault else {
            return """
                <p class="seal good"><b>✓ Ledger verified.</b> \
                \(Figures.count(verification.count, "row")) form one unbroken chain, signed by the \
                key \(Figures.short(verification.publicKey))…; the last row's seal is \
                \(Figures.short(verification.head.hex))….</p>
                """
        }
        return """
            <p class="seal bad" role="alert"><b>✗ The ledger is damaged.</b> First fault: \
            \(fault.description). \(Figures.count(verification.count, "row")) in front of it \
            verified; believe nothing below that rests on later rows.</p>
            """
    }

    private var alarms: Markup {
        guard !chronicle.alarms.isEmpty else { return "" }
        let items = chronicle.alarms.map { alarm -> Markup in
            "<li><b>\(alarm.kind.rawValue)</b>, \(Figures.time(alarm.time)): \(alarm.reason ?? "no reason recorded")</li>\n"
        }
        return "<div class=\"alarms\"><b>Needs a look</b><ul>\n\(items.joined())</ul></div>"
    }

    private var tiles: [Markup] {
        let baseline = chronicle.baseline?.sealedMean
        let gain = baseline.flatMap { start in chronicle.bestExact.map { $0 - start } }
        let judged = chronicle.candidates
        let accepted = chronicle.accepted.count
        return [
            tile(
                "Best sealed score",
                Figures.exact(chronicle.bestExact),
                "released as \(Figures.released(chronicle.bestReleased))"
            ),
            tile(
                "Baseline",
                Figures.exact(baseline),
                gain.map { ($0 < 0 ? "" : "+") + Figures.decimal($0, places: 4) + " since" }
                    ?? "not measured"
            ),
            tile(
                "Candidates",
                "\(judged.count)",
                "\(accepted) accepted, \(count(.rejected)) rejected, \(count(.void)) void"
            ),
            tile(
                "Regression suite",
                "\(chronicle.suiteSize)",
                "tasks that must stay fixed"
            ),
            tile(
                "Refused attempts",
                "\(chronicle.refusalCount(.attempt))",
                "each recorded; \(chronicle.refusalCount(.denied)) denied and "
                    + "\(chronicle.refusalCount(.adjusted)) adjusted besides"
            ),
            tile(
                "Told to the agent",
                "≤ \(Figures.decimal(releasedBits, places: 1))",
                "bits about sealed tasks, by verdicts, scores, moments and open channels; \(worth)"
            ),
        ]
    }

    /// What the best score is worth after so many bits.
    private var worth: String {
        let open = Set(chronicle.candidates.flatMap { $0.told?.unbounded ?? [] }).sorted()
        guard open.isEmpty else { return "not bounded: \(open.joined(separator: ", "))" }
        guard let tasks = chronicle.genesis.testCount else { return "their number is not recorded" }
        let bound = OverfitBound(bits: releasedBits, tasks: tasks)
        let gap = Figures.decimal(bound.bound, places: 2)
        let isVacuous =
            bound.isVacuous || chronicle.bestExact.map { bound.isVacuous(for: $0) } ?? false
        return isVacuous
            ? "the bound of \(gap) on the best score is vacuous"
            : "with 95 % the best score is less than \(gap) above the true one"
    }

    private func tile(_ name: String, _ value: String, _ note: String) -> Markup {
        """
        <li><span class="name">\(name)</span> <span class="figure">\(value)</span> \
        <span class="note">\(note)</span></li>

        """
    }

    private func count(_ verdict: Candidate.Verdict) -> Int {
        chronicle.candidates.count { $0.verdict == verdict }
    }

    /// The most that the released answers can have said about the sealed tasks.
    ///
    /// Each release says it of itself. In rows of older versions, which do not, a verdict after a sealed
    /// exam is one of three, and an accepted candidate's score one of 1/quantum + 1.
    private var releasedBits: Double {
        let quantum = chronicle.genesis.releaseQuantum ?? 0.05
        let levels = quantum > 0 && quantum <= 1 ? (1 / quantum).rounded() + 1 : 10_001
        var bits = chronicle.baseline?.released == nil ? 0 : Logarithm.base2(levels)
        for candidate in chronicle.candidates {
            if let told = candidate.told {
                bits += told.total
            } else if candidate.sealedMean != nil {
                bits += Logarithm.base2(3)
                if candidate.released != nil { bits += Logarithm.base2(levels) }
            }
        }
        return bits
    }
}
