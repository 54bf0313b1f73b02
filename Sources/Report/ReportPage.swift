// The report: one HTML page made from the ledger's rows and the texts of the candidates, and
// from nothing else. It runs no script, loads nothing and prints as it is.

internal import Crypto
internal import FoundationEssentials
public import Ledger

/// The page that a person opens after a run.
public enum ReportPage {
    /// The entries of a list that a person may still read.
    public static let usualLength = 200

    /// Renders the whole page.
    ///
    /// - Parameters:
    ///   - entries: The ledger's rows in order.
    ///   - verification: What verifying them found; shown at the top, damaged or not.
    ///   - newest: How many of its newest entries each list shows, at least 0; `nil` for all.
    ///   - candidateTexts: The text of each file of a candidate, by the candidate's digest, or nothing
    ///     when it is not kept.
    /// - Returns: UTF-8 text of a self-contained HTML document.
    public static func render(
        entries: [LedgerEntry],
        verification: VerificationReport,
        newest: Int? = usualLength,
        candidateTexts: @escaping (String) -> [String: String]?
    ) -> String {
        let chronicle = Chronicle(entries, newest: newest)
        let experiment = chronicle.genesis.experiment ?? "unnamed experiment"
        let sections: [Markup] = [
            Overview(chronicle, verification).markup,
            ScoreSection(chronicle).markup,
            CandidateSection(chronicle, candidateTexts).markup,
            ManifestSection(chronicle).markup,
            SuiteSection(chronicle).markup,
            RefusalSection(chronicle).markup,
            ExamSection(chronicle).markup,
            RecordSection(chronicle, verification).markup,
        ]
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="color-scheme" content="light dark">
            <title>Invigilator report: \(experiment)</title>
            <style>\(Markup(trusting: StyleSheet.text))</style>
            </head>
            <body>
            <a class="skip" href="#candidates">Skip to the candidates</a>
            <main>
            \(sections.joined())
            </main>
            </body>
            </html>

            """
        return page.text
    }

    /// Nothing is loaded, nothing runs, and the one style sheet is known by its hash.
    private static var policy: String {
        let digest = SHA256.hash(data: Data(StyleSheet.text.description.utf8))
        let hash = Data(digest).base64EncodedString()
        return "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'"
    }
}

/// Parts that several sections use.
enum Part {
    /// A headed section.
    static func section(_ id: String, _ title: String, _ content: Markup) -> Markup {
        """
        <section id="\(id)" aria-labelledby="\(id)-title">
        <h2 id="\(id)-title">\(title)</h2>
        \(content)
        </section>

        """
    }

    /// A table that scrolls sideways by itself on a narrow screen.
    static func table(_ caption: String, _ columns: [String], _ rows: [[Markup]]) -> Markup {
        let heads = columns.map { "<th scope=\"col\">\($0)</th>" as Markup }.joined()
        let lines = rows.map { row -> Markup in
            let cells = row.enumerated().map { index, cell -> Markup in
                index == 0 ? "<th scope=\"row\">\(cell)</th>" : "<td>\(cell)</td>"
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        return """
            <div class="scroll" role="region" tabindex="0" aria-label="\(caption)">
            <table>
            <caption>\(caption)</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(lines.joined())</tbody>
            </table>
            </div>
            """
    }

    /// Names with their values.
    static func facts(_ facts: [(name: String, value: Markup)]) -> Markup {
        let pairs = facts.map { fact -> Markup in
            "<div><dt>\(fact.name)</dt><dd>\(fact.value)</dd></div>\n"
        }
        return "<dl class=\"facts\">\n\(pairs.joined())</dl>"
    }

    /// A digest of which the page shows all digits.
    static func digest(_ digest: String?) -> Markup {
        guard let digest else { return "not recorded" }
        return "<code class=\"digest\">\(digest)</code>"
    }

    /// Names in a row.
    static func tags(_ names: [String]) -> Markup {
        let items = names.map { "<li><code>\($0)</code></li>" as Markup }
        return "<ul class=\"tags\">\(items.joined())</ul>"
    }
}
