from tau2.agent.llm_agent import LLMAgent

from invigilator_agent.frames import Channel


class HarnessAgent(LLMAgent):
    """Ends the conversation at once, in the words of the protocol."""

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        Channel(3).write({"type": "done"})
        raise SystemExit(0)
