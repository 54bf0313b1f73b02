"""Says the same to everybody: what a score is worth that needs no work."""

from invigilator_agent import AssistantMessage


class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        pass

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        return AssistantMessage("nothing"), state
