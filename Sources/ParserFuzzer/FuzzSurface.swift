// What an attacker's bytes reach, as functions that must hold for every input. The fuzzer and the
// replay of the kept corpus call the same functions. A refusal is a right answer here, so it is caught and dropped:
// what must not happen is a crash, a hang or something accepted that breaks a rule.

internal import LauncherClient
internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import LauncherProtocol
internal import Ledger
internal import SandboxPlan
internal import SandboxPolicy
internal import StrictJSON
internal import Transparency
internal import Workspace

/// One parser that reads bytes of somebody who is not trusted.
public enum FuzzSurface: String, Sendable, CaseIterable {
    /// A candidate's frames (M3).
    case candidateFrames = "candidate-frames"
    /// An examiner's conversation and its verdicts (M3, M6).
    case examinerFrames = "examiner-frames"
    /// A request on the coding agent's socket (M2).
    case agentRequest = "agent-request"
    /// A request to the launcher (M1).
    case launcherRequest = "launcher-request"
    /// The bytes of a compiled plan.
    case plan
    /// A policy document.
    case policy
    /// A list of system calls.
    case syscalls
    /// An experiment's configuration and a benchmark's manifest.
    case configuration
    /// The marker file of an experiment's directory.
    case experimentMarker = "experiment-marker"
    /// An exported ledger.
    case ledgerExport = "ledger-export"
    /// A checkpoint that somebody kept.
    case checkpoint
    /// A sandbox's request to a model (M4), in every dialect.
    case modelRequest = "model-request"
    /// A model's answer, as a stream and as a whole, in every dialect.
    case modelAnswer = "model-answer"
    /// The requests on a sandbox's connection to the broker (M4).
    case httpRequests = "http-requests"
    /// The name of an upstream.
    case upstreamName = "upstream-name"
    /// A candidate's text, as the audit reads it.
    case candidateText = "candidate-text"
    /// Messages of the kernel about what Landlock refused, with texts of a payload's choosing.
    case landlockRecords = "landlock-records"

    /// Parses the bytes and checks what must hold of the result.
    ///
    /// A refusal by the parser is a good answer. A trap, a hang, or a value that does not survive
    /// its own encoding ends the process: that is a finding.
    ///
    /// - Parameter bytes: the input, of any length.
    /// - Returns: whether the parser took it.
    @discardableResult
    public func feed(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .candidateFrames: feedCandidateFrames(bytes)
        case .examinerFrames: feedExaminerFrames(bytes)
        case .agentRequest: feedAgentRequest(bytes)
        case .launcherRequest: feedLauncherRequest(bytes)
        case .plan: feedPlan(bytes)
        case .policy: feedPolicy(bytes)
        case .syscalls: feedSyscalls(bytes)
        case .configuration: feedConfiguration(bytes)
        case .experimentMarker: feedExperimentMarker(bytes)
        case .ledgerExport: feedLedgerExport(bytes)
        case .checkpoint: feedCheckpoint(bytes)
        case .modelRequest: feedModelRequest(bytes)
        case .modelAnswer: feedModelAnswer(bytes)
        case .httpRequests: feedHTTPRequests(bytes)
        case .upstreamName: feedUpstreamName(bytes)
        case .candidateText: feedCandidateText(bytes)
        case .landlockRecords: feedLandlockRecords(bytes)
        }
    }
}

// MARK: - frames

extension FuzzSurface {
    private func feedCandidateFrames(_ bytes: [UInt8]) -> Bool {
        var whole = FrameDecoder(limits: .candidate)
        let values = frames(of: bytes, in: &whole)
        for value in values { feedCandidateValue(value) }
        // However the bytes are cut, the stream says the same.
        var pieces = FrameDecoder(limits: .candidate)
        var again: [JSONValue] = []
        for byte in bytes { again += frames(of: [byte], in: &pieces) }
        precondition(again == values, "a stream means the same however it is cut")
        return !values.isEmpty
    }

    private func feedCandidateValue(_ value: JSONValue) {
        let canonical = value.canonicalBytes
        switch Result(catching: { () throws(JSONError) in
            try JSONValue(parsing: canonical, limits: .frame)
        }) {
        case .success(let second):
            precondition(second == value, "a value survives its canonical form")
            precondition(second.canonicalBytes == canonical, "the canonical form is a fixed point")
        // The canonical spelling of a string may be longer than the limit that the first one met.
        case .failure: break
        }
        do throws(FrameError) { _ = try CandidateFrame(value) } catch {}
    }

    private func frames(of bytes: [UInt8], in decoder: inout FrameDecoder) -> [JSONValue] {
        var values: [JSONValue] = []
        do throws(FrameError) {
            try decoder.append(bytes)
            while let value = try decoder.next() { values.append(value) }
        } catch {
            precondition(refusesAgain(&decoder), "a stream that broke stays broken")
        }
        return values
    }

    private func refusesAgain(_ decoder: inout FrameDecoder) -> Bool {
        do throws(FrameError) {
            _ = try decoder.next()
            return false
        } catch {
            return true
        }
    }

    private func feedExaminerFrames(_ bytes: [UInt8]) -> Bool {
        var stream = ExaminerStream(
            benchmark: "helpdesk",
            version: 1,
            limits: .examiner(sessions: 4)
        )
        var isTaken = true
        do throws(FrameError) {
            _ = try stream.receive(bytes)
        } catch {
            isTaken = false
        }
        var verdicts = FrameDecoder(limits: .verdicts(sessions: 4))
        for value in frames(of: bytes, in: &verdicts) {
            do throws(FrameError) {
                let reward = try VerdictFrame(value).reward.value
                precondition(reward >= 0 && reward <= 1, "a reward lies between 0 and 1")
            } catch {}
        }
        return isTaken
    }
}

// MARK: - requests

extension FuzzSurface {
    private func feedAgentRequest(_ bytes: [UInt8]) -> Bool {
        let train = trainTasks()
        do throws(RequestRefusal) {
            switch try AgentRequest(parsing: bytes, train: train) {
            case .train(let tasks):
                precondition(
                    (tasks ?? []).allSatisfy(train.contains),
                    "a train exam names train tasks only"
                )
            case .submit(let manifest):
                let named = manifest.map { $0.expectedFixes + $0.tasksAtRisk } ?? []
                precondition(
                    named.allSatisfy(train.contains),
                    "a manifest names train tasks only"
                )
            case .learn(let note):
                precondition(note.byteCount <= AgentRequest.learningLimit, "a learning is bounded")
            case .result, .status, .revert, .diff: break
            }
            return true
        } catch {
            precondition(!error.reply.canonicalBytes.isEmpty, "every refusal can be told")
            return false
        }
    }

    private func trainTasks() -> Set<TaskID> {
        do throws(ExamError) {
            return [try TaskID("task-01"), try TaskID("task-02")]
        } catch {
            preconditionFailure("two valid names: \(error)")
        }
    }

    private func feedLauncherRequest(_ bytes: [UInt8]) -> Bool {
        do throws(PlanError) {
            let request = try LauncherRequest(bytes: bytes)
            precondition(request.bytes == bytes, "a request has one spelling")
            return true
        } catch {
            return false
        }
    }
}

// MARK: - documents

extension FuzzSurface {
    private func feedExperimentMarker(_ bytes: [UInt8]) -> Bool {
        do throws(ExperimentMarker.Malformed) {
            let marker = try ExperimentMarker(parsing: bytes)
            precondition(marker.experiment.utf8.count == 16, "a number names one folder")
            let again = marker.bytes
            if again.count <= ExperimentMarker.limit {
                let second = try ExperimentMarker(parsing: again)
                precondition(second == marker, "it survives its form")
            }
            return true
        } catch {
            precondition(!error.reason.isEmpty, "every refusal has a reason")
            return false
        }
    }

    private func feedPlan(_ bytes: [UInt8]) -> Bool {
        do throws(PlanError) {
            // A file carries its own digest, which a fuzzer cannot guess; the plan's bytes follow.
            let compiled = try CompiledPlan(bytes: bytes, digest: SHA256Digest(of: bytes).bytes)
            let plan = try compiled.plan()
            precondition(CompiledPlan(plan).bytes == bytes, "a plan has one spelling")
            try PlanInvariants.check(plan)
            return true
        } catch {
            return false
        }
    }

    private func feedPolicy(_ bytes: [UInt8]) -> Bool {
        do throws(PolicyRefusal) {
            let policy = try SandboxPolicy(parsing: bytes, file: "fuzzed.yaml")
            precondition(policy.limits.wallClock.count > 0, "every policy has a wall clock")
            return true
        } catch {
            precondition(!error.problems.isEmpty, "a refusal names its reason")
            return false
        }
    }

    private func feedSyscalls(_ bytes: [UInt8]) -> Bool {
        do throws(PolicyRefusal) {
            _ = try SyscallGroup(parsing: bytes, file: "fuzzed.yaml")
            return true
        } catch {
            precondition(!error.problems.isEmpty, "a refusal names its reason")
            return false
        }
    }

    private func feedConfiguration(_ bytes: [UInt8]) -> Bool {
        var isTaken = false
        do throws(WorkspaceError) {
            _ = try ExperimentConfig(parsing: bytes, file: "fuzzed.yaml")
            isTaken = true
        } catch {}
        do throws(WorkspaceError) {
            _ = try BenchmarkManifest(parsing: bytes, file: "fuzzed.yaml")
            isTaken = true
        } catch {}
        do throws(WorkspaceError) {
            let list = try PackageList(parsing: bytes, file: "fuzzed.txt")
            precondition(list.entries.allSatisfy { !$0.name.isEmpty && !$0.version.isEmpty })
            isTaken = true
        } catch {}
        return isTaken
    }

    private func feedCandidateText(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        let tokens = PythonTokens(of: text)
        let lines = 1 + text.utf8.count { $0 == 0x0A || $0 == 0x0D }
        var last = 0
        for token in tokens.tokens {
            precondition((1...lines).contains(token.line), "a piece has a line of the text")
            // A string comes before the expressions in it, so lines only grow.
            precondition(token.line >= last, "pieces come in order")
            last = token.line
        }
        for finding in StaticAudit(matter: .none).findings(in: text) {
            precondition(
                (1...lines).contains(finding.line ?? 1),
                "a finding has a line of the text"
            )
        }
        return tokens.unreadableLine == nil && !tokens.tokens.isEmpty
    }

    private func feedCheckpoint(_ bytes: [UInt8]) -> Bool {
        do throws(NoteError) {
            let note = try SignedNote(parsing: bytes)
            precondition(note.bytes == bytes, "a note has one spelling")
            let head = try Checkpoint(parsing: note.text)
            let isSame = note.text.utf8.starts(with: head.text.utf8)
            precondition(isSame, "a checkpoint has one spelling")
            return true
        } catch {
            return false
        }
    }

    private func feedLedgerExport(_ bytes: [UInt8]) -> Bool {
        let quick = Ledger.verifyExport(bytes)
        let thorough = Ledger.verifyExport(bytes, depth: .everySignature)
        precondition(quick.isIntact == thorough.isIntact, "both depths agree on a whole export")
        precondition(quick.fault == thorough.fault, "both depths name the same fault")
        do throws(LedgerError) {
            let entries = try Ledger.entries(inExport: bytes)
            precondition(quick.isIntact && entries.count == quick.count, "only whole ones are read")
            return true
        } catch {
            return false
        }
    }
}
