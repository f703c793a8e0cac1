#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random rulesets in iptables-legacy, then the same as programs of weir; the same packets sent through both, and every
counter compared, with the evaluator's too. So what a program reads beside the packet (interfaces, sockets, connections,
Ethernet headers) is held against what the kernel's own matches read.

    programs.py [SEED [ROUNDS [PACKETS]]]        SEED, ROUNDS of the environment likewise; 1 100 50

Rules that weir refuses to load (it says where) are taken out for both. TIMEOUT 600
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dice  # noqa: E402
import lab  # noqa: E402

WEIR = os.path.abspath(os.environ.get("WEIR", "build/weir"))
PLACE = re.compile(r"rules\.v[46]:(\d+):\d+: error: (.*)")


def weir(router, *args):
    return subprocess.run([WEIR, args[0], "--netns", router.router] + list(args[1:]), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class Round:
    def __init__(self, seed, folder, n_packets):
        rng = random.Random(seed)
        self.seed, self.family = seed, ("ip", "ip6")[seed % 2]
        d = dice.Dice(rng, self.family)
        self.sets, self.rules = d.ipsets(), d.rules().splitlines()
        self.lines = [d.packet() for _ in range(n_packets)]
        self.path = {n: os.path.join(folder, n) for n in ("sets.ipset", "packets", "env",
                                                          "rules." + ("v4" if self.family == "ip" else "v6"))}
        self.refused = {}
        self.write("sets.ipset", self.sets)
        self.write("packets", "\n".join(self.lines) + "\n")
        self.write("env", lab.env_text())

    def write(self, name, text):
        with open(self.path[name], "w") as f:
            f.write(text)

    def rule_file(self):
        return [p for n, p in self.path.items() if n.startswith("rules")][0]

    def load(self, router):
        """Loads with weir what it does not refuse. Returns an error text, or None."""
        args = ["--reject-as-drop", self.rule_file(), self.path["sets.ipset"]]
        while True:
            with open(self.rule_file(), "w") as f:
                f.write("\n".join(self.rules) + "\n")
            p = weir(router, "load", *args)
            if p.returncode == 0:
                return None
            bad = {int(m.group(1)): m.group(2) for m in PLACE.finditer(p.stderr)}
            if not bad:
                return p.stderr
            for why in bad.values():
                self.refused[why] = self.refused.get(why, 0) + 1
            self.rules = [l for i, l in enumerate(self.rules, 1) if i not in bad]

    def counters(self, router):
        """As lab.counters(), of chains that are attached; and packets that no rule decided on."""
        told = json.loads(weir(router, "list", "--json").stdout)
        out = {}
        for c in told["chains"]:
            if c.get("attached"):
                out[(c["table"], c["chain"], "policy")] = c["packets"]
            for i, r in enumerate(c["rules"]):
                out[(c["table"], c["chain"], i)] = r["packets"]
        return out, {k: n for k, n in told["special"].items() if n}

    def send(self, router, numbers, expected):
        target = router.received()
        for i in numbers:
            link, data, _ = expected.packets[i]
            target += router.send(self.lines[i], link, data)
        if not router.wait(target):
            raise RuntimeError("the router did not take in all packets")

    def run(self, router):
        """Differences as lines of text."""
        everything = range(len(self.lines))
        why = self.load(router)
        if why:
            return ["weir load: " + why]
        weir(router, "unload")
        expected = lab.Expected([self.rule_file(), self.path["sets.ipset"]], self.path["packets"], self.path["env"])
        router.load(self.family, "\n".join(self.rules) + "\n", self.sets)
        self.send(router, everything, expected)
        theirs = router.counters(self.family)
        router.load(self.family, lab.EMPTY)
        self.load(router)
        router.flush_conntrack()
        self.send(router, everything, expected)
        ours, special = self.counters(router)
        out = ["%s: %d packets" % s for s in special.items()]
        for key, (n, text) in theirs.items():
            want = expected.counters.get(key, 0)
            if key in ours and not ours[key] == n == want:
                out.append("%s %s [%s] weir counts %d, iptables %d, the evaluator %d: %s" % (
                    key[0], key[1], key[2], ours[key], n, want, text))
        weir(router, "unload")
        return out


def rounds(seed, n, n_packets):
    passed, refused = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        router = lab.Lab()
        try:
            for i in range(n):
                number = seed * 100000 + i if seed < 100000 else seed + i
                r = Round(number, folder, n_packets)
                diff = r.run(router)
                for why, k in r.refused.items():
                    refused[why] = refused.get(why, 0) + k
                passed += not diff
                for text in diff[:8]:
                    print("# round %d: %s" % (number, text))
                sys.stdout.flush()
        finally:
            weir(router, "unload")
            router.close()
    for why, k in sorted(refused.items(), key=lambda x: -x[1])[:12]:
        print("# refused %d times: %s" % (k, why))
    return passed


def main():
    arg = sys.argv[1:] + [None] * 3
    seed = int(arg[0] or os.environ.get("SEED", "1"))
    n = int(arg[1] or os.environ.get("ROUNDS", "100"))
    why = lab.why_not()
    if why:
        print("1..1\nok 1 - programs # SKIP " + why)
        return 0
    if "WEIR_ORACLE_INSIDE" not in os.environ:  # a BPF file system and a lock folder of its own
        os.environ["WEIR_ORACLE_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, os.path.abspath(__file__)] + sys.argv[1:])
    os.makedirs("/run/weir", exist_ok=True)
    lab.run(["mount", "-t", "bpf", "bpf", "/sys/fs/bpf"])
    lab.run(["mount", "-t", "tmpfs", "tmpfs", "/run/weir"])
    passed = rounds(seed, n, int(arg[2] or "50"))
    print("%sok 1 - %d of %d random rulesets count alike in iptables and as programs (seed %d)" % (
        "" if passed == n else "not ", passed, n, seed))
    print("1..1")
    return 0 if passed == n else 1


if __name__ == "__main__":
    sys.exit(main())
