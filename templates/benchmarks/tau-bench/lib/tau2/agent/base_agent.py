"""The names of tau2's `base_agent`."""

from tau2.agent.base import (  # noqa: F401
    AgentError,
    AgentState,
    BaseAgent,
    HalfDuplexAgent,
    LocalAgent,
    ValidAgentInputMessage,
    is_valid_agent_history_message,
)
