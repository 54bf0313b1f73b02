"""Both ends of scripts/channel-search: runs steps of system calls in a sandbox, and says what it sees there.

Standard library only, and no file of its own: the source is handed to `python3 -c`. Lines of JSON come in.
{"run": PROGRAM} carries a program out and answers {"done": seconds, "times": how often each sequence was}, with
"within" for at most so many seconds each; {"observe": SEQUENCES} keeps named
sequences; {"look": true} carries each of them out once and answers {"seen": {key: number}}, with what every
call returned and wrote and what every readable file of procfs and sysfs holds, of every look after the first
that which differs from it.

A program is a list of sequences: {"steps": [[number, arguments], …], "times": n, "alone": bool}; alone means
that each time is in a child of its own. An argument is a number, {"result": k} for what step k of the sequence
returned, {"pair": [k, 0 or 1]} for a descriptor that it wrote, {"bytes": hex} for a buffer with that content,
or {"room": n} for an empty one, whose words are part of what is seen.
"""

import ctypes
import json
import os
import re
import signal
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLOSE, FORK = 3, 57
NUMBERS = re.compile(rb"-?\d+(?:\.\d+)?")
# Seconds after which a call that waits is interrupted, again and again; none takes a tenth of it otherwise.
LONGEST_WAIT = 0.5
# Results up to this may be descriptors, which a sequence does not leave open.
MOST_OPEN = 1024


class Sequence:
    """Steps with their arguments in place, so that a step costs little more than its call."""

    def __init__(self, sequence):
        self.times, self.is_alone = sequence.get("times", 1), sequence.get("alone", False)
        self.opens, self.pairs = sequence.get("opens", []), sequence.get("pairs", [])
        self.steps, self.results = [], [0] * len(sequence["steps"])
        for number, arguments in sequence["steps"]:
            words, patches, rooms = [ctypes.c_long(number)], [], []
            for argument in arguments:
                if isinstance(argument, int):
                    words.append(ctypes.c_long(argument))
                elif "result" in argument or "pair" in argument:
                    words.append(ctypes.c_long(0))
                    patches.append((words[-1], argument))
                else:
                    content = bytes.fromhex(argument["bytes"]) if "bytes" in argument else bytes(argument["room"])
                    rooms.append((ctypes.create_string_buffer(content, max(len(content), 1)), content))
                    words.append(rooms[-1][0])
            self.steps.append((words, patches, rooms))

    def _end(self, step, which):
        return int.from_bytes(self.steps[step][2][0][0].raw[4 * which:4 * which + 4], "little")

    def once(self, seen=None, name=""):
        call, results = libc.syscall, self.results
        for index, (words, patches, rooms) in enumerate(self.steps):
            for word, source in patches:
                word.value = results[source["result"]] if "result" in source else self._end(*source["pair"])
            if seen is None:
                results[index] = call(*words)
            else:
                for room, content in rooms:
                    ctypes.memmove(room, content, len(content))
                begin = time.perf_counter_ns()
                results[index] = call(*words)
                seen[f"{name}.{index} time"] = time.perf_counter_ns() - begin
                seen[f"{name}.{index} result"] = results[index] if results[index] >= 0 else -ctypes.get_errno()
                for which, (room, content) in enumerate(rooms):
                    for at in range(0, len(content) - 3, 4):
                        word = int.from_bytes(room.raw[at:at + 4], "little")
                        seen[f"{name}.{index} word {which}.{at}"] = word
            if results[index] == 0 and words[0].value == FORK:
                os._exit(0)
        for index in self.opens:
            if 2 < results[index] < MOST_OPEN:
                call(ctypes.c_long(CLOSE), ctypes.c_long(results[index]))
        for index in self.pairs:
            if results[index] == 0:
                for which in (0, 1):
                    call(ctypes.c_long(CLOSE), ctypes.c_long(self._end(index, which)))

    def carry_out(self, within):
        """Carries it out as often as it says, or as a time allows; how often that was."""
        end = time.monotonic() + within if within else None
        for count in range(self.times):
            if end and time.monotonic() > end:
                reap()
                return count
            if not self.is_alone:
                self.once()
                continue
            child = os.fork()
            if child == 0:
                interrupt_what_waits()
                self.once()
                os._exit(0)
            os.waitpid(child, 0)
        reap()
        return self.times


def interrupt_what_waits():
    """In this process; a child has no timer of its parent's."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT, LONGEST_WAIT)


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def read_numbers(seen, path):
    try:
        with open(path, "rb", buffering=0) as file:
            for at, number in enumerate(NUMBERS.findall(file.read(1 << 16))[:400]):
                seen[f"{path} number {at}"] = float(number)
    except OSError as error:
        seen[f"{path} error"] = error.errno


def read_files(seen, roots, most=3000):
    left = most
    for root in roots:
        for folder, folders, names in os.walk(root, onerror=lambda _: None):
            # Descriptors and threads of our own change with each look.
            folders[:] = [name for name in sorted(folders) if name not in ("fd", "fdinfo", "map_files", "task")]
            for name in sorted(names):
                if left == 0:
                    return
                left -= 1
                read_numbers(seen, f"{folder}/{name}")


def look(sequences):
    seen = {}
    interrupt_what_waits()
    os.setsid()  # a child is no leader yet; procfs may count sessions
    read_files(seen, ["/proc/self", "/proc/sys", "/sys"])
    for name in sorted(os.listdir("/proc")) if os.path.isdir("/proc") else []:
        if not name.isdigit() and os.path.isfile(f"/proc/{name}") and name not in ("kmsg", "kcore"):
            read_numbers(seen, f"/proc/{name}")
    for name, sequence in sequences.items():
        sequence.once(seen, name)
    return seen


def answer(seen, first):
    """What differs from the first look; all of it where this is that."""
    return {"seen": {key: value for key, value in seen.items() if first.get(key) != value} if first else seen}


def in_child(answer):
    """What a child says that is new each time, as a coding agent starts its tools."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with open(writer, "w") as out:
            json.dump(answer(), out)
        os._exit(0)
    os.close(writer)
    with open(reader) as out:
        said = out.read()
    os.waitpid(child, 0)
    return said


def main():
    observed, first = {}, {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "observe" in asked:
            observed = {name: Sequence(sequence) for name, sequence in asked["observe"].items()}
        elif "look" in asked:
            said = in_child(lambda: answer(look(observed), first)) or '{"seen": {}}'
            first = first or json.loads(said)["seen"]
            print(said, flush=True)
        else:
            begin = time.monotonic()
            interrupt_what_waits()
            times = [Sequence(sequence).carry_out(asked.get("within")) for sequence in asked["run"]]
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(json.dumps({"done": time.monotonic() - begin, "times": times}), flush=True)


main()
