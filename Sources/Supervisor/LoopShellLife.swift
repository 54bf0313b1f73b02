internal import HostKernel
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan

// Signs of life of the coding agent beside its output.
//
// The launcher ends a sandbox that printed nothing for as long as its idle limit, and sees nothing but
// output. A program that waits for its train exam, or that talks to its model and prints at its end
// alone, is silent and does not hang: what it asks of us and what it was answered by a model counts as
// output does, and while a request to us is open its clock stands. A frozen one cannot be idle at all.

extension LoopShell {
    /// Looks for signs of life, four times in each idle limit; the silence counts from the last look
    /// that saw one.
    func followLife() {
        guard let limit = supervision.inputs.plans.codingIdle, coding != nil else { return }
        let step = Nanoseconds.milliseconds(max(1, limit.count / 4))
        life = supervision.loop.at(MonotonicTime.now.advanced(by: step)) { [unowned self] in
            do throws(SupervisorError) {
                if showedLife || !requests.isEmpty { try coding?.endSilence() }
                showedLife = false
                followLife()
            } catch { fail(error) }
        }
    }
}
