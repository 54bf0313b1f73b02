/// A relative path that names something beneath a directory and nothing else.
///
/// Its components are 1 to 128 bytes of letters, digits, `.`, `_` and `-`, none of them `.` or
/// `..`, at most eight of them. So it can be joined to a directory handle without any further
/// look at it. It says nothing about symbolic links: whoever opens it refuses those.
public struct BeneathPath: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The path's text, components joined by `/`.
    public let text: String

    /// Checks a text.
    ///
    /// - Parameter text: the text from outside.
    /// - Throws: ``WorkspaceError/path(text:reason:)``.
    public init(_ text: String) throws(WorkspaceError) {
        guard !text.isEmpty else { throw .path(text: text, reason: "the path is empty") }
        guard !text.hasPrefix("/") else {
            throw .path(text: text, reason: "the path is absolute")
        }
        let components = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard components.count <= 8 else {
            throw .path(text: text, reason: "the path has more than 8 components")
        }
        for component in components {
            try Self.check(component, of: text)
        }
        self.text = text
    }

    private static func check(
        _ component: Substring.UTF8View.SubSequence,
        of text: String
    ) throws(WorkspaceError) {
        guard (1...128).contains(component.count) else {
            throw .path(text: text, reason: "a component is empty or longer than 128 bytes")
        }
        guard !component.elementsEqual(".".utf8), !component.elementsEqual("..".utf8) else {
            throw .path(text: text, reason: "a component is «.» or «..»")
        }
        guard component.allSatisfy(Self.isAllowed) else {
            throw .path(
                text: text,
                reason: "a component holds something other than letters, digits, «.», «_», «-»"
            )
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default:
            false
        }
    }

    /// The path's components, in order; never empty.
    public var components: [String] {
        text.split(separator: "/").map(String.init)
    }

    /// The path's text.
    public var description: String { text }

    /// Orders two paths by their bytes.
    ///
    /// - Parameters:
    ///   - left: one path.
    ///   - right: the other path.
    /// - Returns: whether the first comes before the second.
    public static func < (left: BeneathPath, right: BeneathPath) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
