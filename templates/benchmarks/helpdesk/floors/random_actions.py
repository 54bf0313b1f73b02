"""Floor: an agent that calls tools at random and says whatever words it has seen.

Its dice are loaded by the customer's first words, so that the same task is played the same way each
time: the benchmark is deterministic, and its floors are too.
"""

import random

from invigilator_agent import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage

CLOSINGS = ("Resolved:", "Declined:", "Escalated:", "Withdrawn:")


class Dice:
    """A generator of chances and the words seen so far."""

    def __init__(self):
        self.random = None
        self.words = []


class HarnessAgent:
    """Throws dice for every step."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.tools = [tool.openai_schema["function"] for tool in tools]

    def get_init_state(self, message_history=None):
        """Starts without dice."""
        return Dice()

    def generate_next_message(self, message, state):
        """Calls a random tool half of the time, and speaks otherwise."""
        if isinstance(message, MultiToolMessage):
            text = " ".join(result.content for result in message.tool_messages)
        else:
            text = message.content or ""
        if state.random is None:
            state.random = random.Random(text)
        state.words += [word.strip(".,;:!?()#{}[]\"'") for word in text.split()]
        state.words = [word for word in state.words if word][-200:]
        dice = state.random
        if not isinstance(message, ToolMessage) and dice.random() < 0.5:
            tool = dice.choice(self.tools)
            names = tool.get("parameters", {}).get("properties", {})
            arguments = {name: dice.choice(state.words) for name in names}
            return AssistantMessage(tool_calls=[ToolCall(tool["name"], arguments)]), state
        said = " ".join(dice.choice(state.words) for _ in range(12))
        return AssistantMessage(content="%s %s" % (dice.choice(CLOSINGS), said)), state
