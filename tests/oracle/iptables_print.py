#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TIMEOUT 300
"""The tables of tests/unit/iptables_*.def against the tools themselves, in a network namespace of its own.

Every R row must be printed by iptables-legacy-save as it says there, every E row must be refused by
iptables-legacy-restore or by the kernel behind it; and what is printed must be taken by iptables-nft-restore too, unless
that tool refuses the row as it is written.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = os.path.join(HERE, "..", "unit")
NS = "weir-iptprint-%d" % os.getpid()
LOCK = os.environ["XTABLES_LOCKFILE"] = "/run/%s.lock" % NS  # iptables has one lock for all namespaces, and gives up where somebody holds it
ROW = re.compile(r'^([RE])\((\d), "(\w+)",\n(.*?)\)$', re.M | re.S)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
# The kernel of legacy iptables is asked; where it lacks a module, a row says nothing.
LACKING = ("missing kernel module", "No such file or directory", "doesn't exist")


def inside(*argv, text=""):
    p = subprocess.run(("ip", "netns", "exec", NS) + argv, input=text.encode(), capture_output=True, check=False)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def strings(text):
    """The C string literals of a row; neighbours on separate lines without a comma are one."""
    out, end = [], None
    for m in TEXT.finditer(text):
        one = re.sub(r"\\(.)", r"\1", m.group(1))
        if end is not None and not text[end:m.start()].strip():
            out[-1] += one
        else:
            out.append(one)
        end = m.end()
    return out


def rows(name):
    with open(os.path.join(UNIT, name), encoding="utf-8") as f:
        for m in ROW.finditer(f.read()):
            s = strings(m.group(4))
            yield ("ip6tables" if m.group(2) == "6" else "iptables"), m.group(3), s[0], s[-1]


def ruleset(table, rule):
    return "*%s\n:UC - [0:0]\n%s\nCOMMIT\n" % (table, rule)


def check_printed(tool, table, rule, want):
    code, _, err = inside(tool + "-legacy-restore", text=ruleset(table, rule))
    if code:
        return None if any(s in err for s in LACKING) else "legacy refuses: " + err.strip()
    saved = inside(tool + "-legacy-save", "-t", table)[1]
    inside(tool + "-legacy", "-t", table, "-F")
    got = "|".join(line for line in saved.splitlines() if line.startswith("-A"))
    if got != want:
        return "saved as " + got
    if inside(tool + "-nft-restore", "--test", text=ruleset(table, rule))[0]:
        return None
    code, _, err = inside(tool + "-nft-restore", "--test", text=ruleset(table, want.replace("|-A ", "\n-A ")))
    return "nft refuses what is printed: " + err.strip() if code else None


def check_refused(tool, table, rule, _):
    code = inside(tool + "-legacy-restore", text=ruleset(table, rule))[0]
    inside(tool + "-legacy", "-t", table, "-F")
    return None if code else "legacy takes it"


def run(number, name, check):
    bad = []
    n = 0
    for tool, table, rule, want in rows(name):
        n += 1
        why = check(tool, table, rule, want)
        if why:
            bad.append("%s -t %s: %s\n#   %s" % (tool, table, rule, why))
    print("%sok %d - %s: %d rows" % ("not " if bad or not n else "", number, name, n))
    for text in bad:
        print("# " + text)
    return not bad


def main():
    files = ["iptables_core.def", "iptables_match.def", "iptables_target.def", "iptables_error.def"]
    print("1..%d" % len(files))
    if os.geteuid() != 0 or subprocess.run(("ip", "netns", "add", NS), capture_output=True, check=False).returncode:
        for i, name in enumerate(files):
            print("ok %d - %s # SKIP needs root and network namespaces" % (i + 1, name))
        return 0
    try:
        if inside("iptables-legacy", "-L")[0]:
            for i, name in enumerate(files):
                print("ok %d - %s # SKIP the kernel has no legacy iptables" % (i + 1, name))
            return 0
        inside("ipset", "create", "s", "hash:ip,port")
        results = [run(i + 1, name, check_refused if "error" in name else check_printed) for i, name in enumerate(files)]
        return 0 if all(results) else 1
    finally:
        subprocess.run(("ip", "netns", "del", NS), capture_output=True, check=False)
        if os.path.exists(LOCK):
            os.unlink(LOCK)


if __name__ == "__main__":
    sys.exit(main())
