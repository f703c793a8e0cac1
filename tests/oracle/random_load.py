#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random rulesets in the kernel by `weir load`, packets sent through them, every counter compared with the evaluator's.

    random_load.py [SEED [ROUNDS [PACKETS]]]        SEED, ROUNDS of the environment likewise; 1 100 50

The same rules and packets as random_rules.py, but weir's own programs at the hooks, beside iptables-legacy's tables, with
the kernel's connection tracking. Rules that `load` says it cannot do are taken out first, by the place that it names.
TIMEOUT 600
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

WEIR = os.environ.get("WEIR", "build/weir")


class Kernel:
    """The lab's router under weir."""

    def __init__(self, router):
        self.router = router

    def weir(self, verb, *words):
        argv = [WEIR, verb, "--netns", self.router.router] + list(words)
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def refused(self, files):
        """Lines of the rules that cannot be loaded."""
        p = self.weir("load", "--dry-run", *files)
        if p.returncode not in (0, 1):
            raise RuntimeError("weir load --dry-run: %d %s" % (p.returncode, p.stderr))
        lines = {int(n) for n in re.findall(r"rules\.v[46]:(\d+):\d+: error", p.stderr)}
        if p.returncode == 1 and not lines:
            raise RuntimeError("weir load refuses, and names no rule: " + p.stderr)
        return lines

    def load(self, files):
        p = self.weir("load", *files)
        if p.returncode:
            raise RuntimeError("weir load: %d %s" % (p.returncode, p.stderr))

    def counters(self):
        """As lab.counters(); chains that are not attached are left out."""
        out = {}
        told = json.loads(self.weir("list", "--json").stdout)
        for chain in told["chains"]:
            if chain.get("hook") and chain["attached"]:
                out[(chain["table"], chain["chain"], "policy")] = (chain["packets"], ":" + chain["chain"])
            for i, rule in enumerate(chain["rules"]):
                out[(chain["table"], chain["chain"], i)] = (rule["packets"], "-A %s %s" % (chain["chain"], rule["rule"]))
        return out, told["special"]


class Round:
    def __init__(self, kernel, seed, folder, n_packets):
        rng = random.Random(seed)
        self.kernel, self.family = kernel, ("ip", "ip6")[seed % 2]
        d = dice.Dice(rng, self.family)
        self.sets, self.text = d.ipsets(), d.rules()
        self.lines = [d.packet() for _ in range(n_packets)]
        self.rules = os.path.join(folder, "rules.v4" if self.family == "ip" else "rules.v6")
        self.files = [self.rules, write(folder, "ipset.save", self.sets)]
        self.reset()
        self.prune()
        self.n_rules = self.text.count("\n-A ")
        self.expected = lab.Expected(self.files, write(folder, "packets", "\n".join(self.lines) + "\n"),
                                     write(folder, "env", lab.env_text()), each=True)

    def reset(self):
        self.kernel.router.load(self.family, lab.EMPTY)
        self.kernel.weir("unload")

    def prune(self):
        for _ in range(20):
            with open(self.rules, "w") as f:
                f.write(self.text)
            bad = self.kernel.refused(self.files)
            if not bad:
                return
            lines = self.text.split("\n")
            self.text = "\n".join(line for i, line in enumerate(lines) if i + 1 not in bad)
        raise RuntimeError("weir load goes on refusing")

    def send(self, numbers):
        target = self.kernel.router.received()
        for i in numbers:
            link, data, _ = self.expected.packets[i]
            target += self.kernel.router.send(self.lines[i], link, data)
        if not self.kernel.router.wait(target):
            raise RuntimeError("the router did not take in all packets")

    def run(self):
        self.kernel.load(self.files)
        self.send(range(len(self.lines)))
        counted, special = self.kernel.counters()
        wrong = lab.differences(self.expected.counters, counted)
        return wrong, {k: v for k, v in special.items() if v}

    def explain(self):
        self.reset()
        self.kernel.load(self.files)
        before, out = self.kernel.counters()[0], []
        for i, line in enumerate(self.lines):
            self.send([i])
            now = self.kernel.counters()[0]
            step = {k: (v[0] - before[k][0], v[1]) for k, v in now.items()}
            before = now
            for key, want, got, text in lab.differences(self.expected.each.get(i + 1, {}), step):
                out.append("packet %s (evaluator: %s)\n#     %s %s [%s] the evaluator counts %d, the programs %d: %s" % (
                    line, self.expected.packets[i][2], key[0], key[1], key[2], want, got, text))
        return out


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def rounds(seed, n, n_packets):
    passed = kept = hits = 0
    with tempfile.TemporaryDirectory() as folder:
        router = lab.Lab()
        kernel = Kernel(router)
        try:
            for i in range(n):
                number = seed * 100000 + i if seed < 100000 else seed + i
                r = Round(kernel, number, folder, n_packets)
                wrong, special = r.run()
                kept += r.n_rules
                hits += sum(r.expected.counters.values())
                if not wrong and not special:
                    passed += 1
                    continue
                print("# round %d (%s): %d counters differ, %s" % (number, r.family, len(wrong), special))
                for text in r.explain()[:6]:
                    print("#   " + text)
                sys.stdout.flush()
        finally:
            kernel.weir("unload")
            router.close()
    print("# %d rounds, %d packets each, %d rules loaded, %d hits" % (n, n_packets, kept, hits))
    return passed


def main():
    why = lab.why_not()
    if not why and not os.environ.get("WEIR_ORACLE_INSIDE"):  # a BPF file system that is seen by nobody else
        os.environ["WEIR_ORACLE_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, os.path.abspath(__file__)] + sys.argv[1:])
    arg = sys.argv[1:] + [None] * 3
    seed = int(arg[0] or os.environ.get("SEED", "1"))
    n = int(arg[1] or os.environ.get("ROUNDS", "100"))
    print("1..1")
    if why:
        print("ok 1 - # SKIP " + why)
        return 0
    subprocess.run(["sh", "-c", "mount -t bpf bpf /sys/fs/bpf && mkdir -p /run/netns && mount -t tmpfs none /run/netns"], check=True)
    passed = rounds(seed, n, int(arg[2] or "50"))
    print("%sok 1 - %d of %d random rulesets count alike in the kernel (seed %d)" % ("" if passed == n else "not ", passed, n, seed))
    return 0 if passed == n else 1


if __name__ == "__main__":
    sys.exit(main())
