from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall

import os

try:
    with open("/tmp/kept") as file:
        KEPT = file.read()
except OSError:
    KEPT = ""


class HarnessAgent(LLMAgent):
    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        with open("/tmp/kept", "a") as file:
            file.write("x")
        return AssistantMessage(content="second time" if KEPT else "Done. END"), state
