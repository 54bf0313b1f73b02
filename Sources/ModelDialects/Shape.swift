internal import StrictJSON

/// What one value of a request may be, and what becomes of it.
///
/// The tables of the dialects are made of these; what no table names does not go upstream.
indirect enum Shape: Sendable {
    /// A text.
    case text
    /// One of these words; another word counts as an unknown member.
    case word([String])
    /// A truth value.
    case truth
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// A number in a range.
    case number(ClosedRange<Double>)
    /// A list.
    case list(Shape, most: Int)
    /// An object of known members.
    case object(Members)
    /// An object whose member of this name says which members it has.
    case tagged(Tagged)
    /// Another shape for a text, a list and an object; nothing where the kind may not stand.
    case kinds(text: Shape? = nil, list: Shape? = nil, object: Shape? = nil)
    /// Any value, in whose place this one stands.
    case constant(JSONValue)
    /// A shape, or `null`, which stays `null`.
    case orNull(Shape)
    /// A text in base64.
    case base64
    /// A `data:` URL in base64 of one of these media types; any other URL is content to be fetched.
    case dataURL([String])
    /// Any JSON value, bounded: the input of a function, a map of the caller's own names.
    case json
    /// A JSON schema, bounded, without references to other documents.
    case schema
    /// What stays away: an event where a kind is given, silent where not.
    case removed(ModelEvent.Kind?)
    /// What refuses the request, and why; `false`, `null` and empty values are no demand.
    case refused(ModelEvent.Kind, String)
    /// A reasoning effort: it stays away, with an event where it is not the pinned one.
    case effort
    /// An object or a list that stays away where nothing is left of it.
    case unlessEmpty(Shape)
    /// A name that the caller gives itself: ours stands in its place, and it stays away from sealed exams.
    case client(ModelEvent.Kind)
    /// What stays away from sealed exams.
    case unsealed(Shape, ModelEvent.Kind)
    /// A tool that the provider would run, or a trace of one: the pin's rule decides.
    case providerTool

    /// The members of an object.
    struct Members: Sendable {
        let shapes: [String: Shape]
        let required: [String]

        init(_ shapes: [String: Shape], required: [String] = []) {
            self.shapes = shapes
            self.required = required
        }

        /// These members and more.
        func and(_ others: [String: Shape], required: [String] = []) -> Members {
            Members(
                shapes.merging(others) { _, new in new },
                required: self.required + required
            )
        }
    }

    /// An object whose shape hangs on one of its members.
    struct Tagged: Sendable {
        /// The member that tells.
        let tag: String
        /// The shape by the tag's value; the tag itself is kept and need not be listed.
        let cases: [String: Members]
        /// What becomes of whole objects with these values of the tag; `""` where there is none.
        let special: [String: Shape]
        /// The shape by the first part of the tag's value, for dated names (`bash_20250124`).
        let prefixes: [String: Members]
        /// The shape where there is no tag.
        let absent: Members?
        /// What becomes of objects with any other tag.
        let otherwise: Shape

        init(
            _ tag: String,
            _ cases: [String: Members],
            special: [String: Shape] = [:],
            prefixes: [String: Members] = [:],
            absent: Members? = nil,
            otherwise: Shape = .removed(.unknownField)
        ) {
            self.tag = tag
            self.cases = cases
            self.special = special
            self.prefixes = prefixes
            self.absent = absent
            self.otherwise = otherwise
        }
    }

    /// An object of these members.
    static func object(_ shapes: [String: Shape], required: [String] = []) -> Shape {
        .object(Members(shapes, required: required))
    }

    /// A count from 0 to a million of millions.
    static let count = Shape.integer(0...1_000_000_000_000)
}
