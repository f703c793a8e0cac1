#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""README.md shows what really comes out: every `$ build/weir ...` in it is run, and what it prints is compared. Links lead
to files. (What needs root stands behind a # there; the demo checks that.)"""
import os
import re
import subprocess
import sys

WEIR = os.environ.get("WEIR", "build/weir")


def shown(text):
    """[(command, what the page says comes out)]"""
    out, block = [], None
    for line in text.splitlines():
        if not line.startswith("    "):
            block = None
        elif line.startswith("    $ build/weir "):
            block = [line[6:], []]
            out.append(block)
        elif block:
            block[1].append(line[4:])
    return [(command, "\n".join(lines)) for command, lines in out]


def main():
    text = open("README.md").read()
    examples = shown(text)
    links = sorted(set(re.findall(r"\]\(([^)#:]+)\)", text)))
    print("1..%d" % (len(examples) + 1))
    failed = 0
    for n, (command, want) in enumerate(examples):
        argv = command.replace("build/weir", WEIR, 1)
        p = subprocess.run(["sh", "-c", argv + " 2>&1"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        got = p.stdout.rstrip("\n")
        failed += got != want
        print("%sok %d - %s" % ("" if got == want else "not ", n + 1, command[:60]))
        if got != want:
            print("# it says now:\n#   " + got.replace("\n", "\n#   "))
    gone = [link for link in links if not os.path.exists(link)]
    failed += bool(gone)
    print("%sok %d - its links lead somewhere%s" % ("not " if gone else "", len(examples) + 1, ", but not " + ", ".join(gone) if gone else ""))
    return 1 if failed or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
