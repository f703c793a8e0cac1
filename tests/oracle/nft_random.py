#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random nft rulesets in the kernel's own nftables, packets sent through them, every counter compared with the evaluator's.

    nft_random.py [SEED [ROUNDS [PACKETS]]]        SEED, ROUNDS of the environment likewise; 1 60 50

Tables of inet, ip and ip6, several base chains a hook; what is compared are the counters of rules, wherever in the rule they
stand. `nft_random.py SEED 1` with the number that a failure prints repeats a round alone; KEEP=FOLDER keeps its files. `make
oracle` runs 200. Who is asked: BY=tree, the interpreter over the syntax tree of tests/meaning, with rulesets of what it knows;
BY=evaluator, weir's. Without BY: in turns. Rules that ask routes, extension headers, or sets that rules fill are left out: nobody
here decides them yet. TIMEOUT 600
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402
import nft_dice  # noqa: E402


BY = os.environ.get("BY", "")


class CannotList(Exception):
    """nft 1.0.6 ends itself over some rules that ask raw bits."""


class NftLab(lab.Lab):
    def load_nft(self, rules):
        self.flush_conntrack()
        self.sh(self.router, "nft -f -", "flush ruleset\n" + lab.QUIET + rules)

    def refused(self, rules):
        """The numbers of the lines that nft complains about."""
        p = subprocess.run(["unshare", "-n", "nft", "-c", "-f", "-"], input=rules,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = {int(m) for m in re.findall(r"^/dev/stdin:(\d+):", p.stderr, re.M)}
        if p.returncode and not lines:
            raise RuntimeError("nft: " + p.stderr[:500])
        return lines

    def rule_counters(self):
        """{(family, table, chain, index from 0): packets} of the rules that have a counter."""
        out, at = {}, {}
        try:
            text = self.sh(self.router, "nft -j list ruleset")
        except RuntimeError as e:
            if "Assertion" in str(e):
                raise CannotList() from e
            raise
        for item in json.loads(text)["nftables"]:
            rule = item.get("rule")
            if not rule or rule["table"] == "lab":
                continue
            chain = (rule["family"], rule["table"], rule["chain"])
            n = at[chain] = at.get(chain, -1) + 1
            for e in rule["expr"]:
                if isinstance(e.get("counter"), dict):
                    out[chain + (n,)] = e["counter"]["packets"]
        return out


def places(rules):
    """{(family, table, chain, index): (line number, text)}: each rule of nft_dice.py has a line of its own."""
    out, table, chain, n = {}, None, None, 0
    for number, line in enumerate(rules.splitlines(), 1):
        w = line.split()
        if w[0] == "table":
            table = (w[1], w[2])
        elif line.startswith("\tchain "):
            chain, n = w[1], 0
        elif line == "\t}":
            chain = None
        elif chain and w[0] != "type":
            out[table + (chain, n)] = (number, line.strip())
            n += 1
    return out


def can_list(rules):
    return subprocess.run(["unshare", "-n", "sh", "-c", "nft -f - && nft -j list ruleset"], input=rules.encode(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Expected:
    """What `hits` says: packets on the wire, and by the line of a rule how often it counted; for IPv4, IPv6 and others in one."""

    def __init__(self, files, by_tree):
        tools = os.environ.get("B", "build") + "/tests/"
        argv = [tools + "meaning_nft", "--hits", files["rules.nft"], files["packets"]] if by_tree else [
            tools + "hits", "--env", files["env"], "--each", files["rules.nft"], "--", files["packets"]]
        p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if p.returncode:
            raise RuntimeError("hits: exit status %d: %s" % (p.returncode, p.stderr[:2000]))
        self.packets, self.each, self.counters = [], {}, {}
        for line in p.stdout.splitlines():
            w = line.split(" ")
            if w[0] == "packet":
                self.packets.append((w[2], bytes.fromhex(w[3]), " ".join(w[4:])))
            elif w[0] == "hit":
                step = self.each.setdefault(int(w[1]), {})
                step[int(w[-1])] = step.get(int(w[-1]), 0) + 1
                self.counters[int(w[-1])] = self.counters.get(int(w[-1]), 0) + 1


class Round:
    def __init__(self, seed, folder, n_packets, router):
        by_tree = BY == "tree" or not BY and seed % 2 == 1
        d = nft_dice.NftDice(random.Random(seed), True, by_tree)
        self.seed, self.rules = seed, d.rules()
        self.lines = [d.packet() for _ in range(n_packets)]
        self.n_refused = self.drop_refused(router)
        self.files = {}
        for name, text in (("rules.nft", self.rules), ("packets", "\n".join(self.lines) + "\n"), ("env", lab.env_text())):
            self.files[name] = os.path.join(folder, name)
            with open(self.files[name], "w") as f:
                f.write(text)
        self.places = places(self.rules)
        self.expected = Expected(self.files, by_tree)

    def drop_refused(self, router):
        """Takes out the rules that nft refuses; nft names some of them at a time."""
        n = 0
        while True:
            bad = router.refused(self.rules)
            if not bad and not can_list(self.rules):  # nft 1.0.6 ends itself over some raw payloads
                bad = {i for i, l in enumerate(self.rules.splitlines(), 1) if "@th," in l or "@nh," in l}
            if not bad:
                return n
            n += len(bad)
            self.rules = "".join(l for i, l in enumerate(self.rules.splitlines(True), 1) if i not in bad)

    def run(self, router):
        router.load_nft(self.rules)
        router.send_all(self.lines, self.expected.packets)
        return self.differences(self.expected.counters, router.rule_counters())

    def differences(self, expected, kernel):
        out = []
        for place, packets in kernel.items():
            line, text = self.places[place]
            if expected.get(line, 0) != packets:
                out.append((line, expected.get(line, 0), packets, "%s %s %s: %s" % (place[:3] + (text,))))
        return sorted(out)

    def explain(self, router):
        """Once more, packet by packet, to name those that make the difference."""
        router.load_nft(self.rules)
        before, out = router.rule_counters(), []
        for i, line in enumerate(self.lines):
            router.send_all([line], [self.expected.packets[i]])
            now = router.rule_counters()
            step = {k: v - before[k] for k, v in now.items()}
            before = now
            for number, want, got, text in self.differences(self.expected.each.get(i + 1, {}), step):
                out.append("packet %s (weir: %s)\n#     line %d, weir counts %d, the kernel %d: %s" % (
                    line, self.expected.packets[i][2], number, want, got, text))
        return out


def rounds(seed, n, n_packets):
    total = {"passed": 0, "counters": 0, "hits": 0, "unknown": 0, "refused": 0, "unlisted": 0}
    with tempfile.TemporaryDirectory() as folder:
        router = NftLab()
        try:
            for i in range(n):
                number = seed * 100000 + i if seed < 100000 else seed + i
                r = Round(number, folder, n_packets, router)
                try:
                    diff = r.run(router)
                except CannotList:
                    total["unlisted"] += 1
                    continue
                total["unknown"] += sum(p[2].startswith("unknown") for p in r.expected.packets)
                total["hits"] += sum(r.expected.counters.values())
                total["counters"] += len(router.rule_counters())
                total["refused"] += r.n_refused
                if not diff:
                    total["passed"] += 1
                    continue
                if os.environ.get("KEEP"):
                    shutil.copytree(folder, os.path.join(os.environ["KEEP"], str(number)), dirs_exist_ok=True)
                print("# round %d: %d of %d rules differ" % (number, len(diff), len(r.places)))
                for text in r.explain(router)[:6]:
                    print("#   " + text)
                sys.stdout.flush()
        finally:
            router.close()
    print("# %d rounds, %d packets each: %s" % (n, n_packets, ", ".join("%d %s" % (v, k) for k, v in total.items())))
    return total


def main():
    arg = sys.argv[1:] + [None] * 3
    seed = int(arg[0] or os.environ.get("SEED", "1"))
    n = int(arg[1] or os.environ.get("ROUNDS", "60"))
    why = lab.why_not()
    print("1..3")
    if why:
        print("\n".join("ok %d - # SKIP %s" % (i, why) for i in (1, 2, 3)))
        return 0
    t = rounds(seed, n, int(arg[2] or "50"))
    compared = n - t["unlisted"]
    claims = ((t["passed"] == compared > n * 9 // 10, "%d of %d random nft rulesets count alike (seed %d)" % (t["passed"], compared, seed)),
              (t["hits"] > n * 20, "rules were met: %d times" % t["hits"]),
              (t["unknown"] == 0, "no packet is unknown to the evaluator"))
    for i, (holds, what) in enumerate(claims, 1):
        print("%sok %d - %s" % ("" if holds else "not ", i, what))
    return 0 if all(c[0] for c in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
