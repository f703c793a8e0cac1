#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tests/run itself, over small trees of tests that pass, fail, end badly, wait for one another or must not meet."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

PASSES = "echo 1..1; echo ok 1 - fine"
# Waits until its name and its partner's lie in the folder: passes only beside its partner.
MEETS = """touch %s
for i in $(seq 100); do [ -e %s ] && { echo 1..1; echo ok 1 - met; exit; }; sleep 0.1; done
echo 1..1; echo not ok 1 - alone"""
# Passes unless somebody else is in the room.
ALONE = """if mkdir room; then r=ok; else r='not ok'; fi
sleep 0.3; rmdir room; echo 1..1; echo "$r" 1 - alone"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o755)


def start(tests, pattern="", **env):
    """tests: {path: (words of its head, script)}. Returns the folder and the runner."""
    root = tempfile.mkdtemp(prefix="weir-runner-")
    write(root + "/scripts/check.sh", "#!/bin/sh\n%s\n" % PASSES)
    write(root + "/tests/run", open(os.path.join(tap.ROOT, "tests/run")).read())
    for path, (head, script) in tests.items():
        write(os.path.join(root, path), "#!/bin/bash\n# %s\n%s\n" % (head, script))
    keep = {k: v for k, v in os.environ.items() if k not in ("CI", "LANES")}
    p = subprocess.Popen([root + "/tests/run"] + [pattern] * bool(pattern), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env=dict(keep, **env), text=True)
    return root, p


def run(tests, pattern="", **env):
    """(exit status, lines of output)"""
    root, p = start(tests, pattern, **env)
    out, _ = p.communicate()
    shutil.rmtree(root)
    return p.returncode, out.splitlines()


def ends(script, status, last, failed, what, head="", **env):
    """A tree with one test beside scripts/check.sh."""
    got, out = run({"tests/cli/one.sh": (head, script)}, "cli", **env)
    says = failed is None or any("failed: " + failed in line for line in out)
    tap.ok(got == status and out[-1:] == [last] and says, what, "exit status %d\n%s" % (got, "\n".join(out)))


ends(PASSES, 0, "1 passed, 0 failed, 0 skipped", None, "a test that passes")
ends("echo 1..2; echo ok 1; echo not ok 2 - bad", 1, "1 passed, 1 failed, 0 skipped", "bad", "a result that is not ok")
ends("echo 1..3; echo ok 1", 1, "1 passed, 1 failed, 0 skipped", "1 of 3 planned results", "fewer results than planned")
ends("echo ok 1", 1, "1 passed, 1 failed, 0 skipped", "no TAP plan", "no plan")
ends("true", 1, "0 passed, 1 failed, 0 skipped", "no TAP plan", "nothing at all")
ends(PASSES + "; exit 3", 1, "1 passed, 1 failed, 0 skipped", "exit status 3", "an exit status of its own")
ends(PASSES + "; kill -9 $$", 1, "1 passed, 1 failed, 0 skipped", "died of signal 9", "a signal")
ends(PASSES + "; sleep 30", 1, "1 passed, 1 failed, 0 skipped", "took more than 1 s", "a test that takes too long", "TIMEOUT 1")
ends("echo 'Bail out! no'; echo 1..0", 1, "0 passed, 1 failed, 1 skipped", "Bail out! no", "a test that bails out")
ends("echo 1..1; echo 'ok 1 - x # SKIP needs root'", 0, "0 passed, 0 failed, 1 skipped", None, "a skipped result")
ends("echo '1..0 # SKIP needs root'", 0, "0 passed, 0 failed, 1 skipped", None, "a skipped test")
ends("echo '1..0 # SKIP needs root'", 1, "0 passed, 1 failed, 0 skipped", "skipped in CI: needs root", "which CI does not take",
     CI="true")
ends(PASSES, 1, "0 passed, 0 failed, 0 skipped", None, "a tool is no test", "Not a test.")
status, lines = run({}, "nothing-like-it")
tap.ok(status == 1 and lines[-1] == "0 passed, 0 failed, 0 skipped", "a pattern that finds nothing", "\n".join(lines))

# ---- lanes ----

pair = {"tests/cli/a.sh": ("", MEETS % ("a", "b")), "tests/kernel/b.sh": ("", MEETS % ("b", "a"))}
status, lines = run(pair, LANES="2")
tap.ok(status == 0 and lines[-1] == "3 passed, 0 failed, 0 skipped", "two lanes run one that waits beside one that computes",
       "\n".join(lines))
pair = {"tests/kernel/a.sh": ("", MEETS % ("a", "b")), "tests/oracle/b.sh": ("", MEETS % ("b", "a"))}
status, lines = run(pair, LANES="2")
tap.ok(status == 0, "a lane that has nothing left helps the other", "\n".join(lines))
several = {"tests/%s/%d.sh" % (d, i): ("HOLDS room", ALONE) for d in ("cli", "kernel") for i in range(2)}
status, lines = run(several, LANES="4")
tap.ok(status == 0 and lines[-1] == "5 passed, 0 failed, 0 skipped", "tests that hold the same do not meet", "\n".join(lines))
status, lines = run({p: ("", s) for p, (_, s) in several.items()}, LANES="4")
tap.ok(status == 1, "which they would", "\n".join(lines))

several = {"tests/cli/%d.sh" % i: ("", "sleep 0.%d; for i in 1 2 3 4 5 6; do echo %d-$i; sleep 0.03; done; echo 1..1; echo not ok" %
                                  (9 - 3 * i, i)) for i in range(4)}
status, lines = run(several, LANES="4")
said = [line.split("| ")[1] for line in lines if re.search(r"\| \d-\d", line)]
tap.ok(said == ["%d-%d" % (i, k) for i in range(4) for k in range(1, 7)], "the output of each is whole, in a stable order",
       "\n".join(lines))
tap.ok(status == 1 and lines[-1] == "1 passed, 4 failed, 0 skipped", "and all are added up", "\n".join(lines))

root, p = start({"tests/cli/a.sh": ("", "trap 'echo gone >gone; exit' TERM; touch here; while :; do sleep 0.1; done"),
                 "tests/cli/b.sh": ("", "sleep 30")}, LANES="2")
for _ in range(100):
    if os.path.exists(root + "/here"):
        break
    time.sleep(0.1)
p.send_signal(signal.SIGTERM)
out, _ = p.communicate()
tap.ok(p.returncode == 143 and os.path.exists(root + "/gone"), "a runner that is ended ends what it has begun", out)
shutil.rmtree(root)
tap.end()
