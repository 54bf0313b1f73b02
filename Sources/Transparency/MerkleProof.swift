// How proofs are checked by who has no tree (RFC 9162, sections 2.1.3.2 and 2.1.4.2, whose trees are
// those of RFC 6962). Not derived from the code that makes them.

/// Checks of proofs about trees.
public enum MerkleProof {
    /// Whether a leaf stands at a place of the tree with a root.
    ///
    /// - Parameters:
    ///   - leaf: the leaf's hash.
    ///   - index: its place; the first is 0.
    ///   - size: the number of leaves.
    ///   - root: the root.
    ///   - path: the audit path.
    /// - Returns: whether the path proves it.
    public static func isIncluded(
        _ leaf: TreeHash,
        at index: Int,
        inTreeOf size: Int,
        root: TreeHash,
        path: [TreeHash]
    ) -> Bool {
        guard index >= 0, index < size else { return false }
        var climb = Climb(first: index, last: size - 1)
        var found = leaf
        for other in path {
            guard climb.last > 0 else { return false }
            found = climb.goesLeft ? .node(other, found) : .node(found, other)
            climb.rise()
        }
        return climb.last == 0 && found == root
    }

    /// Whether the tree of one root is the beginning of the tree of another.
    ///
    /// - Parameters:
    ///   - old: size and root of the earlier tree.
    ///   - new: size and root of the later one.
    ///   - proof: the consistency proof.
    /// - Returns: whether it proves that; of a tree without leaves every other one is a continuation.
    public static func isConsistent(
        from old: (size: Int, root: TreeHash),
        to new: (size: Int, root: TreeHash),
        proof: [TreeHash]
    ) -> Bool {
        guard old.size >= 0, old.size <= new.size else { return false }
        if old.size == new.size { return proof.isEmpty && old.root == new.root }
        if old.size == 0 { return proof.isEmpty && old.root == .empty }
        // A perfect tree's root is a node of the later tree, and is left out of the proof.
        let isPerfect = old.size & (old.size - 1) == 0
        let path = isPerfect ? [old.root] + proof : proof
        guard !proof.isEmpty, let seed = path.first else { return false }
        var climb = Climb(first: old.size - 1, last: new.size - 1)
        climb.skipRightEdges()
        var (foundOld, foundNew) = (seed, seed)
        for other in path.dropFirst() {
            guard climb.last > 0 else { return false }
            if climb.goesLeft {
                foundOld = .node(other, foundOld)
                foundNew = .node(other, foundNew)
            } else {
                foundNew = .node(foundNew, other)
            }
            climb.rise()
        }
        return climb.last == 0 && foundOld == old.root && foundNew == new.root
    }

    // Where the path is on each level: the node of the leaf, and the last node of the tree.
    private struct Climb {
        var first: Int
        var last: Int

        var goesLeft: Bool { first & 1 == 1 || first == last }

        mutating func rise() {
            if goesLeft, first & 1 == 0 {
                // A last node without a sibling is the same node on the levels above.
                while first & 1 == 0, first != 0 { shift() }
            }
            shift()
        }

        mutating func skipRightEdges() {
            while first & 1 == 1 { shift() }
        }

        private mutating func shift() {
            first >>= 1
            last >>= 1
        }
    }
}
