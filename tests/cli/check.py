#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""weir check tells all errors in one run: also those of the whole ruleset when a line cannot be read, and none that would not
be there if it could."""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import end, ok, run  # noqa: E402

HEAD = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n"
LOOP = ":a - [0:0]\n:b - [0:0]\n-A a -j b\n-A b -j a\n"
REACHED = LOOP + "-A INPUT -j a\n"
TOLD = ["7: error: loop a -> b -> a reached from INPUT (line 9)", "8: error: this jump closes the loop a -> b -> a"]
BAD = "-A INPUT -p tcp --dport 70000 -j ACCEPT\n"
USES = "-A INPUT -m set --match-set s src -j DROP\n-A INPUT -m set --match-set t src,dst -j DROP\n"
UNKNOWN = "warning: set %s is used, but no file defines it"

# what, lines of *filter behind its chains (which are lines 2 to 4), lines of sets or None, what is told (line, kind, text), options
CASES = [
    ("a loop beside a port that is none", REACHED + BAD, None, TOLD + ["10: error: port 70000 is above 65535"]),
    ("a loop beside a chain that is missing", REACHED + "-A INPUT -j nowhere\n", None,
     TOLD + ["10: error: there is no chain or target 'nowhere' (table filter)"]),
    ("a loop in a table that --tables leaves out", REACHED + BAD, None, ["10: error: port 70000 is above 65535"], "--tables", "raw"),
    ("a loop that a line which cannot be read may reach", LOOP + "-A INPUT -m nothing -j a\n", None,
     ["9: error: unknown match 'nothing'"]),
    ("a loop that nobody reaches, without errors", LOOP, None, ["7: warning: loop a -> b -> a, which no built-in chain reaches"]),
    ("a loop that a line which is no part of such files takes away", REACHED + "-D b -j a\n", None,
     ["10: error: -D (--delete) has no place in a ruleset file: it works on rules that are there already"]),
    ("a loop that a misspelt flush takes away", REACHED + "-F bb\n", None, ["10: error: there is no chain 'bb' in table filter"]),
    ("sets that nobody defines", USES + BAD, "create x hash:ip\n",
     ["5: " + UNKNOWN % "s", "6: " + UNKNOWN % "t", "7: error: port 70000 is above 65535"]),
    ("a set that has an error, and so has no name", USES, "create s hash:ipp\nadd s 192.0.2.1\nadd s 192.0.2.2\n",
     ["1: error: 'hash:ipp' is not a set type"]),
    ("a set whose element has an error", USES, "create s hash:ip,port\nadd s 192.0.2.1,70000\n",
     ["5: warning: set s has 2 dimensions, 1 given: never matches", "6: " + UNKNOWN % "t", "2: error: '70000' is not a port from 0 to 65535"]),
    ("a set whose family has an error", "-A INPUT -m set --match-set s src -j DROP\n", "create s hash:ip family inet7\n",
     ["1: error: "]),
    ("a file of sets with a quotation mark too few", USES, 'create s hash:ip comment\nadd s 192.0.2.1 comment "x\n',
     ["2: error: the text that begins here has no closing quotation mark"]),
    ("a chain that a line which cannot be read may reach", ":c - [0:0]\n-A c -i eth0 -j DROP\n-A OUTPUT -j c\n-A INPUT -m nothing -j c\n",
     None, ["8: error: unknown match 'nothing'"]),
    ("a chain that it cannot", ":c - [0:0]\n-A c -i eth0 -j DROP\n-A OUTPUT -j c\n", None,
     ["6: warning: chain 'c' is reached only where packets have no input interface"]),
]


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def check(folder, what, text, sets, told, *options):
    files = ["rules.v4"] + (["sets.ipset"] if sets else [])
    write(os.path.join(folder, "rules.v4"), HEAD + text + "COMMIT\n")
    if sets:
        write(os.path.join(folder, "sets.ipset"), sets)
    status, out, err = run("check", *options, *files, cwd=folder)
    found = re.findall(r"^(?:rules\.v4|sets\.ipset):(\d+):\d+: (.*)", out + err, re.M)
    same = len(found) == len(told) and all(any("%s: %s" % f == t or ("%s: %s" % f).startswith(t) for f in found) for t in told)
    ok(same and status == any(": error: " in t for t in told), what, "wanted:\n%s\nexit status %d\n%s%s" %
       ("\n".join(told), status, out, err))


with tempfile.TemporaryDirectory(prefix="weir-check-") as tmp:
    for case in CASES:
        check(tmp, *case)
    write(os.path.join(tmp, "noise"), "what is this\n")
    write(os.path.join(tmp, "rules.v4"), HEAD + REACHED + USES + "COMMIT\n")
    status, out, err = run("check", "rules.v4", "noise", cwd=tmp)
    ok("loop a -> b -> a" in out + err and "no file defines" not in out + err and status == 1,
       "a file that nobody can read may hold the sets", out + err)
end()
