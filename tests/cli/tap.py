# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# not a test: what the tests beside it share
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(ROOT, "build/weir")))
count = failed = 0


def ok(holds, what, why=""):
    global count, failed
    count += 1
    failed += not holds
    print("%s %d - %s" % ("ok" if holds else "not ok", count, what.replace("#", "%")))
    if not holds:
        for line in str(why).splitlines():
            print("#   " + line)


def skip(what, why):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, what, why))


def run(*args, stdin=b"", cwd=ROOT, env=None):
    """(exit status, standard output, standard error) of weir with these arguments."""
    p = subprocess.run([WEIR] + list(args), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                       env=dict(os.environ, **(env or {})))
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def end():
    print("1..%d" % count)
    sys.exit(1 if failed else 0)
