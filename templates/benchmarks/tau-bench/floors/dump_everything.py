"""An agent that says every number and name it has seen: what words alone earn."""

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


class HarnessAgent(LLMAgent):
    """Recites the policy's numbers and what the customer said, once: a simulated customer reads all of it
    again with every further message, at somebody's cost."""

    def get_init_state(self, message_history=None):
        """The words so far."""
        digits = {word.strip(".,;:()$%") for word in self.domain_policy.split()}
        words = [word for word in sorted(digits) if any(letter.isdigit() for letter in word)]
        return {"words": words, "has_said": False}

    def generate_next_message(self, message, state):
        """Says all of it, and then goodbye."""
        if state["has_said"]:
            return AssistantMessage(content="That is all. Goodbye."), state
        state["has_said"] = True
        words = state["words"] + (getattr(message, "content", "") or "").split()
        numbers = [str(number) for number in range(1000)]
        return AssistantMessage(content=" ".join(words + numbers)[:30000]), state
