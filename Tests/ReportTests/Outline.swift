/// A page taken apart: its elements and attributes, and the text that a person reads.
///
/// Written for pages that this project makes, in which every element is closed; whatever else it
/// meets is a problem.
struct Outline {
    private(set) var text = ""
    private(set) var elements: Set<String> = []
    private(set) var attributes: [(name: String, value: String)] = []
    private(set) var problems: [String] = []
    private var open: [String] = []

    private static let empty: Set = ["meta"]
    private static let blocks: Set = [
        "p", "h1", "h2", "h3", "li", "tr", "div", "section", "article", "details", "summary",
        "caption", "dt", "dd", "blockquote", "figure", "header", "title", "desc", "text", "ul",
        "ol",
    ]

    init(_ page: String) {
        var rest = page[...]
        while let start = rest.firstIndex(of: "<") {
            add(rest[..<start])
            guard let end = rest[start...].firstIndex(of: ">") else {
                problems.append("a tag is not closed")
                return
            }
            tag(String(rest[rest.index(after: start)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        add(rest)
        if !open.isEmpty { problems.append("left open: \(open)") }
        tidy()
    }

    private mutating func add(_ raw: Substring) {
        guard open.last != "style" else { return }
        let isLiteral = open.contains("pre")
        var words = String(raw)
        if !isLiteral { words = words.replacing("\n", with: " ") }
        for (entity, character) in [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
        ] { words = words.replacing(entity, with: character) }
        text += words
    }

    private mutating func tag(_ raw: String) {
        if raw.hasPrefix("!") { return }
        if raw.hasPrefix("/") {
            let name = String(raw.dropFirst())
            if open.popLast() != name { problems.append("unexpected </\(name)>") }
            if Self.blocks.contains(name) { text += "\n" }
            if name == "th" || name == "td" { text += " | " }
            return
        }
        let isClosed = raw.hasSuffix("/")
        let name = String(raw.prefix { $0.isLetter || $0.isNumber })
        elements.insert(name)
        read(attributes: raw.dropFirst(name.count).drop { $0 == "/" })
        if Self.blocks.contains(name) { text += "\n" }
        if name == "li" { text += "- " }
        if ["h1", "h2", "h3"].contains(name) { text += "# " }
        if !isClosed, !Self.empty.contains(name) { open.append(name) }
    }

    private mutating func read(attributes raw: Substring) {
        var rest = raw.drop { $0 == " " }
        while let equals = rest.firstIndex(of: "="), rest[equals...].hasPrefix("=\"") {
            let start = rest.index(equals, offsetBy: 2)
            guard let end = rest[start...].firstIndex(of: "\"") else {
                problems.append("an attribute is not closed: \(raw)")
                return
            }
            attributes.append((String(rest[..<equals]), String(rest[start..<end])))
            rest = rest[rest.index(after: end)...].drop { $0 == " " }
        }
        if !rest.isEmpty, rest != "/", rest != "open" { problems.append("odd attribute: \(rest)") }
    }

    private mutating func tidy() {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let end = line.lastIndex { $0 != " " }
            return end.map { String(line[...$0]) } ?? ""
        }
        text = lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }
}
