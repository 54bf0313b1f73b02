from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall


class HarnessAgent(LLMAgent):
    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message)
        if len(state) > 8:
            return AssistantMessage(role="assistant", content="Done. END", cost=0.0), state
        nested = {}
        for _ in range(11):
            nested = {"a": nested}
        call = ToolCall(id="x", name="disable_roaming", arguments=nested)
        return AssistantMessage(role="assistant", tool_calls=[call], cost=0.0), state
