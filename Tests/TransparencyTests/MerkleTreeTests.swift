import TestSupport
import Testing
import Transparency

@Suite("Merkle trees and their proofs")
struct MerkleTreeTests {
    /// The leaves, roots and proofs that Certificate Transparency's implementations share.
    static let leaves = [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ].map(bytes)
    static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    static let tree = MerkleTree(leaves)

    static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).map { start in
            let digits = Array(hex)[start...].prefix(2)
            return UInt8(String(digits), radix: 16) ?? 0
        }
    }

    static func large(_ size: Int) -> MerkleTree {
        MerkleTree((0..<size).map { Array("leaf \($0)".utf8) })
    }

    @Test("the roots of Certificate Transparency's test tree are ours")
    func knownRoots() {
        #expect(
            MerkleTree().root.hex
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        for (index, root) in Self.roots.enumerated() {
            #expect(Self.tree.root(of: index + 1)?.hex == root)
        }
        #expect(Self.tree.root(of: 9) == nil && Self.tree.root(of: -1) == nil)
    }

    @Test(
        "its audit paths are ours",
        arguments: [
            (0, 1, []),
            (
                0, 8,
                [
                    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
                ]
            ),
            (
                5, 8,
                [
                    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                ]
            ),
            (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
            (
                1, 5,
                [
                    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                ]
            ),
        ] as [(Int, Int, [String])]
    )
    func knownPaths(index: Int, size: Int, path: [String]) {
        #expect(Self.tree.inclusionProof(of: index, in: size)?.map(\.hex) == path)
    }

    @Test(
        "its consistency proofs are ours",
        arguments: [
            (1, 1, []),
            (
                1, 8,
                [
                    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
                ]
            ),
            (
                6, 8,
                [
                    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                ]
            ),
            (
                2, 5,
                [
                    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                ]
            ),
            (
                6, 7,
                [
                    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                    "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                ]
            ),
        ] as [(Int, Int, [String])]
    )
    func knownConsistency(old: Int, new: Int, proof: [String]) {
        #expect(Self.tree.consistencyProof(from: old, to: new)?.map(\.hex) == proof)
    }

    @Test("each leaf of each tree is proven, and nowhere else, nor with a changed path")
    func inclusion() throws {
        let tree = Self.large(33)
        for size in 1...33 {
            let root = try #require(tree.root(of: size))
            for index in 0..<size {
                let leaf = TreeHash.leaf(Array("leaf \(index)".utf8))
                let path = try #require(tree.inclusionProof(of: index, in: size))
                func proven(
                    _ leaf: TreeHash,
                    _ index: Int,
                    _ size: Int,
                    _ path: [TreeHash]
                ) -> Bool {
                    MerkleProof.isIncluded(leaf, at: index, inTreeOf: size, root: root, path: path)
                }
                #expect(proven(leaf, index, size, path))
                for other in 0..<size where other != index {
                    #expect(!proven(leaf, other, size, path), "\(index) as \(other) of \(size)")
                }
                #expect(!proven(leaf, index, 2 * size, path))
                #expect(!proven(.leaf([1]), index, size, path))
                #expect(!proven(leaf, index, size, path + [root]))
                #expect(path.isEmpty || !proven(leaf, index, size, path.dropLast()))
                for place in path.indices {
                    var changed = path
                    changed[place] = .leaf(changed[place].bytes)
                    #expect(!proven(leaf, index, size, changed))
                }
            }
        }
        #expect(tree.inclusionProof(of: 33, in: 33) == nil)
        #expect(tree.inclusionProof(of: 0, in: 34) == nil)
        #expect(tree.inclusionProof(of: -1, in: 2) == nil)
    }

    @Test("each tree continues each earlier one, and no other root or proof shows it")
    func consistency() throws {
        let tree = Self.large(33)
        for new in 1...33 {
            let later = try #require(tree.root(of: new))
            for old in 0...new {
                let earlier = try #require(tree.root(of: old))
                let proof = try #require(tree.consistencyProof(from: old, to: new))
                func shown(_ first: TreeHash, _ second: TreeHash, _ proof: [TreeHash]) -> Bool {
                    MerkleProof.isConsistent(from: (old, first), to: (new, second), proof: proof)
                }
                #expect(shown(earlier, later, proof), "\(old) to \(new)")
                #expect(!shown(.leaf([1]), later, proof))
                #expect(old == 0 || !shown(earlier, .leaf([1]), proof))
                #expect(!shown(earlier, later, proof + [later]))
                #expect(!shown(earlier, later, [later] + proof))
                #expect(proof.isEmpty || !shown(earlier, later, proof.dropLast()))
                for place in proof.indices {
                    var changed = proof
                    changed[place] = .leaf(changed[place].bytes)
                    #expect(!shown(earlier, later, changed), "\(old) to \(new) at \(place)")
                }
            }
        }
        let both = (tree.root(of: 3), tree.root(of: 2))
        let (three, two) = (try #require(both.0), try #require(both.1))
        #expect(!MerkleProof.isConsistent(from: (3, three), to: (2, two), proof: []))
        #expect(tree.consistencyProof(from: 3, to: 2) == nil)
        #expect(tree.consistencyProof(from: 0, to: 34) == nil)
    }

    @Test("a tree with any leaf changed has another root, and no proof to the tree before")
    func forks() throws {
        let honest = Self.large(40)
        let root = try #require(honest.root(of: 25))
        for changed in 0..<25 {
            let fork = MerkleTree(
                (0..<40).map { Array((($0 == changed) ? "forged" : "leaf \($0)").utf8) }
            )
            #expect(fork.root(of: 25) != root)
            let proof = try #require(fork.consistencyProof(from: 25, to: 40))
            #expect(
                !MerkleProof.isConsistent(from: (25, root), to: (40, fork.root), proof: proof)
            )
        }
    }
}
