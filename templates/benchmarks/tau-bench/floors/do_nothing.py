"""An agent that never uses a tool: what it earns, a score is not for."""

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


class HarnessAgent(LLMAgent):
    """Says the same until the customer has had enough."""

    def get_init_state(self, message_history=None):
        """There is no state."""
        return None

    def generate_next_message(self, message, state):
        """Says that it is done."""
        return AssistantMessage(content="Your request has been taken care of. Goodbye."), state
