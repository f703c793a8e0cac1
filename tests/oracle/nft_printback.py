#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What weir prints of an nft file is the same ruleset to the kernel: nft lists both alike.

    nft_printback.py [SEED [ROUNDS]]        SEED, ROUNDS of the environment likewise; 1 60

Texts are random rulesets, tests/oracle/rules/statements.nft, which has every statement and expression that this kernel takes,
and, where $WEIR_SHARED is there, the published rulesets that nft accepts. Each text, and what `weir check --print` makes of
it, is loaded into a network namespace of its own and listed again by nft. TIMEOUT 300
"""
import difflib
import glob
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import lab  # noqa: E402
import nft_dice  # noqa: E402

WEIR = os.path.abspath(os.environ.get("WEIR", "build/weir"))
SHARED = os.path.abspath(os.environ.get("WEIR_SHARED", "../shared"))


def listed(text):
    """(exit status, what nft lists once it has loaded the text, or its error)"""
    p = subprocess.run(["unshare", "-n", "sh", "-c", "nft -f /dev/stdin && nft list ruleset"], input=text.encode(), capture_output=True)
    text = (p.stdout if p.returncode == 0 else p.stderr).decode(errors="replace")
    return p.returncode, re.sub(r" expires \S+", "", text)  # time goes on between two listings


def printed(text, folder):
    p = subprocess.run([WEIR, "check", "--lang", "nft", "--print", "--counts", "-"], input=text.encode(), capture_output=True, cwd=folder)
    return p.returncode, (p.stdout if p.returncode == 0 else p.stderr).decode(errors="replace")


def difference(text, folder=HERE):
    """Why the two are not alike; None; or False where nft refuses the text."""
    code, want = listed(text)
    if code:
        return False
    code, out = printed(text, folder)
    if code:
        return "weir refuses it: " + out[:1500]
    code, got = listed(out)
    if code:
        return "nft refuses what is printed: " + got[:1500]
    if got != want:
        return "\n".join(list(difflib.unified_diff(want.splitlines(), got.splitlines(), "as written", "as printed", lineterm="", n=1))[:40])
    return None


def texts(seed, n):
    """(name, text, folder for includes, must nft accept it?)"""
    with open(os.path.join(HERE, "rules/statements.nft")) as f:
        yield "statements.nft", f.read(), HERE, True
    for i in range(n):
        yield "random ruleset %d" % (seed * 100000 + i), nft_dice.NftDice(random.Random(seed * 100000 + i)).rules(), HERE, False
    for path in sorted(glob.glob(os.path.join(SHARED, "rulesets/nft/*.nft"))):
        with open(path, errors="replace") as f:
            yield "nft/" + os.path.basename(path), f.read(), os.path.dirname(path), False


def main():
    arg = sys.argv[1:] + [None] * 2
    seed, n = int(arg[0] or os.environ.get("SEED", "1")), int(arg[1] or os.environ.get("ROUNDS", "60"))
    why = lab.why_not()
    if why:
        print("1..1\nok 1 - # SKIP " + why)
        return 0
    count = bad = refused = 0
    for name, text, folder, must in texts(seed, n):
        diff = difference(text, folder)
        if diff is False and not must:
            refused += 1
            continue
        count += 1
        bad += diff is not None
        print("%sok %d - %s" % ("" if diff is None else "not ", count, name))
        for line in ("nft refuses it: " + listed(text)[1][:800] if diff is False else diff or "").splitlines():
            print("#   " + line)
    count += 1
    print("%sok %d - most random rulesets are accepted by nft (%d texts are not)" % ("" if count > n // 2 else "not ", count, refused))
    print("1..%d" % count)
    return 1 if bad or count <= n // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
