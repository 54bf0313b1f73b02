/// The rows of an exported ledger, as the leaves of its tree: each row's line without its line feed.
///
/// The first line is the header and the last one the footer. Nothing is verified here.
public enum ExportedRows {
    private static let beginning = Array("{\"body\":".utf8)

    /// The tree over the rows of an export.
    public static func tree(of export: [UInt8]) -> MerkleTree {
        var tree = MerkleTree()
        for line in export.split(separator: UInt8(ascii: "\n")) where line.starts(with: beginning) {
            tree.append(Array(line))
        }
        return tree
    }
}
