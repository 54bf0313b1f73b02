"""Floor: an agent that only greets. What it scores, any agent gets for free."""

from invigilator_agent import AssistantMessage


class HarnessAgent:
    """Says the same friendly words for ever."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        pass

    def get_init_state(self, message_history=None):
        """Keeps no state."""
        return None

    def generate_next_message(self, message, state):
        """Answers without reading."""
        return AssistantMessage(content="Thank you for your message."), state
