/// The plot and the same values as a table.
struct ScoreSection {
    private let chronicle: Chronicle

    init(_ chronicle: Chronicle) { self.chronicle = chronicle }

    var markup: Markup {
        Part.section(
            "scores",
            "The ratchet",
            """
            <p>Mean reward over the sealed tasks. The line moves when a candidate is accepted and \
            never falls; the coding agent is told the released values alone.</p>
            <figure>
            \(RatchetPlot(chronicle).markup)
            <figcaption>\(legend)</figcaption>
            </figure>
            <details>
            <summary>The values as a table</summary>
            \(table)
            </details>
            """
        )
    }

    private var legend: Markup {
        let entries: [(String, Markup, String)] = [
            ("exact", "<path class=\"exact\" d=\"M-9 0H9\"/>", "best exact"),
            ("released", "<path class=\"released\" d=\"M-9 0H9\"/>", "best released"),
            ("accepted", Candidate.Verdict.accepted.sign, "accepted"),
            ("rejected", Candidate.Verdict.rejected.sign, "rejected"),
            ("void", Candidate.Verdict.void.sign, "void"),
            (
                "told", "<rect x=\"-6.5\" y=\"-6.5\" width=\"13\" height=\"13\" rx=\"1.5\"/>",
                "released score"
            ),
            ("floor", "<path class=\"floor\" d=\"M-9 0H9\"/>", floors),
        ]
        let items = entries.map { name, shape, words -> Markup in
            """
            <li><svg class="key mark \(name)" width="22" height="18" viewBox="-11 -9 22 18" \
            aria-hidden="true">\(shape)</svg> \(words)</li>
            """
        }
        return """
            <ul class="legend">\(items.joined())</ul>\
            <p class="note">A mark on the lowest line, “–”, is a candidate that was judged without \
            a sealed exam.</p>
            """
    }

    private var floors: String {
        let known = chronicle.floors.map { "\($0.name) \(Figures.exact($0.sealedMean))" }
        return known.isEmpty ? "floors, not measured" : "floors: " + known.joined(separator: ", ")
    }

    private var table: Markup {
        var rows: [[Markup]] = [
            [
                "baseline", "", "\(Figures.exact(chronicle.baseline?.sealedMean))",
                "\(Figures.released(chronicle.baseline?.released))", "", "",
            ]
        ]
        let (candidates, note) = chronicle.shown(chronicle.candidates)
        for candidate in candidates {
            rows.append([
                "\(candidate.name)", "\(candidate.verdict.rawValue)",
                "\(Figures.exact(candidate.sealedMean))",
                "\(Figures.released(candidate.released))", "\(candidate.suite)",
                "\(Figures.short(candidate.digest))",
            ])
        }
        for floor in chronicle.floors {
            rows.append([
                "floor \(floor.name)", "", "\(Figures.exact(floor.sealedMean))",
                "\(Figures.released(floor.released))", "", "",
            ])
        }
        return note
            + Part.table(
                "Sealed scores",
                ["Candidate", "Verdict", "Exact", "Released", "Suite", "Digest"],
                rows
            )
    }
}

extension Candidate {
    /// "candidate 3", or a part of its digest while it has no number.
    var name: String {
        iteration.map { "candidate \($0)" } ?? "candidate \(Figures.short(digest))"
    }

    /// "7 of 8" tasks of the suite, where it was run.
    var suite: String {
        guard let suitePassed, let suiteTotal else { return "not run" }
        return suiteTotal == 0 ? "empty" : "\(suitePassed) of \(suiteTotal)"
    }
}

/// How the regression suite grew.
struct SuiteSection {
    private let chronicle: Chronicle

    init(_ chronicle: Chronicle) { self.chronicle = chronicle }

    var markup: Markup {
        let (grown, note) = chronicle.shown(chronicle.promotions.filter { !$0.tasks.isEmpty })
        let rows = grown.map { promotion -> [Markup] in
            [
                "\(promotion.iteration.map { "\($0)" } ?? "none")",
                "\(bar(promotion.suiteSize))", "+\(promotion.tasks.count)",
                Part.tags(promotion.tasks),
            ]
        }
        let content: Markup =
            rows.isEmpty
            ? "<p class=\"empty\">No task was promoted: no accepted candidate fixed a train task that failed before.</p>"
            : note
                + Part.table(
                    "Train tasks that were promoted",
                    ["Iteration", "Suite size", "New", "Tasks"],
                    rows
                )
        return Part.section(
            "suite",
            "The regression suite",
            """
            <p>A train task that an accepted candidate newly passes enters the suite, and later \
            candidates must keep passing it.</p>
            \(content)
            \(apart)
            """
        )
    }

    /// What is kept out of the suite, and why.
    private var apart: Markup {
        let flaky = chronicle.quarantined
        let kept: Markup =
            flaky.isEmpty
            ? "" : "<p>Flaky under one candidate, so not in the suite:</p>\(Part.tags(flaky))"
        let retired = chronicle.retirements.map { retirement -> Markup in
            "<li><code>\(retirement.task)</code> \(prose: retirement.reason)</li>\n"
        }
        guard !retired.isEmpty else { return kept }
        return kept + "<p>Retired by the operator:</p><ul class=\"notes\">\(retired.joined())</ul>"
    }

    private func bar(_ size: Int) -> Markup {
        let full = max(chronicle.promotions.last?.suiteSize ?? 1, 1)
        return """
            <span class="level"><svg class="bar" width="120" height="12" viewBox="0 0 120 12" aria-hidden="true">\
            <rect width="120" height="12" rx="2"/>\
            <rect class="part" width="\(120 * Double(size) / Double(full))" height="12" rx="2"/></svg> \
            \(size)</span>
            """
    }
}

/// What was attempted and which layer answered.
struct RefusalSection {
    private let chronicle: Chronicle

    init(_ chronicle: Chronicle) { self.chronicle = chronicle }

    var markup: Markup {
        let rows = chronicle.refusals.map { group -> [Markup] in
            [
                "<b class=\"\(group.kind)\">\(group.kind)</b>",
                "<span class=\"prose\">\(prose: group.sentence)</span>",
                "<b>\(group.layer)</b>", "\(group.author)", "\(group.count)",
                "\(group.iteration.map { "\($0)" } ?? "none")",
            ]
        }
        let content: Markup =
            rows.isEmpty
            ? "<p class=\"empty\">Nothing was refused.</p>"
            : Part.table(
                "Refusals",
                [
                    "Kind", "What, and what became of it", "Refused by", "Who", "Times",
                    "First in iteration",
                ],
                rows
            )
        return Part.section(
            "refusals",
            "Refusals",
            """
            <p>Each was answered by the named layer and recorded. An <b class="attempt">attempt</b> \
            makes sense as a cheat alone; what was <b class="denied">denied</b> is not allowed or was \
            ended by a limit; what was <b class="adjusted">adjusted</b> went on with pinned values.</p>
            \(content)
            """
        )
    }
}

/// The exams in totals.
struct ExamSection {
    private let chronicle: Chronicle

    init(_ chronicle: Chronicle) { self.chronicle = chronicle }

    var markup: Markup {
        let (exams, note) = chronicle.shown(chronicle.exams)
        let rows = exams.map { exam -> [Markup] in
            let faults = exam.faults.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
            let length = exam.milliseconds.map { Figures.duration(milliseconds: Int64($0)) }
            return [
                "\(exam.iteration.map { "\($0)" } ?? "none")", "\(exam.purpose)",
                "\(exam.split == "test" ? "test, sealed" : exam.split)",
                "\(Figures.exact(exam.mean))",
                "\(exam.passed.map { "\($0)" } ?? "?") of \(exam.count.map { "\($0)" } ?? "?")",
                "\(faults.isEmpty ? "none" : faults)", "\(length ?? "not recorded")",
            ]
        }
        let summary =
            Figures.count(chronicle.exams.count, "exam") + ", "
            + Figures.count(chronicle.sandboxCount, "sandbox launch", "sandbox launches")
        return Part.section(
            "exams",
            "Exams",
            """
            <p>Totals only. The page shows no outcome of a single task, sealed or not.</p>
            <details>
            <summary>\(summary)</summary>
            \(note)\(Part.table(
                "Exams",
                ["Iteration", "Purpose", "Split", "Mean", "Passed", "Faults", "Length"], rows))
            </details>
            """
        )
    }
}
