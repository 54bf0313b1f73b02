import Benchmarks
import ExamResults
import Foundation
import LauncherClient
import LinuxKernel
import SandboxPlan
import Testing

/// What an examiner does wrong, and what becomes of its exam.
enum BrokenExaminer: String, CaseIterable, CustomTestStringConvertible {
    case givesNoVerdict = "gives no verdict"
    case judgesLate = "judges only when asked to finish"
    case judgesTwice = "judges a session twice"
    case judgesStrangers = "judges a session that was never begun"
    case judgesAnotherTask = "judges another task"
    case judgesTheGone = "judges a candidate that was declared gone"
    case isTooGenerous = "gives more than 1"
    case sendsNoNumber = "gives NaN"
    case dies = "dies in a session"
    case saysNothing = "never says hello"
    case hasAnotherName = "says another benchmark's hello"
    case stopsAnswering = "stops answering"
    case stopsReading = "stops reading"
    case closesVerdicts = "closes its verdict channel early"
    case staysOpen = "does not end when it is asked to"
    case talksOutOfTurn = "begins a session twice"

    var testDescription: String { rawValue }

    /// The outcome code of every task.
    var expected: String {
        switch self {
        case .givesNoVerdict: "missing"
        case .judgesLate: "graded"
        case .judgesTwice, .judgesStrangers, .judgesAnotherTask, .judgesTheGone, .isTooGenerous,
            .sendsNoNumber:
            "bad-verdict"
        case .dies, .saysNothing, .stopsAnswering, .stopsReading, .closesVerdicts, .staysOpen:
            "examiner-died"
        case .hasAnotherName, .talksOutOfTurn: "bad-examiner-frame"
        }
    }

    /// A whole examiner whose conversation is one turn, after which the reward is 1.
    var source: String { Self.program.replacingOccurrences(of: "FAULT", with: "\(self)") }

    private static let program = """
        import os, sys, time
        sys.path[:0] = ["/examiner/lib"]
        from invigilator_agent.frames import Channel
        exam, out = Channel(3), Channel(4)
        fault, late, tasks = "FAULT", [], {}

        def judge(session):
            frame = {"type": "verdict", "session": session, "task": tasks[session], "reward": 1, "detail": {}}
            if fault == "judgesStrangers": frame["session"] = "0123456789abcdef"
            if fault == "judgesAnotherTask": frame["task"] = "hd-9999"
            if fault == "isTooGenerous": frame["reward"] = 1.5
            if fault == "judgesTwice": out.write(frame)
            if fault == "sendsNoNumber":
                body = b'{"type":"verdict","session":"%s","task":"x","reward":NaN}' % session.encode()
                os.write(4, len(body).to_bytes(4, "big") + body)
            out.write(frame)

        if fault == "saysNothing": time.sleep(60)
        name = "other" if fault == "hasAnotherName" else "helpdesk"
        exam.write({"type": "hello", "benchmark": name, "version": 1})
        if fault == "stopsReading": time.sleep(60)
        while True:
            frame = exam.read()
            kind, session = frame["type"], frame.get("session")
            if kind == "begin":
                tasks[session] = frame["task"]
                start = {"type": "start", "session": session, "kind": "chat", "policy": "", "tools": [],
                         "limits": {"turns": 5, "seconds": 5}, "history": []}
                exam.write(start)
                if fault == "talksOutOfTurn": exam.write(start)
                exam.write({"type": "turn", "session": session,
                            "messages": [{"role": "user", "content": "hello"}]})
            elif kind == "reply":
                if fault == "dies": os._exit(7)
                if fault == "stopsAnswering": time.sleep(60)
                if fault == "closesVerdicts": os.close(4)
                exam.write({"type": "stop", "session": session})
                if fault == "judgesLate": late.append(session)
                elif fault not in ("givesNoVerdict", "closesVerdicts"): judge(session)
            elif kind == "gone" and fault == "judgesTheGone": judge(session)
            elif kind == "finish":
                for session in late: judge(session)
                if fault == "staysOpen": time.sleep(60)
                sys.exit(0)
        """
}

extension Privileged {
    @Suite("Faults on the supervisor's side of an exam")
    struct ExamFaultTests {
        @Test("an exam gets what it must when its examiner", arguments: BrokenExaminer.allCases)
        func examiner(_ fault: BrokenExaminer) throws {
            try ExamHall.run(ExamHall.Setup(examiner: fault.source)) { hall in
                hall.site.patience.examiner = .milliseconds(700)
                hall.site.patience.examinerTurn = .milliseconds(700)
                let honest = try ExamHall.template("floors/do_nothing.py")
                let agent = fault == .judgesTheGone ? "not Python" : honest
                let tasks = Array(hall.tasks.prefix(4))
                let report = try hall.exam(agent, tasks: tasks, concurrency: 2)
                let codes = report.results.first.all.map(\.outcome.code)
                #expect(codes == [String](repeating: fault.expected, count: 4))
                let isVoid = !["missing", "graded"].contains(fault.expected)
                #expect((report.voidReason != nil) == isVoid, "\(report.voidReason ?? "")")
            }
        }

        @Test("a launcher that refuses a candidate's sandbox voids the exam")
        func refusal() throws {
            try ExamHall.run(ExamHall.Setup(candidateCommand: ["relative/program"])) { hall in
                let report = try hall.exam("", tasks: Array(hall.tasks.prefix(3)))
                #expect(report.faultCounts == ["launcher-refused": 3])
                #expect(report.voidReason?.contains("relative/program") == true)
            }
        }

        @Test("a program that is not there fails as the launcher's refusal, and names it")
        func missingProgram() throws {
            try ExamHall.run(ExamHall.Setup(candidateCommand: ["/usr/bin/nothing"])) { hall in
                let report = try hall.exam("", tasks: Array(hall.tasks.prefix(3)))
                #expect(report.faultCounts == ["launcher-refused": 3])
            }
        }

        @Test("a tree that is too small voids its exam, and the next exam goes well")
        func smallTree() throws {
            try ExamHall.run { hall in
                hall.site.treeSize = .mebibytes(4)
                let report = try hall.exam("", tasks: Array(hall.tasks.prefix(3)))
                #expect(report.faultCounts == ["host-exhausted": 3])
                #expect(report.voidReason?.contains("ENOSPC") == true)
                hall.site.treeSize = .mebibytes(256)
                let agent = try ExamHall.template("floors/do_nothing.py")
                let next = try hall.exam(agent, tasks: Array(hall.tasks.prefix(3)))
                #expect(next.faultCounts.isEmpty)
            }
        }

        @Test("an exam without tasks or without a plan for its split is refused")
        func badOrders() throws {
            try ExamHall.run { hall in
                #expect(throws: ExamRunError.order(.nothingPlanned)) {
                    try hall.exam("", tasks: [])
                }
                let site = hall.site
                hall.site = ExamSite(
                    launcher: site.launcher,
                    fillImage: site.fillImage,
                    benchmark: site.benchmark,
                    programs: ExamPrograms(candidate: site.candidate, examiner: site.examiner),
                    candidatePlan: site.candidatePlan,
                    examinerPlans: site.examinerPlans.filter { $0.key == .train },
                    limits: site.limits
                )
                #expect(throws: ExamRunError.noExaminerPlan(.test)) { try hall.exam("", .test) }
            }
        }

        /// The number of the newest session of the host, which any process can read after setsid(2).
        private static func newestSession() throws -> Int {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
            process.arguments = ["--wait", "cat", "/proc/self/autogroup"]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let text = String(
                decoding: pipe.fileHandleForReading.readDataToEndOfFile(),
                as: UTF8.self
            )
            process.waitUntilExit()
            return try #require(text.split { !$0.isNumber }.first.flatMap { Int($0) }, "\(text)")
        }

        @Test(
            "a sealed exam that breaks starts all its sandboxes: their number does not tell when",
            .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/autogroup"))
        )
        func plannedSandboxes() throws {
            try ExamHall.run(ExamHall.Setup(examiner: BrokenExaminer.dies.source)) { hall in
                let honest = try ExamHall.template("floors/do_nothing.py")
                let tasks = Array(hall.tasks.prefix(40))
                func sessions(_ split: Split) throws -> (Int, ExamReport) {
                    let before = try Self.newestSession()
                    let report = try hall.exam(honest, split, tasks: tasks, concurrency: 2)
                    #expect(report.voidReason?.hasPrefix("examiner-died") == true)
                    return (try Self.newestSession() - before, report)
                }
                // Nobody is to be kept from knowing this of a train exam. Other programs of the host make
                // sessions, too, so one of some exams must show it.
                var few = Int.max
                for _ in 0..<5 where few >= tasks.count {
                    let (count, train) = try sessions(.train)
                    #expect(train.unstarted >= tasks.count - 4)
                    few = count
                }
                #expect(few < tasks.count)
                let (all, sealed) = try sessions(.test)
                #expect(all > tasks.count && sealed.unstarted == 0, "\(all)")
            }
        }

        @Test("an exam whose sandboxes the launcher refuses says how many were not started")
        func unstarted() throws {
            try ExamHall.run(ExamHall.Setup(candidateCommand: ["/usr/bin/nothing"])) { hall in
                let report = try hall.exam("", .test, tasks: Array(hall.tasks.prefix(3)))
                #expect(report.voidReason != nil && report.unstarted == 3)
            }
        }

        @Test("what else the loop watches is served while an exam runs")
        func servesOthers() throws {
            try ExamHall.run { hall in
                var ticks = 0
                var next: EventLoop.Token?
                func tick() {
                    ticks += 1
                    next = hall.loop.at(MonotonicTime.now.advanced(by: .milliseconds(20)), tick)
                }
                tick()
                // The loop holds the hall as long as it holds the next tick.
                defer { hall.loop.forget(next) }
                let agent = try ExamHall.template("floors/do_nothing.py")
                // Every task: an exam of a few is over before that many ticks are due.
                let report = try hall.exam(agent)
                #expect(report.voidReason == nil)
                #expect(ticks > 5)
            }
        }

        @Test("a launcher that dies ends the exam with every sandbox")
        func launcherDies() throws {
            let hall = try ExamHall()
            let pid = hall.client.pid
            var family: [Int32] = []
            _ = hall.loop.at(MonotonicTime.now.advanced(by: .milliseconds(700))) {
                family = (try? Census.descendants(of: pid)) ?? []
                kill(pid, SIGKILL)
            }
            #expect {
                try hall.exam("while True: pass")
            } throws: { error in
                if case ExamRunError.launcherLost = error { true } else { false }
            }
            #expect(!family.isEmpty)
            #expect(try Census.waitUntilGone(family).isEmpty)
            try hall.client.shutDown()
        }
    }
}
