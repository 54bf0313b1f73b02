from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall


class HarnessAgent(LLMAgent):
    """Uses the customer's own phone, as if the customer did."""

    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message)
        if len(state) > 1:
            return AssistantMessage(role="assistant", content="Done. END", cost=0.0), state
        call = ToolCall(id="x", name="toggle_airplane_mode", arguments={}, requestor="user")
        return AssistantMessage(role="assistant", tool_calls=[call], cost=0.0), state
