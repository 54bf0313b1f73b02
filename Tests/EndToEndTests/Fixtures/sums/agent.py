"""Answers questions about two numbers; knows sums only, as a template should leave room."""

from invigilator_agent import AssistantMessage

KNOWN = {"add"}


class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.policy = domain_policy

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        verb, left, right = message.content.split()[:3]
        return AssistantMessage(self.answer(verb, int(left), int(right))), state

    def answer(self, verb, left, right):
        if verb not in KNOWN:
            return "unknown"
        results = {"add": left + right, "subtract": left - right, "multiply": left * right}
        return str(results[verb])
