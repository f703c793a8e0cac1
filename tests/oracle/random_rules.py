#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random rulesets in iptables-legacy, packets sent through them, and every counter compared with the evaluator's.

    random_rules.py [SEED [ROUNDS [PACKETS]]]        SEED, ROUNDS of the environment likewise; 1 200 50

Even rounds are IPv4, odd ones IPv6. A round is a function of SEED and its number; `random_rules.py SEED 1` with the
number that a failure prints repeats it alone. TIMEOUT 600
"""
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dice  # noqa: E402
import lab  # noqa: E402


class Round:
    def __init__(self, seed, folder, n_packets):
        rng = random.Random(seed)
        self.seed, self.family = seed, ("ip", "ip6")[seed % 2]
        d = dice.Dice(rng, self.family)
        self.sets, self.rules = d.ipsets(), d.rules()
        self.lines = [d.packet() for _ in range(n_packets)]
        self.files = {}
        for name, text in (("rules.v4" if self.family == "ip" else "rules.v6", self.rules), ("ipset.save", self.sets),
                           ("packets", "\n".join(self.lines) + "\n"), ("env", lab.env_text())):
            self.files[name] = os.path.join(folder, name)
            with open(self.files[name], "w") as f:
                f.write(text)
        rule_files = [f for n, f in self.files.items() if n.startswith(("rules", "ipset"))]
        self.expected = lab.Expected(rule_files, self.files["packets"], self.files["env"], each=True)

    def run(self, router):
        """Sends all; returns differences as lines of text."""
        router.load(self.family, self.rules, self.sets)
        router.send_all(self.lines, self.expected.packets)
        return lab.differences(self.expected.counters, router.counters(self.family))

    def explain(self, router):
        """Once more, packet by packet, to name those that make the difference."""
        router.load(self.family, self.rules, self.sets)
        before, out = router.counters(self.family), []
        for i, line in enumerate(self.lines):
            router.send_all([line], [self.expected.packets[i]])
            now = router.counters(self.family)
            step = {k: (v[0] - before[k][0], v[1]) for k, v in now.items()}
            before = now
            for key, want, got, text in lab.differences(self.expected.each.get(i + 1, {}), step):
                out.append("packet %s (weir: %s)\n#     %s %s [%s] weir counts %d, the kernel %d: %s" % (
                    line, self.expected.packets[i][2], key[0], key[1], key[2], want, got, text))
        return out


def rounds(seed, n, n_packets):
    passed = checked = hits = unknown = 0
    with tempfile.TemporaryDirectory() as folder:
        router = lab.Lab()
        try:
            for i in range(n):
                number = seed * 100000 + i if seed < 100000 else seed + i
                r = Round(number, folder, n_packets)
                diff = r.run(router)
                unknown += sum(p[2].startswith("unknown") for p in r.expected.packets)
                hits += sum(r.expected.counters.values())
                checked += len(r.expected.counters)
                if not diff:
                    passed += 1
                    continue
                print("# round %d (%s): %d of %d counters differ" % (number, r.family, len(diff), len(r.expected.counters)))
                for text in r.explain(router)[:6]:
                    print("#   " + text)
                sys.stdout.flush()
        finally:
            router.close()
    print("# %d rounds, %d packets each, %d counters, %d hits, %d packets unknown to weir" % (
        n, n_packets, checked, hits, unknown))
    return passed, unknown


def main():
    arg = sys.argv[1:] + [None] * 3
    seed = int(arg[0] or os.environ.get("SEED", "1"))
    n = int(arg[1] or os.environ.get("ROUNDS", "200"))
    n_packets = int(arg[2] or "50")
    why = lab.why_not()
    print("1..2")
    if why:
        print("ok 1 - # SKIP %s\nok 2 - # SKIP %s" % (why, why))
        return 0
    passed, unknown = rounds(seed, n, n_packets)
    print("%sok 1 - %d of %d random rulesets count alike (seed %d)" % ("" if passed == n else "not ", passed, n, seed))
    print("%sok 2 - no packet is unknown to the evaluator" % ("" if unknown == 0 else "not "))
    return 0 if passed == n and unknown == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
