/// The shortest way from one sequence of lines to another, as Myers described it in 1986.
///
/// Works on numbers that stand for lines. Its time and memory grow with the square of the number
/// of changes, so beyond `maximumChanges` it gives up on the shortest way and replaces the middle
/// as a whole: a hostile pair of texts costs a bounded amount.
struct EditScript {
    /// One step, in terms of line indices counted from 0.
    enum Step: Equatable {
        case keep(old: Int, new: Int)
        case remove(old: Int)
        case add(new: Int)
    }

    static let maximumChanges = 1_000

    let steps: [Step]

    init(from old: [Int], to new: [Int]) {
        var head = 0
        while head < old.count, head < new.count, old[head] == new[head] { head += 1 }
        var tail = 0
        while tail < old.count - head, tail < new.count - head,
            old[old.count - 1 - tail] == new[new.count - 1 - tail]
        { tail += 1 }
        let middle = Self.middle(
            old[head..<(old.count - tail)],
            new[head..<(new.count - tail)]
        )
        steps =
            (0..<head).map { .keep(old: $0, new: $0) } + middle
            + (0..<tail).map {
                .keep(old: old.count - tail + $0, new: new.count - tail + $0)
            }
    }

    private static func middle(_ old: ArraySlice<Int>, _ new: ArraySlice<Int>) -> [Step] {
        guard !old.isEmpty, !new.isEmpty,
            let trace = trace(Array(old), Array(new))
        else {
            return old.indices.map { .remove(old: $0) } + new.indices.map { .add(new: $0) }
        }
        return steps(
            trace,
            oldCount: old.count,
            newCount: new.count,
            oldStart: old.startIndex,
            newStart: new.startIndex
        )
    }

    /// The furthest old index on each diagonal, for each number of changes until the end is met.
    private static func trace(_ old: [Int], _ new: [Int]) -> [[Int]]? {
        let limit = min(old.count + new.count, maximumChanges)
        var furthest = [Int](repeating: 0, count: 2 * limit + 3)
        let middle = limit + 1
        var trace: [[Int]] = []
        for changes in 0...limit {
            trace.append(Array(furthest[(middle - changes - 1)...(middle + changes + 1)]))
            for diagonal in stride(from: -changes, through: changes, by: 2) {
                let down = furthest[middle + diagonal + 1]
                let right = furthest[middle + diagonal - 1] + 1
                let comesDown =
                    diagonal == -changes || (diagonal != changes && right - 1 < down)
                var oldIndex = comesDown ? down : right
                var newIndex = oldIndex - diagonal
                while oldIndex < old.count, newIndex < new.count,
                    old[oldIndex] == new[newIndex]
                {
                    oldIndex += 1
                    newIndex += 1
                }
                furthest[middle + diagonal] = oldIndex
                if oldIndex >= old.count, newIndex >= new.count { return trace }
            }
        }
        return nil
    }

    /// Walks the trace back from the end.
    private static func steps(
        _ trace: [[Int]],
        oldCount: Int,
        newCount: Int,
        oldStart: Int,
        newStart: Int
    ) -> [Step] {
        var steps: [Step] = []
        var oldIndex = oldCount
        var newIndex = newCount
        for changes in stride(from: trace.count - 1, through: 0, by: -1) {
            let furthest = trace[changes]
            let middle = changes + 1
            let diagonal = oldIndex - newIndex
            let comesDown =
                diagonal == -changes
                || (diagonal != changes
                    && furthest[middle + diagonal - 1] < furthest[middle + diagonal + 1])
            let before = comesDown ? diagonal + 1 : diagonal - 1
            let oldBefore = changes == 0 ? 0 : furthest[middle + before]
            let newBefore = changes == 0 ? 0 : oldBefore - before
            while oldIndex > oldBefore, newIndex > newBefore {
                oldIndex -= 1
                newIndex -= 1
                steps.append(.keep(old: oldStart + oldIndex, new: newStart + newIndex))
            }
            guard changes > 0 else { break }
            if comesDown {
                newIndex -= 1
                steps.append(.add(new: newStart + newIndex))
            } else {
                oldIndex -= 1
                steps.append(.remove(old: oldStart + oldIndex))
            }
        }
        return steps.reversed()
    }
}
