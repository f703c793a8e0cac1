#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Passes on what bench/classify/classify prints, and sets the bars of the classifier beside it: of each measure the worst
of acl1, fw1 and ipc1, with the engine that load takes for that set, and by how much the bar is met or missed.

    { classify KEY.bpf.o DIR; classify KEY.bpf.o DIR ip6; } | bars.py
"""
import os
import platform
import re
import sys

COUNTS = (300, 1000, 10000, 100000)
# name, pattern of a row, bars for COUNTS (None: none was set), factor of IPv6
MEASURES = (
    ("in BPF (test run), ns", r"kernel +(-?[\d.]+) ns", (20, 40, 60, 95), 1.6),
    ("user space, batches, ns", r"in batches +(-?[\d.]+) ns", (None, 15, 25, 60), 1.6),
    ("build, one thread, ms", r"built in +([\d.]+) ms", (2, 5, 15, 90), 1),
    ("table bytes a rule", r"([\d.]+) bytes a rule", (None, 200, 90, 80), 2.5),
)
ROW = re.compile(r"^(\w+) +(\d+)  +(\w+) +kernel ")
PEER = re.compile(r"^(\w+) +(\d+)  +rte_acl +one by one ")
TAKES = re.compile(r"^(\w+) +(\d+)  +load takes (\w+)")
SETS = ("acl1", "fw1", "ipc1")


class Family:
    def __init__(self, name):
        self.name = name
        self.rows, self.takes, self.peer = {}, {}, {}  # {(set, nominal count, engine): line}, {(set, nominal count): (engine, line)}

    def read(self, line):
        m = ROW.match(line)
        if m:
            self.rows[(m.group(1), nominal(int(m.group(2))), m.group(3))] = line
        m = PEER.match(line)
        if m:
            self.peer[(m.group(1), nominal(int(m.group(2))))] = line
        m = TAKES.match(line)
        if m:
            self.takes[(m.group(1), nominal(int(m.group(2))))] = (m.group(3), line)

    def row(self, name, n):
        """(line, engine) of what load would take, or None."""
        engine, choice = self.takes.get((name, n), (None, ""))
        line = self.rows.get((name, n, engine))
        return (line + choice, engine) if line else None

    def worst(self, pattern, n):
        """(value, which set and engine) or None: not all three were measured."""
        return worst_of({name: self.row(name, n) or ("", "") for name in SETS}, pattern)

    def worst_peer(self, pattern, n):
        found = worst_of({name: (self.peer.get((name, n), ""), "rte_acl") for name in SETS}, pattern)
        return "%.0f" % found[0] if found else "-"


def worst_of(rows, pattern):
    found = []
    for name, (row, engine) in rows.items():
        m = re.search(pattern, row)
        if not m:
            return None
        found.append((float(m.group(1)), "%s, %s" % (name, engine)))
    return max(found)


def nominal(n):
    """Sets have a few rules less than their names say."""
    return next((c for c in (10, 30) + (100,) + COUNTS if 0.85 * c <= n <= c), n)


def say(value, bar):
    if value <= bar:
        return "met (%.0f %% of it)" % (100 * value / bar)
    return "missed, x %.2f" % (value / bar)


def table(family, factor_on):
    print("\n%s: the worst of %s beside its bar" % (family.name, ", ".join(SETS)))
    print("%-26s %7s %9s %9s  %-24s %-14s %8s" % ("", "rules", "bar", "measured", "", "of", "rte_acl"))
    for name, pattern, bars, factor in MEASURES:
        for n, bar in zip(COUNTS, bars):
            worst = family.worst(pattern, n)
            if bar is not None and factor_on:
                bar *= factor
            if not worst:
                print("%-26s %7d %9s %9s  %s" % (name, n, "-" if bar is None else "%g" % bar, "n/a", "not printed by this run"))
                continue
            print("%-26s %7d %9s %9.1f  %-24s %-14s %8s" % (
                name, n, "-" if bar is None else "%g" % bar, worst[0], "no bar" if bar is None else say(worst[0], bar),
                worst[1], family.worst_peer(pattern.replace("built in", "build"), n)))


def main():
    families = []
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print("%s, %d CPUs, Linux %s" % (cpu, os.cpu_count(), platform.release()))
    for line in sys.stdin:
        print(line, end="", flush=True)
        if line.startswith("IPv"):
            families.append(Family(line[:4]))
        elif families:
            families[-1].read(line)
    for f in families:
        table(f, f.name == "IPv6")
    return 0 if families else 1


if __name__ == "__main__":
    sys.exit(main())
