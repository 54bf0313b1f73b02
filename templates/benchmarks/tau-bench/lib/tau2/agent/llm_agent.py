"""An agent that asks a model at every turn: the class that agents under test derive from."""

from typing import Any, Dict, List, Optional, Tuple

from tau2.agent.base import (
    LocalAgent,
    ValidAgentInputMessage,
    is_valid_agent_history_message,
)
from tau2.data_model.message import AssistantMessage, Message, MultiToolMessage, SystemMessage
from tau2.environment.tool import Tool
from tau2.utils.llm_utils import generate

AGENT_INSTRUCTION = """\
You serve customers. In each turn, either write a message to the customer or call tools, never both.
Keep to the policy below in everything you do."""

SYSTEM_PROMPT = """\
<instructions>
{agent_instruction}
</instructions>
<policy>
{domain_policy}
</policy>"""


class LLMAgentState:
    """The conversation so far, as the model is shown it."""

    def __init__(self, system_messages: List[SystemMessage], messages: List[Any]) -> None:
        """Takes both parts."""
        self.system_messages = system_messages
        self.messages = messages


class LLMAgent(LocalAgent[Any]):
    """Shows the model the policy, the tools and the conversation."""

    def __init__(
        self,
        tools: List[Tool],
        domain_policy: str,
        llm: Optional[str] = None,
        llm_args: Optional[Dict[str, Any]] = None,
    ) -> None:
        """Takes tools, policy, the model's name and arguments for `generate`."""
        super().__init__(tools=tools, domain_policy=domain_policy)
        self.llm = llm
        self.llm_args = dict(llm_args or {})

    @property
    def system_prompt(self) -> str:
        """What the model is told first."""
        return SYSTEM_PROMPT.format(
            agent_instruction=AGENT_INSTRUCTION, domain_policy=self.domain_policy
        )

    def get_init_state(self, message_history: Optional[List[Message]] = None) -> LLMAgentState:
        """Returns a state that holds the past."""
        history = list(message_history or [])
        if not all(is_valid_agent_history_message(message) for message in history):
            raise ValueError("a message of the history is not for the agent")
        return LLMAgentState([SystemMessage(content=self.system_prompt)], history)

    def generate_next_message(
        self, message: ValidAgentInputMessage, state: LLMAgentState
    ) -> Tuple[AssistantMessage, LLMAgentState]:
        """Asks the model."""
        if isinstance(message, MultiToolMessage):
            state.messages.extend(message.tool_messages)
        else:
            state.messages.append(message)
        answer = generate(
            model=self.llm,
            tools=self.tools,
            messages=state.system_messages + state.messages,
            **self.llm_args,
        )
        state.messages.append(answer)
        return answer, state

    def set_seed(self, seed: int) -> None:
        """Sends a seed with every request."""
        self.llm_args["seed"] = seed
