"""Both ends of scripts/channel-search: runs steps of system calls in a sandbox, and says what it sees there.

Standard library only, and no file of its own: the source is handed to `python3 -c`. Lines of JSON come in.
{"run": PROGRAM} carries a program out and answers {"done": seconds}; {"look": PROGRAMS} carries each out
once and answers {"seen": {key: number}}, with what every call returned and wrote and what every readable
file of procfs and sysfs holds.

A program is a list of sequences: {"steps": [[number, arguments], …], "times": n}. An argument is a number,
{"result": k} for what step k of the sequence returned, {"bytes": hex} for a buffer with that content, or
{"room": n} for an empty one, whose words are part of what is seen.
"""

import ctypes
import json
import os
import re
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLOSE, FORKS = 3, (56, 57, 58)
NUMBERS = re.compile(rb"-?\d+(?:\.\d+)?")
# Results up to this may be descriptors, which a sequence does not leave open.
MOST_OPEN = 1024


def carry_out(sequence, seen=None, name=""):
    results, rooms = [], []
    for index, (number, arguments) in enumerate(sequence["steps"]):
        words, own = [ctypes.c_long(number)], []
        for argument in arguments:
            if isinstance(argument, int):
                words.append(ctypes.c_long(argument))
            elif "result" in argument:
                words.append(ctypes.c_long(results[argument["result"]]))
            elif "pair" in argument:
                step, which = argument["pair"]
                words.append(ctypes.c_long(int.from_bytes(rooms[step][0].raw[4 * which:4 * which + 4], "little")))
            else:
                content = bytes.fromhex(argument["bytes"]) if "bytes" in argument else bytes(argument["room"])
                room = ctypes.create_string_buffer(content, max(len(content), 1))
                own.append(room)
                words.append(room)
        begin = time.perf_counter_ns()
        result = libc.syscall(*words)
        spent = time.perf_counter_ns() - begin
        if result == 0 and number in FORKS:
            os._exit(0)
        results.append(result)
        rooms.append(own)
        if seen is not None:
            key = f"{name}.{index}"
            seen[f"{key} result"] = result if result >= 0 else -ctypes.get_errno()
            seen[f"{key} time"] = spent
            for which, room in enumerate(own):
                for at in range(0, len(room.raw) - 3, 4):
                    seen[f"{key} word {which}.{at}"] = int.from_bytes(room.raw[at:at + 4], "little")
    for index, (number, _) in enumerate(sequence["steps"]):
        opened = sequence.get("opens", [])
        if index in opened and 2 < results[index] < MOST_OPEN:
            libc.syscall(ctypes.c_long(CLOSE), ctypes.c_long(results[index]))
        if index in sequence.get("pairs", []) and results[index] == 0 and rooms[index]:
            for which in (0, 4):
                end = int.from_bytes(rooms[index][0].raw[which:which + 4], "little")
                libc.syscall(ctypes.c_long(CLOSE), ctypes.c_long(end))
    return results


def read_files(seen, roots, most=3000):
    left = most
    for root in roots:
        for folder, folders, names in os.walk(root, onerror=lambda _: None):
            # Descriptors and threads of our own change with each look.
            folders[:] = [name for name in sorted(folders) if name not in ("fd", "fdinfo", "map_files", "task")]
            for name in sorted(names):
                path = f"{folder}/{name}"
                if left == 0:
                    return
                left -= 1
                try:
                    with open(path, "rb", buffering=0) as file:
                        content = file.read(1 << 16)
                except OSError as error:
                    seen[f"{path} error"] = error.errno
                    continue
                for at, number in enumerate(NUMBERS.findall(content)[:400]):
                    seen[f"{path} number {at}"] = float(number)


def look(programs):
    seen = {}
    os.setsid()  # a child is no leader yet; procfs may count sessions
    read_files(seen, ["/proc/self", "/proc/sys", "/sys"])
    for name in sorted(os.listdir("/proc")) if os.path.isdir("/proc") else []:
        if not name.isdigit() and os.path.isfile(f"/proc/{name}") and name not in ("kmsg", "kcore"):
            try:
                with open(f"/proc/{name}", "rb", buffering=0) as file:
                    for at, number in enumerate(NUMBERS.findall(file.read(1 << 16))[:400]):
                        seen[f"/proc/{name} number {at}"] = float(number)
            except OSError as error:
                seen[f"/proc/{name} error"] = error.errno
    for name, sequence in programs.items():
        carry_out(sequence, seen, name)
    return seen


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        if "look" in asked:
            # In a child that is new each time, as a coding agent starts its tools.
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with open(writer, "w") as out:
                    json.dump({"seen": look(asked["look"])}, out)
                os._exit(0)
            os.close(writer)
            with open(reader) as out:
                answer = out.read()
            os.waitpid(child, 0)
            print(answer or '{"seen": {}}', flush=True)
        else:
            begin = time.monotonic()
            for sequence in asked["run"]:
                for _ in range(sequence.get("times", 1)):
                    carry_out(sequence)
            print(json.dumps({"done": time.monotonic() - begin}), flush=True)


main()
