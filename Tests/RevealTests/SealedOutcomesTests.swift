import ExamResults
import IterationLoop
import Reveal
import TestSupport
import Testing

@Suite("What a sealed exam commits to")
struct SealedOutcomesTests {
    private let nonce = [UInt8](0..<12)

    private func identity(
        number: Int = 9,
        iteration: Int = 2,
        purpose: ExamPurpose = .sealed,
        digest: Int = 1,
        experiment: String = SampleNight.experiment
    ) throws -> ExamIdentity {
        let start = ExamStartedRecord(
            iteration: iteration,
            purpose: purpose,
            split: .test,
            count: 4,
            digest: try SampleNight.digest(digest),
            assurance: "full"
        )
        return ExamIdentity(start, number: number, experiment: experiment)
    }

    private func outcomes(_ passing: Int = 2) throws -> SealedOutcomes {
        func results(_ passing: Int) throws -> ExamResults {
            try SampleNight.results(SampleNight.sealed, passing: passing)
        }
        return SealedOutcomes(
            try TrialResults(
                candidate: [results(passing), results(1)],
                incumbent: [results(0), results(1)],
                seed: SampleNight.seed
            )
        )
    }

    @Test("outcomes are opened with the key that sealed them, arm by arm and trial by trial")
    func opened() throws {
        let (key, exam) = (try SampleNight.key(), try identity())
        let sealed = try outcomes()
        let file = try sealed.sealed(under: key, of: exam, nonce: nonce)
        let found = try SealedOutcomes(opening: file, under: key, of: exam)
        #expect(found == sealed)
        #expect(found.results(of: .candidate).count == 2)
        #expect(found.trials?.seed == SampleNight.seed)
        #expect(found.trials?.incumbent == sealed.results(of: .incumbent))
        #expect(found.root(under: key, of: exam) == sealed.root(under: key, of: exam))
    }

    @Test("a root is another one for every other outcome, exam and key")
    func bound() throws {
        let key = try SampleNight.key()
        let identities = [
            try identity(), try identity(number: 10), try identity(iteration: 3),
            try identity(purpose: .floor), try identity(digest: 2),
            try identity(experiment: "ffeeddccbbaa9988"),
        ]
        var roots = try identities.map { try outcomes().root(under: key, of: $0) }
        roots.append(try outcomes(3).root(under: key, of: identities[0]))
        roots.append(try outcomes().root(under: SampleNight.key(8), of: identities[0]))
        let single = SealedOutcomes(
            TrialResults(try SampleNight.results(SampleNight.sealed, passing: 2))
        )
        roots.append(single.root(under: key, of: identities[0]))
        #expect(Set(roots).count == roots.count)
        #expect(roots.allSatisfy { $0.utf8.count == 64 })
    }

    @Test("a file of another exam, another key or a changed byte is not opened")
    func refused() throws {
        let (key, exam) = (try SampleNight.key(), try identity())
        let file = try outcomes().sealed(under: key, of: exam, nonce: nonce)
        for other in [
            try identity(number: 10), try identity(iteration: 3), try identity(digest: 2),
            try identity(experiment: "ffeeddccbbaa9988"),
        ] {
            #expect(throws: RevealError.notThisExam(exam: other.number)) {
                try SealedOutcomes(opening: file, under: key, of: other)
            }
        }
        #expect(throws: RevealError.notThisExam(exam: 9)) {
            try SealedOutcomes(opening: file, under: SampleNight.key(8), of: exam)
        }
        for index in stride(from: 0, to: file.count, by: 7) {
            var changed = file
            changed[index] ^= 1
            #expect(throws: RevealError.notThisExam(exam: 9)) {
                try SealedOutcomes(opening: changed, under: key, of: exam)
            }
        }
        for count in [0, 11, 27, file.count - 1] {
            #expect(throws: RevealError.notThisExam(exam: 9)) {
                try SealedOutcomes(opening: Array(file.prefix(count)), under: key, of: exam)
            }
        }
    }

    @Test("every outcome that there is comes back as it was", arguments: 0..<20)
    func property(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let tasks = (0..<Int.random(in: 1...30, using: &generator)).map {
            SampleNight.task("t\($0)")
        }
        func results() throws -> ExamResults {
            var outcomes: [TaskID: TaskOutcome] = [:]
            for task in tasks {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    let millionths = Int.random(in: 0...1_000_000, using: &generator)
                    outcomes[task] = .graded(try Reward(millionths: millionths))
                case 1:
                    outcomes[task] = .failed(
                        CandidateFault.allCases.randomElement(using: &generator) ?? .idle
                    )
                case 2: outcomes[task] = .voided(.hostExhausted)
                default: outcomes[task] = .missing
                }
            }
            return try ExamResults(planned: tasks, outcomes: outcomes)
        }
        let sealed = SealedOutcomes(
            try TrialResults(
                candidate: [results(), results()],
                incumbent: seed.isMultiple(of: 2) ? [] : [results(), results()],
                seed: UInt64.random(in: .min ... .max, using: &generator)
            )
        )
        let (key, exam) = (try SampleNight.key(), try identity())
        let file = try sealed.sealed(under: key, of: exam, nonce: nonce)
        let found = try SealedOutcomes(opening: file, under: key, of: exam)
        #expect(found.trials?.seed == sealed.seed)
        for arm in SealedOutcomes.Arm.allCases {
            let expected = sealed.results(of: arm).map { $0.all.map(\.outcome) }
            #expect(found.results(of: arm).map { $0.all.map(\.outcome) } == expected)
        }
    }

    @Test("a key has 32 bytes, and its digest is what sha256sum prints of them")
    func keys() throws {
        #expect(throws: RevealError.badKey(count: 31)) {
            try RevealKey([UInt8](repeating: 0, count: 31))
        }
        // `head -c 32 /dev/zero | sha256sum`
        let zero = try RevealKey([UInt8](repeating: 0, count: 32))
        #expect(
            zero.digest == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        )
    }
}
