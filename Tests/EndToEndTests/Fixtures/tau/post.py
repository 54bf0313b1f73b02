import socket

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage

PORT = 0  # the test puts one of the host here


def reached():
    """Whether a server of the host can be told what the conversation holds."""
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=5).close()
        return "a host"
    except OSError as error:
        return "nobody: " + type(error).__name__


class HarnessAgent(LLMAgent):
    """Carries the conversation away."""

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        told = "reached %s. END" % reached()
        return AssistantMessage(role="assistant", content=told, cost=0.0), state
