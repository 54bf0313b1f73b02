"""Base classes of agents, under the names of both interfaces that tau2 has had."""

from typing import Any, Generic, List, Optional, Tuple, TypeVar, Union

from tau2.data_model.message import (
    AssistantMessage,
    Message,
    MultiToolMessage,
    ToolMessage,
    UserMessage,
)
from tau2.environment.tool import Tool

AgentState = TypeVar("AgentState")
ValidAgentInputMessage = Union[UserMessage, ToolMessage, MultiToolMessage]


class AgentError(Exception):
    """An agent's own error."""


def is_valid_agent_history_message(message: Message) -> bool:
    """Whether a message may stand in what an agent is told of the past: its own, the user's words and
    the results of its own calls."""
    if isinstance(message, UserMessage):
        return not message.is_tool_call()
    if isinstance(message, ToolMessage):
        return message.requestor == "assistant"
    return isinstance(message, AssistantMessage)


class BaseAgent(Generic[AgentState]):
    """What every agent has."""

    def generate_next_message(
        self, message: ValidAgentInputMessage, state: AgentState
    ) -> Tuple[AssistantMessage, AgentState]:
        """Answers a message; the agent under test says how."""
        raise NotImplementedError

    def get_init_state(self, message_history: Optional[List[Message]] = None) -> AgentState:
        """Returns the state before the first message; the agent under test says which."""
        raise NotImplementedError

    def stop(self, message: Any = None, state: Any = None) -> None:
        """Is never called: the process ends with the conversation."""

    @classmethod
    def is_stop(cls, message: AssistantMessage) -> bool:
        """Is never asked: the user ends a conversation."""
        return False

    def set_seed(self, seed: int) -> None:
        """Does nothing."""


class LocalAgent(BaseAgent[AgentState]):
    """An agent with the domain's tools and policy."""

    def __init__(self, tools: List[Tool], domain_policy: str) -> None:
        """Takes tools and policy."""
        super().__init__()
        self.tools = tools
        self.domain_policy = domain_policy


HalfDuplexAgent = LocalAgent
