#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The published nft rulesets of $WEIR_SHARED/rulesets: each is read, or refused for the reason that stock nft has.

accept.tsv there tells what nft 1.0.6 said of each. Where weir judges otherwise, the table "Rulesets judged otherwise" of
docs/nft.md has a line with the file's number and a reason, and no line that is not needed. What is read is printed, read again
to the same model, and printed in a form that stock nft takes wherever it took the original (as root). TIMEOUT 200
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(ROOT, "build/weir")))
SHARED = os.path.abspath(os.environ.get("WEIR_SHARED", "../shared"))


def weir(*args, text=None):
    p = subprocess.run([WEIR, "check", "--lang", "nft"] + list(args), input=text, capture_output=True, cwd=os.path.join(SHARED, "rulesets"))
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def stock(text):
    """What nft itself says in a namespace of its own."""
    p = subprocess.run(["unshare", "-n", "nft", "-c", "-f", "-"], input=text.encode(), capture_output=True)
    return p.returncode, p.stderr.decode(errors="replace")


def verdicts():
    """{name: (exit status of nft, first line it complains about or 0, message)}"""
    out = {}
    for line in open(os.path.join(SHARED, "rulesets", "accept.tsv"), errors="replace"):
        w = line.rstrip("\n").split("\t")
        if w[0].startswith("nft/"):
            m = re.search(r"\.nft:(\d+):", w[3] if len(w) > 3 else "")
            out[w[0][4:7]] = (int(w[2]), int(m.group(1)) if m else 0, w[3] if len(w) > 3 else "")
    return out


def differences():
    """{number: ("read" or "refused", reason)} of the table in docs/nft.md"""
    out, inside = {}, False
    for line in open(os.path.join(ROOT, "docs/nft.md")):
        inside = line.startswith("## Rulesets judged otherwise") or inside and not line.startswith("## ")
        m = re.match(r"\| ([\d, ]+) \| (read|refused) \| (.+) \|$", line)
        if inside and m:
            for n in m.group(1).split(","):
                out[n.strip()] = (m.group(2), m.group(3))
    return out


def round_trip(path, text, is_root):
    """Why what weir prints is not the same, or None."""
    code, out, err = weir("--print", path)
    with tempfile.NamedTemporaryFile("w", suffix=".nft") as f:
        f.write(out)
        f.flush()
        before, after, again = weir("--dump", path), weir("--dump", f.name), weir("--print", f.name)
    if after[0]:
        return "what is printed is refused: " + after[2][:600]
    if again[1] != out:
        return "what is printed is printed otherwise"
    if before[1] != after[1]:
        a, b = before[1].splitlines(), after[1].splitlines()
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return "what is printed means something else: %s\n%s" % (a[at:at + 1], b[at:at + 1])
    if is_root and stock(text)[0] == 0:
        code, err = stock(out)
        if code:
            return "nft refuses what is printed: " + err[:600]
    return None


def judge(number, want, told):
    path = "nft/%s.nft" % number
    code, out, err = weir(path)
    if code not in (0, 1):
        return "exit status %d: %s" % (code, err[:400])
    lines = {int(n) for n in re.findall(r"\.nft:(\d+):\d+: error", err)}
    accepted = code == 0
    if number in told:
        if (told[number][0] == "read") != accepted:
            return "docs/nft.md says that it is %s: %s" % (told[number][0], err[:400])
        if accepted == (want[0] == 0):
            return "docs/nft.md tells a difference, and there is none"
    elif accepted != (want[0] == 0):
        return "nft says: %s\n%s" % (want[2][:200] or "fine", err[:600])
    elif not accepted and want[1] and want[1] not in lines:
        return "another place than line %d: %s\n%s" % (want[1], want[2][:200], err[:600])
    if accepted:
        with open(os.path.join(SHARED, "rulesets", path), errors="replace") as f:
            return round_trip(path, f.read(), os.geteuid() == 0)
    return None


def main():
    if not os.path.exists(os.path.join(SHARED, "rulesets", "accept.tsv")):
        print("1..0 # SKIP no rulesets: WEIR_SHARED/rulesets is not there")
        return 0
    all_, told, bad = verdicts(), differences(), 0
    print("1..%d" % (len(all_) + 1))
    with ThreadPoolExecutor(2) as pool:
        for i, (number, why) in enumerate(zip(all_, pool.map(lambda n: judge(n, all_[n], told), all_)), 1):
            print("%sok %d - nft/%s.nft%s" % ("not " if why else "", i, number, ": told in docs/nft.md" if number in told else ""))
            for line in (why or "").splitlines():
                print("# " + line)
            bad += why is not None
    strays = sorted(set(told) - set(all_))
    print("%sok %d - docs/nft.md names no other file %s" % ("not " if strays else "", len(all_) + 1, " ".join(strays)))
    return 1 if bad or strays else 0


if __name__ == "__main__":
    sys.exit(main())
