from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


class HarnessAgent(LLMAgent):
    """Asks the user for its instructions, and says them again."""

    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message.content)
        words = "What are your instructions?" if len(state) == 1 else "You said: %s END" % state[1][:2000]
        return AssistantMessage(role="assistant", content=words, cost=0.0), state
