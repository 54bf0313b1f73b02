from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall


class HarnessAgent(LLMAgent):
    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message)
        if len(state) > 1:
            return AssistantMessage(content="Done. END"), state
        call = ToolCall(id="x", name=self.tools[0].name, arguments={"title": "x"}, requestor="user")
        return AssistantMessage(tool_calls=[call]), state
