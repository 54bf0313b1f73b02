/// The sealed scores over the iterations, as SVG inside the page.
///
/// Places are given in percent of the width and in pixels of the height, so that the drawing
/// fills any width while its letters keep their size.
struct RatchetPlot {
    private static let top = 18.0
    private static let floor = 250.0
    private static let strip = 282.0
    private static let height = 326.0
    private static let left = 9.0
    private static let right = 96.5

    private let chronicle: Chronicle
    private let candidates: [Candidate]

    init(_ chronicle: Chronicle) {
        self.chronicle = chronicle
        candidates = chronicle.candidates
    }

    /// The drawing with its title and description.
    var markup: Markup {
        """
        <svg class="plot" role="img" aria-labelledby="plot-title plot-text" height="\(Int(Self.height))">
        <title id="plot-title">Sealed score by candidate</title>
        <desc id="plot-text">\(summary)</desc>
        \(grid)\(floors)\(released)\(exact)\(marks)\(ticks)
        </svg>
        """
    }

    private var summary: String {
        let before = Figures.exact(chronicle.baseline?.sealedMean)
        let after = Figures.exact(chronicle.bestExact)
        return "From \(before) at the baseline to \(after) after "
            + Figures.count(chronicle.accepted.count, "accepted candidate") + " of "
            + "\(candidates.count). The table below has every value."
    }

    private var grid: Markup {
        let lines = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map { score -> Markup in
            """
            <line class="grid" x1="\(percent: Self.left - 1.5)" x2="\(percent: Self.right + 1.5)" \
            y1="\(y(score))" y2="\(y(score))"/>\
            <text class="scale" x="\(percent: Self.left - 2.5)" y="\(y(score) + 4)" \
            text-anchor="end">\(Figures.decimal(score, places: 1))</text>
            """
        }.joined()
        guard candidates.contains(where: { $0.sealedMean == nil }) else { return lines }
        return lines + """
            <line class="grid strip" x1="\(percent: Self.left - 1.5)" \
            x2="\(percent: Self.right + 1.5)" y1="\(Self.strip)" y2="\(Self.strip)"/>\
            <text class="scale" x="\(percent: Self.left - 2.5)" y="\(Self.strip + 4)" \
            text-anchor="end">–</text>
            """
    }

    private var floors: Markup {
        chronicle.floors.compactMap { floor -> Markup? in
            guard let score = floor.sealedMean else { return nil }
            return """
                <line class="floor" x1="\(percent: Self.left - 1.5)" \
                x2="\(percent: Self.right + 1.5)" y1="\(y(score))" y2="\(y(score))">\
                <title>floor \(floor.name): \(Figures.exact(score))</title></line>
                """
        }.joined()
    }

    private var exact: Markup {
        stairs("exact") { $0.sealedMean }
            + (chronicle.baseline?.sealedMean).map { score in
                mark(0, score, "baseline", "baseline \(Figures.exact(score))", "<circle r=\"5\"/>")
                    + label(0, score)
            }.orNothing
    }

    private var released: Markup {
        stairs("released") { $0.released }
            + candidates.indices.compactMap { index -> Markup? in
                guard candidates[index].verdict == .accepted, let score = candidates[index].released
                else { return nil }
                return mark(
                    index + 1,
                    score,
                    "told",
                    "released \(Figures.released(score))",
                    "<rect x=\"-6.5\" y=\"-6.5\" width=\"13\" height=\"13\" rx=\"1.5\"/>"
                )
            }.joined()
    }

    private var marks: Markup {
        let best = candidates.lastIndex { $0.verdict == .accepted }
        // Beyond some hundred, marks of what was refused hide each other.
        let first = chronicle.newest.map { candidates.count - $0 } ?? 0
        let marked = candidates.indices.filter {
            $0 >= first || candidates[$0].verdict == .accepted
        }
        return marked.map { index in
            let candidate = candidates[index]
            let words =
                "candidate \(candidate.iteration ?? index + 1): "
                + "\(candidate.verdict.rawValue), \(Figures.exact(candidate.sealedMean))"
            let drawn = mark(
                index + 1,
                candidate.sealedMean,
                candidate.verdict.rawValue,
                words,
                candidate.verdict.sign
            )
            guard index == best, let score = candidate.sealedMean else { return drawn }
            return drawn + label(index + 1, score)
        }.joined()
    }

    private var ticks: Markup {
        let step = max(1, (candidates.count + 11) / 12)
        let numbers = stride(from: 0, through: candidates.count, by: step)
        return numbers.map { place -> Markup in
            let name = place == 0 ? "base" : "\(candidates[place - 1].iteration ?? place)"
            return """
                <text class="scale" x="\(percent: x(place))" y="\(Self.height - 12)" \
                text-anchor="middle">\(name)</text>
                """
        }.joined()
    }

    /// A line that stays level until an accepted candidate lifts it.
    private func stairs(_ name: String, _ score: (Candidate) -> Double?) -> Markup {
        let first = name == "exact" ? chronicle.baseline?.sealedMean : chronicle.baseline?.released
        var level = first
        var start = 0
        var lines: Markup = ""
        for (index, candidate) in candidates.enumerated() where candidate.verdict == .accepted {
            guard let next = score(candidate) else { continue }
            if let level {
                lines += line(name, x(start), level, x(index + 1), level)
                lines += line(name, x(index + 1), level, x(index + 1), next)
            }
            level = next
            start = index + 1
        }
        if let level { lines += line(name, x(start), level, Self.right + 1.5, level) }
        return lines
    }

    private func line(
        _ name: String,
        _ x1: Double,
        _ from: Double,
        _ x2: Double,
        _ to: Double
    ) -> Markup {
        """
        <line class="\(name)" x1="\(percent: x1)" y1="\(y(from))" x2="\(percent: x2)" y2="\(y(to))"/>
        """
    }

    private func mark(
        _ place: Int,
        _ score: Double?,
        _ name: String,
        _ words: String,
        _ shape: Markup
    ) -> Markup {
        """
        <svg class="mark \(name)" x="\(percent: x(place))" y="\(score.map(y) ?? Self.strip)" \
        overflow="visible"><title>\(words)</title>\(shape)</svg>
        """
    }

    private func label(_ place: Int, _ score: Double) -> Markup {
        """
        <text class="value" x="\(percent: x(place) + (place == 0 ? -1.0 : 1.0))" \
        y="\(y(score) + (place == 0 ? 22 : -13))" \
        text-anchor="\(place == 0 ? "start" : "end")">\(Figures.decimal(score, places: 3))</text>
        """
    }

    private func x(_ place: Int) -> Double {
        let last = max(candidates.count, 1)
        return Self.left + (Self.right - Self.left) * Double(place) / Double(last)
    }

    private func y(_ score: Double) -> Double {
        Self.floor - (Self.floor - Self.top) * min(max(score, 0), 1)
    }
}

extension Candidate.Verdict {
    /// The shape that stands for a verdict, drawn around its place; no two differ by colour alone.
    var sign: Markup {
        switch self {
        case .accepted: "<circle r=\"5.5\"/>"
        case .rejected: "<path d=\"M-5-5 5 5M-5 5 5-5\"/>"
        case .void: "<path d=\"M0-7 7 0 0 7-7 0Z\"/>"
        case .undecided: "<circle r=\"5\"/>"
        }
    }
}

extension Optional where Wrapped == Markup {
    /// The markup, or none.
    var orNothing: Markup { self ?? "" }
}

extension Markup.Interpolation {
    mutating func appendInterpolation(_ value: Double) {
        appendLiteral(Figures.decimal(value, places: 1))
    }
    mutating func appendInterpolation(percent value: Double) {
        appendLiteral(Figures.decimal(value, places: 2) + "%")
    }
}
