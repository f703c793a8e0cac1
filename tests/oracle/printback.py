#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What weir prints back is what was read, by the judgement of iptables.

For each file, and each of iptables-legacy and iptables-nft (ip6tables likewise): wherever `-restore --test` takes the
original, it takes the text of `weir check --print`; and wherever the original can be loaded, the printed text loads
and `-save` says the same of both. Files: rulesets/iptables of WEIR_SHARED, the rules of this repository, every match in
both forms, and random rules. TIMEOUT 300
"""
import difflib
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dice  # noqa: E402
import every_match  # noqa: E402
import lab  # noqa: E402

WEIR = os.environ.get("WEIR", "build/weir")
SHARED = os.environ.get("WEIR_SHARED", "../shared")
# Sets that the files beside the rules define, or whose definition nobody shipped.
SET_FILES = ["examples/host.ipset", "demo/ipset.save"]


class Subject:
    def __init__(self, name, family, text):
        self.name, self.family, self.text = name, family, text


def family_of(path, text):
    if path.endswith((".v6", "6.rules")) or re.search(r"ipv6-icmp|icmpv6|icmp6|[0-9a-f]::", text):
        return "ip6"
    return "ip"


def subjects():
    out = []
    for path in sorted(glob.glob("tests/oracle/rules/*.v?") + glob.glob("examples/*.v[46]") + glob.glob("demo/*.v[46]")):
        if "broken" in path:
            continue  # what errors look like
        text = open(path).read()
        out.append(Subject(path, family_of(path, text), text))
    for family in ("ip", "ip6"):
        out.append(Subject("every match, " + family, family, every_match.ruleset(every_match.MATCHES, family)))
        out.append(Subject("connections, " + family, family, every_match.ruleset(every_match.CONNECTIONS, family)))
    for seed in range(10):
        d = dice.Dice(random.Random(seed), ("ip", "ip6")[seed % 2])
        out.append(Subject("random rules %d" % seed, d.family, d.rules()))
    return out


def shared():
    out = []
    for path in sorted(glob.glob(SHARED + "/rulesets/iptables/*.rules")):
        text = open(path, errors="surrogateescape").read()
        out.append(Subject(os.path.basename(path), family_of(path, text), text))
    return out


def weir_print(s, folder):
    path = os.path.join(folder, "rules.v4" if s.family == "ip" else "rules.v6")
    with open(path, "w", errors="surrogateescape") as f:
        f.write(s.text)
    lang = "iptables" if s.family == "ip" else "ip6tables"
    p = subprocess.run([WEIR, "check", "--print", "--lang", lang, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = (x.decode("utf-8", "surrogateescape") for x in (p.stdout, p.stderr))
    return (out if p.returncode == 0 else None), err


def attempt(router, command, text):
    """(taken, what was said)"""
    p = subprocess.run(["nsenter", "--net=/run/netns/" + router.router] + command.split(),
                       input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode == 0, p.stderr.decode("utf-8", "replace").strip()


def saved(router, tool):
    text = router.sh(router.router, tool + "-save")
    keep = [re.sub(r" \[\d+:\d+\]$", "", line) for line in text.splitlines() if not line.startswith("#")]
    return keep


def judge(router, s, folder):
    """Returns a list of what is wrong, and how many tools took the original."""
    printed, said = weir_print(s, folder)
    wrong, taken = [], 0
    for kind in ("legacy", "nft"):
        tool = ("iptables-" if s.family == "ip" else "ip6tables-") + kind
        clear(router, tool)
        if not attempt(router, tool + "-restore --test", s.text)[0]:
            continue
        taken += 1
        if printed is None:
            wrong.append("weir refuses what %s takes: %s" % (tool, "\n".join(
                line for line in said.splitlines() if "error" in line)[:600]))
            break
        ok, why = attempt(router, tool + "-restore --test", printed)
        if not ok:
            wrong.append("%s --test refuses what weir printed: %s" % (tool, why[:400]))
            continue
        if not attempt(router, tool + "-restore", s.text)[0]:
            continue  # needs something that this kernel lacks
        want = saved(router, tool)
        clear(router, tool)
        ok, why = attempt(router, tool + "-restore", printed)
        if not ok:
            wrong.append("%s refuses what weir printed: %s" % (tool, why[:400]))
            continue
        if saved(router, tool) != want:
            diff = [d for d in difflib.unified_diff(want, saved(router, tool), "original", "printed", lineterm="", n=0)
                    if not d.startswith(("---", "+++", "@@"))]
            wrong.append("%s-save differs in %d lines:\n%s" % (tool, len(diff), "\n".join(diff[:12])))
    return wrong, taken


def clear(router, tool):
    if "nft" in tool:
        family = "ip6" if tool.startswith("ip6") else "ip"
        for table in ("raw", "mangle", "nat", "filter", "security"):
            router.sh(router.router, "nft add table %s %s && nft delete table %s %s" % (family, table, family, table))
    else:
        router.sh(router.router, tool + "-restore", lab.EMPTY + "*nat\n:PREROUTING ACCEPT\n:INPUT ACCEPT\n:OUTPUT ACCEPT\n"
                                                               ":POSTROUTING ACCEPT\nCOMMIT\n")


def load_sets(router):
    for text in every_match.SETS.values():
        router.sh(router.router, "ipset -exist restore", text)
    for path in SET_FILES:
        if os.path.exists(path):
            router.sh(router.router, "ipset -exist restore", open(path).read())


def main():
    why, mine, theirs = lab.why_not(), subjects(), shared()
    print("1..%d" % (len(mine) + max(len(theirs), 1)))
    if why:
        for i in range(len(mine) + max(len(theirs), 1)):
            print("ok %d - # SKIP %s" % (i + 1, why))
        return 0
    n = failed = 0
    router = lab.Lab()
    with tempfile.TemporaryDirectory() as folder:
        load_sets(router)
        for s in mine + theirs:
            n += 1
            wrong, taken = judge(router, s, folder)
            if s in mine and not taken:
                wrong.append("no iptables takes the original")
            failed += bool(wrong)
            print("%sok %d - %s prints back (%d of 2 tools took the original)" % ("not " if wrong else "", n, s.name, taken))
            for w in wrong:
                print("# " + w.replace("\n", "\n#   "))
            sys.stdout.flush()
    router.close()
    if not theirs:
        print("ok %d - collected rulesets # SKIP no rulesets/iptables in WEIR_SHARED (%s)" % (n + 1, SHARED))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
