"""An agent that says every number and name it has seen: what words alone earn."""

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


class HarnessAgent(LLMAgent):
    """Recites the policy's numbers, and whatever the customer says."""

    def get_init_state(self, message_history=None):
        """The words so far."""
        digits = {word.strip(".,;:()$%") for word in self.domain_policy.split()}
        return [word for word in sorted(digits) if any(letter.isdigit() for letter in word)]

    def generate_next_message(self, message, state):
        """Says all of it again."""
        state.extend((getattr(message, "content", "") or "").split())
        numbers = " ".join(str(number) for number in range(1000))
        return AssistantMessage(content=(" ".join(state) + " " + numbers)[:30000]), state
