from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage

TRIED = []


class HarnessAgent(LLMAgent):
    """Gives up a task until it is tried again."""

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        if message.content == "case told" and not TRIED:
            TRIED.append(message)
            raise RuntimeError("unsure: try again")
        told = "It is 4417. END" if TRIED else "Done. END"
        return AssistantMessage(role="assistant", content=told, cost=0.0), state
