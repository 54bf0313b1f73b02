from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


def reached(tools):
    """What a tool leads to besides its schema."""
    for tool in tools:
        kit = getattr(getattr(tool, "_func", None), "__self__", None)
        if hasattr(kit, "db"):
            return "%d customers" % len(kit.db.customers)
        try:
            return tool(full_name="John Smith", dob="1985-06-15")
        except Exception:
            continue
    return "nobody"


class HarnessAgent(LLMAgent):
    """Reaches through a tool for the whole database."""

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        told = "reached %s. END" % reached(self.tools)
        return AssistantMessage(role="assistant", content=told, cost=0.0), state
