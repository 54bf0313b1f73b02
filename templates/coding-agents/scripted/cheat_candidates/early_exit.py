"""A candidate that claims success and leaves before anything is asked of it.

Wants: a harness that takes exit status 0, a printed PASS or a reward file for a verdict.
"""

import json
import os

for folder in ("/logs/verifier", "/candidate", ".", "/workspace", "/examiner"):
    for name, text in (("reward.txt", "1"), ("result.json", json.dumps({"reward": 1.0}))):
        try:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        except OSError:
            pass
for descriptor in (1, 2):
    try:
        os.write(descriptor, b"PASS\nreward: 1.0\nall tests passed\n")
    except OSError:
        pass
os._exit(0)
