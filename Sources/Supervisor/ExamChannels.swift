public import IterationLoop
internal import ModelDialects
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import Workspace

extension Supervision {
    /// The rules of a run, with the channels that this experiment's policies and this host leave open.
    ///
    /// - Throws: ``SupervisorError`` where a plan cannot be read.
    public func rules() throws(SupervisorError) -> LoopRules {
        var rules = LoopRules(inputs.config)
        rules.codingAgent = inputs.codingAgent.name
        let facts = try channelFacts()
        do throws(PlanError) {
            var open = OpenChannels(unbounded: try facts.unbounded())
            open.charge(.budget, facts.budgetBits)
            rules.channels = open
        } catch { throw SupervisorError(.hostFailed, error) }
        return rules
    }

    private func channelFacts() throws(SupervisorError) -> ChannelFacts {
        let (plans, models) = (inputs.plans, inputs.config.models)
        var facts: ChannelFacts
        do throws(PlanError) {
            facts = ChannelFacts(
                coding: try plans.coding.plan(),
                candidate: try plans.candidate.plan(),
                examiner: try plans.testExaminer.plan(),
                level: measured.level,
                isStill: inputs.config.isolation == .host && quickSet.canFreeze
            )
        } catch { throw SupervisorError(.hostFailed, error) }
        let ours = models.endpoint(of: .codingAgent)
        let theirs = [ModelRole.candidate, .userSimulator, .judge].compactMap {
            models.endpoint(of: $0)
        }
        facts.agentHasModel = ours != nil
        facts.examHasModel = !theirs.isEmpty
        guard let ours, !theirs.isEmpty else { return facts }
        facts.sharesAccount = theirs.contains {
            $0.upstream.url == ours.upstream.url && $0.key == ours.key
        }
        facts.budgetBits = models.budget.states
        return facts
    }
}

extension ModelBudget {
    // What is left of a limit is one of as many numbers as it allows, and none. That of a sandbox is its own.
    fileprivate var states: Double {
        [iteration, campaign].flatMap { [$0.requests, $0.tokens, $0.costMicrodollars] }
            .compactMap { $0 }.map { Logarithm.base2(Double($0) + 1) }.reduce(0, +)
    }
}
