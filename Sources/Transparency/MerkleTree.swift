/// A Merkle tree that only grows (RFC 6962, section 2.1), and proofs about it.
///
/// It keeps 32 bytes a leaf. A root or a proof costs one pass over the leaves, which is some tens of
/// milliseconds for 50,000.
public struct MerkleTree: Sendable {
    private var leaves: [TreeHash] = []

    /// Makes a tree without leaves.
    public init() {}

    /// Makes a tree of leaves.
    ///
    /// - Parameter contents: the bytes of each leaf, in order.
    public init(_ contents: some Sequence<[UInt8]>) {
        for content in contents { append(content) }
    }

    /// The number of leaves.
    public var size: Int { leaves.count }

    /// The root over all leaves.
    public var root: TreeHash { hash(of: leaves.indices) }

    /// Adds a leaf.
    public mutating func append(_ content: [UInt8]) { leaves.append(.leaf(content)) }

    /// The root over the first leaves.
    ///
    /// - Parameter size: how many.
    /// - Returns: the root; nothing where the tree has fewer leaves.
    public func root(of size: Int) -> TreeHash? {
        guard (0...leaves.count).contains(size) else { return nil }
        return hash(of: 0..<size)
    }

    /// The audit path of a leaf (section 2.1.1), from its sibling up.
    ///
    /// - Parameters:
    ///   - index: the leaf's place; the first is 0.
    ///   - size: the size of the tree that it is proven in.
    /// - Returns: the path; nothing where there is no such leaf or tree.
    public func inclusionProof(of index: Int, in size: Int) -> [TreeHash]? {
        guard index >= 0, index < size, size <= leaves.count else { return nil }
        var path: [TreeHash] = []
        var range = 0..<size
        while range.count > 1 {
            let middle = range.lowerBound + Self.split(range.count)
            if index < middle {
                path.append(hash(of: middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                path.append(hash(of: range.lowerBound..<middle))
                range = middle..<range.upperBound
            }
        }
        return path.reversed()
    }

    /// The proof that a tree is a beginning of a later one (section 2.1.2).
    ///
    /// - Parameters:
    ///   - old: the size of the earlier tree.
    ///   - new: the size of the later one.
    /// - Returns: the proof, empty where one is empty or both are the same; nothing where there are no
    ///   such trees.
    public func consistencyProof(from old: Int, to new: Int) -> [TreeHash]? {
        guard old >= 0, old <= new, new <= leaves.count else { return nil }
        guard old > 0, old < new else { return [] }
        var proof: [TreeHash] = []
        var range = 0..<new
        // Whether the earlier tree's root is that of the range, so that the verifier knows it already.
        var isWhole = true
        while range.upperBound != old {
            let middle = range.lowerBound + Self.split(range.count)
            if old <= middle {
                proof.append(hash(of: middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                proof.append(hash(of: range.lowerBound..<middle))
                range = middle..<range.upperBound
                isWhole = false
            }
        }
        if !isWhole { proof.append(hash(of: range)) }
        return proof.reversed()
    }

    /// The largest power of two that is smaller than a count of at least 2.
    private static func split(_ count: Int) -> Int {
        1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount)
    }

    // Perfect subtrees from left to right, two of one height merged as soon as they stand side by side.
    private func hash(of range: Range<Int>) -> TreeHash {
        var roots: [TreeHash] = []
        for (count, leaf) in leaves[range].enumerated() {
            roots.append(leaf)
            var merges = (count + 1).trailingZeroBitCount
            while merges > 0, let right = roots.popLast(), let left = roots.popLast() {
                roots.append(.node(left, right))
                merges -= 1
            }
        }
        guard var root = roots.popLast() else { return .empty }
        while let left = roots.popLast() { root = .node(left, root) }
        return root
    }
}
