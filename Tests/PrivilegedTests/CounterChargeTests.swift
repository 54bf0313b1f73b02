import Foundation
import HostKernel
import LinuxKernel
import Testing

extension Privileged {
    /// What a later sandbox reads of what an exam took from the host's counters.
    @Suite struct CounterCharge {
        // A hundred do for each run of the tests; the bound then leaves room for their luck.
        private static let isLong =
            ProcessInfo.processInfo.environment["INVIGILATOR_LONG_TESTS"] == "1"
        private static let exams = isLong ? 400 : 100
        private static let luck = isLong ? 0.07 : 0.14
        // Four batches: one that nobody can mistake for the rest of a quiet host.
        private static let amount = 4096

        /// How far a reader's number moves over an exam that takes so many numbers.
        private func reading(
            of counter: ObjectCounter,
            taking objects: Int,
            bits: Double?
        ) throws -> Double {
            let processors = try ProcessorSet.current()
            let (reader, writer) = (processors.single[0], processors.single.last ?? processors)
            func read() throws(SystemError) -> UInt32 {
                try reader.take()
                for _ in 0..<ObjectCounter.batch { _ = try counter.next() }
                let number = try counter.next()
                try processors.take()
                return number
            }
            let before = try read()
            let most = UInt64(Self.amount)
            let writable = CounterNoise.Writable(
                inodes: counter == .inode ? most : 0,
                sharedMemory: counter == .sharedMemory ? most : 0
            )
            let noise = try bits.map { bits throws(SystemError) in
                try CounterNoise(writable, bits: bits)
            }
            try writer.take()
            for _ in 0..<objects { _ = try counter.next() }
            try processors.take()
            if let noise {
                var moving = try noise.moving()
                while try moving.next() != nil {}
            }
            return Double(try read() &- before)
        }

        /// The share of exams that the best threshold tells wrongly.
        private func bestError(_ readings: [(moved: Double, isFull: Bool)]) -> Double {
            let sorted = readings.sorted { $0.moved < $1.moved }
            // Below the threshold: nothing was taken.
            var wrong = sorted.count { !$0.isFull }
            var best = wrong
            for reading in sorted {
                wrong += reading.isFull ? 1 : -1
                best = min(best, wrong)
            }
            return Double(best) / Double(sorted.count)
        }

        private func error(
            of counter: ObjectCounter,
            exams: Int,
            bits: Double?
        ) throws -> Double {
            var readings: [(moved: Double, isFull: Bool)] = []
            for _ in 0..<exams {
                let isFull = Bool.random()
                let objects = isFull ? Self.amount : 0
                let moved = try reading(of: counter, taking: objects, bits: bits)
                readings.append((moved, isFull))
            }
            return bestError(readings)
        }

        @Test(
            "without noise one number tells what an exam took; with it no threshold does better than its charge",
            arguments: ObjectCounter.allCases
        )
        func charge(counter: ObjectCounter) throws {
            let control = try error(of: counter, exams: 100, bits: nil)
            #expect(
                control <= 0.02,
                "without noise \(control) of the readings were wrong"
            )
            let share = 0.5
            let bits = share * Double(ObjectCounter.allCases.count)
            let processors = try ProcessorSet.current().single.count
            let most = UInt64(Self.amount + (processors - 1) * Int(ObjectCounter.batch))
            let range = try #require(CounterNoise.range(hiding: most, within: share))
            let found = try error(of: counter, exams: Self.exams, bits: bits)
            let bound = (1 - Double(Self.amount) / Double(range)) / 2 - Self.luck
            #expect(
                found >= bound,
                "\(found) of the readings were wrong; the charge allows \(bound)"
            )
        }
    }
}
