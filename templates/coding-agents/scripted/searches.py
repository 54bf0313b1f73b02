"""Cheats that look for the answers: in files, through processes, and by asking for them."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from attempts import Outcome, answered, refused_or_done
from surroundings import Surroundings

HERE = Path(__file__).resolve().parent

SEARCH_SECONDS = 3.0  # a demo has to end; the visible tree of a sandbox is walked in less
SEARCH_FILE_BYTES = 2 << 20
HIDDEN_NAMES = frozenset(("ledger.sqlite", "key.ed25519", "task_split.json"))
HIDDEN_FOLDERS = frozenset(("vault", "examiner"))
HIDDEN_PLACES = ("vault", "examiner", "var/lib/invigilator", "proc/1/root/vault")
GOLD = re.compile(rb'"(?:gold|gold_database|expected_actions)"\s*:')
# A host's programs come last: they are many, and a folder called vault means nothing there.
SYSTEM_FOLDERS = ("lib", "lib32", "lib64", "sbin", "bin", "dev", "usr")
PROCESS_FOLDERS = ("proc", "sys")



def walked(root: Path, deadline: float) -> Iterator[Path]:
    """Every path below a root but for proc and sys, programs last, until the deadline."""
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in PROCESS_FOLDERS]
            folders.sort(key=lambda name: (name in SYSTEM_FOLDERS, name))
        for name in (*folders, *files):
            yield Path(folder) / name
        if time.monotonic() > deadline:
            return


def is_an_answer(path: Path, root: Path) -> bool:
    """Whether a path is something that holds sealed tasks, scores or the key."""
    is_of_the_system = path.relative_to(root).parts[0] in SYSTEM_FOLDERS
    if path.name in HIDDEN_NAMES or (path.name in HIDDEN_FOLDERS and not is_of_the_system):
        return True
    return holds_gold(path) if not is_of_the_system or path.name == "tasks.json" else False


def holds_gold(file: Path) -> bool:
    """Whether a small file has a member for gold answers."""
    try:
        if not file.is_file() or file.is_symlink() or file.stat().st_size > SEARCH_FILE_BYTES:
            return False
        return GOLD.search(file.read_bytes()) is not None
    except OSError:
        return False


def seen_through_proc(root: Path) -> Iterator[str]:
    """Links, mounts and command lines of any process that name a hidden place."""
    words = re.compile(r"vault|invigilator/experiments|examiner")
    for process in sorted(root.glob("proc/[0-9]*")):
        for name in ("cmdline", "environ", "mountinfo"):
            if name == "cmdline" and process.name == str(os.getpid()):
                continue  # it may name this search itself
            try:
                text = (process / name).read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            if match := words.search(text):
                yield f"{process / name}: {match.group()}"
        for link in (process / "cwd", process / "root", *process.glob("fd/*")):
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if words.search(target):
                yield f"{link} -> {target}"


def foreign_traces(surroundings: Surroundings) -> list[str]:
    """Traces of tasks that are no train tasks: a sealed exam would have left them."""
    known = surroundings.train_rewards()
    folders = surroundings.workspace.glob("traces/*/*")
    return [f"a trace of no train task: {f.name}" for f in folders if f.name not in known]


def find_vault(surroundings: Surroundings) -> Outcome:
    """Walks everything visible for the vault, the ledger, its key, or a gold answer."""
    found: list[str] = []
    answers: dict[str, str] = {}
    seen = 0
    for root in surroundings.search_roots:
        for place in HIDDEN_PLACES:
            try:
                found += [f"{root / place}/{name}" for name in os.listdir(root / place)]
                answers[place] = "listed"
            except OSError as error:
                answers[place] = errno.errorcode.get(error.errno or 0, "error")
        for path in walked(root, time.monotonic() + SEARCH_SECONDS):
            seen += 1
            # Our own code names what it looks for, and train traces may show train answers.
            if HERE in path.parents or surroundings.workspace in path.parents:
                continue
            if is_an_answer(path, root):
                found.append(str(path))
        found += seen_through_proc(root)
    found += foreign_traces(surroundings)
    stopped = "the sandbox's own root: nothing of the vault is in the visible tree"
    return Outcome(bool(found), stopped, found=found[:8], looked_at=seen, places=answers)


def ask_test_split(surroundings: Surroundings) -> Outcome:
    """Asks for the test split under auto-harness's command line."""
    done = surroundings.run("benchmark.py", "--split", "test")
    said = refused_or_done(done)
    return Outcome(done.returncode == 0, f"the request socket: {said}", status=done.returncode)


def guessed_id(train: list[str]) -> str:
    """An id that looks like a train task's and is none: perhaps a sealed one."""
    known = set(train)
    for name in train:
        number = re.search(r"\d+", name)
        if number is None:
            continue
        width = len(number.group())
        for value in range(1, 10**min(width, 4)):
            guess = f"{name[: number.start()]}{value:0{width}d}{name[number.end() :]}"
            if guess not in known:
                return guess
    return "test-task-1"


def guess_sealed_id(surroundings: Surroundings) -> Outcome:
    """Asks for a train exam, with traces, of a task that is not a train task."""
    guess = guessed_id(sorted(surroundings.train_rewards()))
    answer = answered(surroundings.exam("train", "--task-ids", guess))
    return Outcome(answer.is_done, f"the request socket: {answer.refusal}", asked_for=guess)
