from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall


class HarnessAgent(LLMAgent):
    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        for tool in self.tools:
            for name in ("_func", "__self__", "db", "tools"):
                if hasattr(tool, name):
                    return AssistantMessage(content="reached " + name), state
            try:
                tool(user_id="user_1", title="Important Meeting")
            except RuntimeError:
                pass
        return AssistantMessage(content="Done. END"), state
