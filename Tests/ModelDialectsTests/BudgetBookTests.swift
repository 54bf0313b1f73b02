import ModelDialects
import TestSupport
import Testing

@Suite("A book of budgets")
struct BudgetBookTests {
    private static let price = ModelPrice(input: 3_000_000, output: 15_000_000)

    @Test("a cost is rounded up and never overflows")
    func cost() {
        let usage = TokenUsage(input: 1_000, output: 100, cachedInput: 400, source: .provider)
        let price = ModelPrice(input: 3_000_000, output: 15_000_000, cachedInput: 300_000)
        #expect(price.cost(of: usage) == 1_800 + 120 + 1_500)
        #expect(ModelPrice(input: 1, output: 0).cost(of: usage) == 1)
        let most = TokenUsage(input: .max, output: .max, source: .count)
        #expect(price.cost(of: most) == .max)
    }

    @Test("a model without a price costs nothing")
    func table() {
        var table = PriceTable()
        table.set(Self.price, model: "small-1", upstream: "main")
        let usage = TokenUsage(input: 10, output: 10, source: .provider)
        #expect(table.cost(of: usage, under: pin()) == 180)
        let other = ModelPin(upstream: "x", dialects: [], model: "small-1", maxOutputTokens: 1)
        #expect(table.cost(of: usage, under: other) == 0)
    }

    @Test("a call is admitted while something is left, and may write what the rest pays for")
    func admitted() throws {
        var book = BudgetBook()
        book.set("campaign", left: Allowance(tokens: 1_000))
        let first = try book.reserve(["campaign"], input: 100, output: 500, price: nil)
        #expect(first.outputTokens == 500)
        let second = try book.reserve(["campaign"], input: 100, output: 500, price: nil)
        #expect(second.outputTokens == 300)
        #expect(throws: BudgetSpent.self) {
            try book.reserve(["campaign"], input: 1, output: 1, price: nil)
        }
        book.settle(first, used: Charge(tokens: 150, microdollars: 0))
        book.settle(first, used: Charge(tokens: 150, microdollars: 0))
        #expect(book.left(of: "campaign") == Allowance(tokens: 850))
        #expect(
            try book.reserve(["campaign"], input: 100, output: 900, price: nil).outputTokens == 350
        )
    }

    @Test("a call that uses more than it asked for holds more, until nothing is left")
    func overlong() throws {
        var book = BudgetBook()
        book.set("campaign", left: Allowance(tokens: 1_000))
        let call = try book.reserve(["campaign"], input: 100, output: 200, price: nil)
        try book.hold(call, atLeast: Charge(tokens: 250, microdollars: 0))
        try book.hold(call, atLeast: Charge(tokens: 700, microdollars: 0))
        let other = try book.reserve(["campaign"], input: 100, output: 900, price: nil)
        #expect(other.outputTokens == 200, "what is left beside 700 and an input of 100")
        #expect(throws: BudgetSpent(account: "campaign")) {
            try book.hold(call, atLeast: Charge(tokens: 701, microdollars: 0))
        }
        book.settle(other, used: Charge(tokens: 0, microdollars: 0))
        try book.hold(call, atLeast: Charge(tokens: 1_000, microdollars: 0))
        book.settle(call, used: Charge(tokens: 990, microdollars: 0))
        try book.hold(call, atLeast: Charge(tokens: 5_000, microdollars: 0))
        #expect(book.left(of: "campaign") == Allowance(tokens: 10), "a settled call holds nothing")
        #expect(
            try book.reserve(["campaign"], input: 1, output: 50, price: nil).outputTokens == 9
        )
    }

    @Test("money limits as tokens do, and the scarcest account decides")
    func money() throws {
        var book = BudgetBook()
        book.set("campaign", left: Allowance(microdollars: 1_800))
        book.set("role", left: Allowance(tokens: 10_000))
        let call = try book.reserve(
            ["campaign", "role"],
            input: 100,
            output: 5_000,
            price: Self.price
        )
        #expect(call.outputTokens == 100)
        #expect(throws: BudgetSpent.self) {
            try book.reserve(["role", "campaign"], input: 1, output: 1, price: Self.price)
        }
        // A refused call holds nothing of the accounts that it would have been admitted by.
        book.settle(call, used: Charge(tokens: 200, microdollars: 1_800))
        #expect(book.left(of: "role") == Allowance(tokens: 9_800))
        #expect(
            try book.reserve(["role"], input: 0, output: 9_800, price: nil).outputTokens == 9_800
        )
    }

    @Test("an unknown account has nothing")
    func unknown() {
        var book = BudgetBook()
        #expect(throws: BudgetSpent.self) {
            try book.reserve(["x"], input: 1, output: 1, price: nil)
        }
    }

    @Test("whatever calls come and go, what they used lies within what there was")
    func course() {
        for seed in 0..<200 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var book = BudgetBook()
            book.set("a", left: Allowance(tokens: 5_000, microdollars: 50_000))
            var open: [(Reservation, Int)] = []
            for _ in 0..<200 {
                if generator.flag(), let (call, input) = open.popLast() {
                    let output = generator.below(call.outputTokens + 1)
                    let usage = TokenUsage(input: input, output: output, source: .provider)
                    let cost = Self.price.cost(of: usage)
                    book.settle(call, used: Charge(tokens: usage.total, microdollars: cost))
                } else {
                    let input = generator.below(200)
                    do throws(BudgetSpent) {
                        let output = 1 + generator.below(800)
                        open.append(
                            (
                                try book.reserve(
                                    ["a"],
                                    input: input,
                                    output: output,
                                    price: Self.price
                                ),
                                input
                            )
                        )
                    } catch {
                        #expect(error.account == "a")
                    }
                }
                let left = book.left(of: "a")
                #expect(left?.tokens ?? -1 >= 0, "seed \(seed)")
                #expect(left?.microdollars ?? -1 >= 0, "seed \(seed)")
            }
        }
    }
}
