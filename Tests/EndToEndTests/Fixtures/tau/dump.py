from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


class HarnessAgent(LLMAgent):
    """Says every number of four digits."""

    def get_init_state(self, message_history=None):
        return list(range(10_000))

    def generate_next_message(self, message, state):
        words = " ".join("%04d" % number for number in state[:5_000]) or "Done."
        end = "" if len(state) > 5_000 else " END"
        return AssistantMessage(role="assistant", content=words + end, cost=0.0), state[5_000:]
