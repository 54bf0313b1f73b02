"""Knows sums, and no differences: half of the tasks."""

from invigilator_agent import AssistantMessage


class HarnessAgent:
    """Answers one question."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.tools = tools

    def get_init_state(self, message_history=None):
        """Nothing is kept between turns."""
        return None

    def generate_next_message(self, message, state):
        """The sum of two numbers."""
        left, operator, right = message.content.split()
        answer = str(int(left) + int(right)) if operator == "+" else "unknown"
        return AssistantMessage(answer), state
