internal import Workspace
/// Every candidate with its verdict, its reasons and what it changed.
struct CandidateSection {
    /// More lines than a person reads; the rest is in the store.
    private static let maximumLines = 1_500
    private static let maximumExcerpt = 160
    /// The scalars that are shown of one line of a difference; a hundred of them count as a line.
    private static let maximumLine = 1_000

    private let chronicle: Chronicle
    private let texts: CandidateTexts

    init(_ chronicle: Chronicle, _ candidateTexts: @escaping (String) -> [String: String]?) {
        self.chronicle = chronicle
        texts = CandidateTexts(candidateTexts)
    }

    var markup: Markup {
        let (candidates, note) = chronicle.shown(chronicle.candidates)
        let content: Markup =
            candidates.isEmpty
            ? "<p class=\"empty\">No candidate was submitted yet.</p>"
            : note + candidates.map(article).joined()
        return Part.section("candidates", "Candidates", content)
    }

    private func article(_ candidate: Candidate) -> Markup {
        """
        <article class="\(candidate.verdict.rawValue)">
        <h3><svg class="key mark \(candidate.verdict.rawValue)" width="18" height="18" \
        viewBox="-9 -9 18 18" aria-hidden="true">\(candidate.verdict.sign)</svg> \
        \(candidate.name.capitalizedFirst) <span class="verdict">\(candidate.verdict.words(candidate.step))</span></h3>
        \(hypothesis(candidate))\(forecast(candidate))
        <p class="figures">\(figures(candidate))</p>
        \(reasons(candidate))
        \(promoted(candidate))
        \(findings(candidate))
        \(difference(candidate))
        </article>

        """
    }

    private func hypothesis(_ candidate: Candidate) -> Markup {
        guard let words = candidate.hypothesis, !words.isEmpty else { return "" }
        return
            "<blockquote class=\"prose\" title=\"written by the coding agent\">\(prose: words)</blockquote>"
    }

    /// What the manifest said would happen; names that are no train task are counted, not shown.
    private func forecast(_ candidate: Candidate) -> Markup {
        let parts: [(String, [String])] = [
            ("Expected to fix", candidate.expectedFixes), ("At risk", candidate.tasksAtRisk),
        ]
        let aim = candidate.targetCluster.map { words -> Markup in
            "<div class=\"promoted\">Aims at: \(words)</div>"
        }
        return aim.orNothing
            + parts.map { name, tasks -> Markup in
                let known = tasks.filter(chronicle.genesis.trainTasks.contains)
                guard !tasks.isEmpty else { return "" }
                let others = Figures.count(tasks.count - known.count, "name")
                let note = known.count == tasks.count ? "" : "\(others) of no train task"
                let list: Markup = known.isEmpty ? "" : Part.tags(known)
                return "<div class=\"promoted\">\(name): \(list)\(note)</div>"
            }.joined()
    }

    private func figures(_ candidate: Candidate) -> Markup {
        var facts: [Markup] = []
        if let score = candidate.sealedMean {
            let other = candidate.incumbentMean ?? candidate.bestBefore
            let against = other.map { " against \(Figures.exact($0))" } ?? ""
            facts.append("sealed <b>\(Figures.exact(score))</b>\(against)")
        } else {
            facts.append("no sealed exam")
        }
        if !candidate.underFloors.isEmpty {
            let names = candidate.underFloors.joined(separator: ", ")
            facts.append("<b>under the floor</b> of \(names)")
        }
        if let released = candidate.released {
            facts.append("released as <b>\(Figures.released(released))</b>")
        }
        if let told = candidate.told { facts.append("told \(told.words)") }
        facts.append("suite <b>\(candidate.suite)</b>")
        if let twins = gap(of: candidate) { facts.append("\(twins)") }
        if let size = candidate.size { facts.append("\(size) bytes") }
        if let ticket = candidate.ticket { facts.append("ticket \(ticket)") }
        if let commit = candidate.commit {
            facts.append("commit <code>\(Figures.short(commit))</code>")
        }
        facts.append("SHA-256 <code>\(Figures.short(candidate.digest))</code>")
        return facts.dropFirst().reduce(facts[0]) { $0 + " · " + $1 }
    }

    /// How much better the train tasks went than their renamed twins in the last sealed exam of it.
    private func gap(of candidate: Candidate) -> String? {
        let exams = chronicle.exams.filter {
            $0.purpose == "sealed" && $0.iteration == candidate.iteration
        }
        guard let twins = exams.last?.twins else { return nil }
        let sign = twins.gap > 0 ? "+" : ""
        return "train tasks against renamed twins \(sign)\(Figures.decimal(twins.gap, places: 2)) "
            + "over \(Figures.count(twins.pairs, "pair"))"
    }

    private func reasons(_ candidate: Candidate) -> Markup {
        guard !candidate.reasons.isEmpty else { return "" }
        let items = candidate.reasons.map { "<li>\($0)</li>\n" as Markup }
        return "<ol class=\"reasons\">\n\(items.joined())</ol>"
    }

    private func promoted(_ candidate: Candidate) -> Markup {
        guard candidate.verdict == .accepted,
            let promotion = chronicle.promotions.first(where: {
                $0.iteration != nil && $0.iteration == candidate.iteration
            }), !promotion.tasks.isEmpty
        else { return "" }
        return
            "<div class=\"promoted\">Newly passing train tasks: \(Part.tags(promotion.tasks))</div>"
    }

    private func findings(_ candidate: Candidate) -> Markup {
        guard !candidate.findings.isEmpty else { return "" }
        let texts = texts.of(candidate.digest) ?? [:]
        let items = candidate.findings.map { finding -> Markup in
            let shown = excerpt(of: finding, texts).map { line -> Markup in
                "<div><code>\(code: line)</code></div>"
            }
            return "<li>\(finding.words)\(shown.orNothing)</li>\n"
        }
        return "<div class=\"findings\"><b>Audit</b><ul>\n\(items.joined())</ul></div>"
    }

    /// The line that a finding is of, cut where nobody reads on.
    private func excerpt(of finding: Finding, _ texts: [String: String]) -> String? {
        guard let number = finding.line, number > 0,
            let text = finding.file.map({ texts[$0] })
                ?? (texts.count == 1 ? texts.first?.value : nil)
        else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard number <= lines.count else { return nil }
        let line = lines[number - 1]
        let start = line.prefix(Self.maximumExcerpt)
        return String(start) + (start.count < line.count ? "…" : "")
    }

    private func difference(_ candidate: Candidate) -> Markup {
        guard let base = candidate.base, let old = texts.of(base),
            let new = texts.of(candidate.digest)
        else { return "<p class=\"empty\">The texts that a difference needs are not kept.</p>" }
        let paths = Set(old.keys).union(new.keys).sorted()
        let changes = paths.map { path in
            (path, UnifiedDiff(from: old[path] ?? "", to: new[path] ?? ""))
        }.filter { !$0.1.hunks.isEmpty }
        guard !changes.isEmpty else {
            return "<p class=\"empty\">The file is the same as the best before it.</p>"
        }
        let (added, removed) = changes.reduce((0, 0)) {
            ($0.0 + $1.1.addedCount, $0.1 + $1.1.removedCount)
        }
        var left = Self.maximumLines
        let text = changes.map { path, diff -> Markup in
            let name: Markup = paths.count > 1 ? "<span class=\"hunk\">\(path)</span>\n" : ""
            return name + lines(of: diff, &left)
        }
        return """
            <details>
            <summary>Difference to the best before it: <span class="plus">+\(added)</span> \
            <span class="minus">−\(removed)</span></summary>
            <p class="note">from <code>\(base)</code> to <code>\(candidate.digest)</code></p>
            <pre class="diff" tabindex="0">\(text.joined())</pre>
            </details>
            """
    }

    private func lines(of diff: UnifiedDiff, _ left: inout Int) -> Markup {
        var text: Markup = ""
        for hunk in diff.hunks {
            text += "<span class=\"hunk\">\(hunk.heading)</span>\n"
            for line in hunk.lines {
                guard left > 0 else {
                    return text
                        + "<span class=\"hunk\">… cut here; `invigilator diff` has it all</span>\n"
                }
                // Scalars, because one character can be as long as a file.
                let scalars = line.text.unicodeScalars
                let start = scalars.prefix(Self.maximumLine)
                left -= 1 + start.count / 100
                let isWhole = start.endIndex == scalars.endIndex
                let shown = isWhole ? line.text : String(start) + "…"
                text +=
                    "<span class=\"\(line.change.name)\">\(line.change.mark)\(code: shown)</span>\n"
                if !line.isEnded {
                    text += "<span class=\"hunk\">\\ No newline at end of file</span>\n"
                }
            }
        }
        return text
    }
}

extension Candidate.Verdict {
    /// The verdict with the step that gave it.
    func words(_ step: Int?) -> String {
        switch (self, step) {
        case (.rejected, 1): "rejected by the regression suite"
        case (.rejected, 2): "rejected by the sealed exam"
        case (.rejected, 0): "rejected before any exam"
        case (.accepted, _), (.rejected, _), (.void, _), (.undecided, _): rawValue
        }
    }
}

extension UnifiedDiff.Change {
    /// The class of such a line in the style sheet.
    var name: String {
        switch self {
        case .kept: "kept"
        case .removed: "minus"
        case .added: "plus"
        }
    }
}

extension String {
    /// The same with a large first letter.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// The texts of candidates, each read once: several have one base, and git is asked for each.
private final class CandidateTexts {
    private let read: (String) -> [String: String]?
    private var known: [String: [String: String]?] = [:]

    init(_ read: @escaping (String) -> [String: String]?) { self.read = read }

    func of(_ digest: String) -> [String: String]? {
        if let texts = known[digest] { return texts }
        let texts = read(digest)
        known[digest] = .some(texts)
        return texts
    }
}
