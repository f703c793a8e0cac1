#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TCP packets in any order, forwarded between two silent hosts: the states that the kernel's connection tracking gives
them, and those that the evaluator's tracker gives. Chains of a connection's own count its packets by state and status.

    tracker.py [SEED [ROUNDS [PACKETS]]]        SEED, ROUNDS of the environment likewise; 1 20 16

Sequence numbers are 0, so windows have nothing to say (the lab is liberal about them, too). Every other connection has
SYN,ACKs that acknowledge a SYN, also one that was ignored; it has no resets then, which the kernel compares with what was
acknowledged.
"""
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

CONNECTIONS = 100
ENDS = {"ip": ("192.0.2.10", "198.51.100.20"), "ip6": ("2001:db8::a", "2001:db8:1::20")}
COUNTED = ["--ctstate NEW", "--ctstate ESTABLISHED", "--ctstate INVALID", "--ctstatus ASSURED", "--ctstatus SEEN_REPLY",
           "--ctdir REPLY --ctstate NEW,ESTABLISHED"]
RESETS = ["S", "S", "S", "SA", "SA", "FA", "FA", "A", "A", "A", "R", "RA", "F", "PA"]
NO_RESETS = ["S", "S", "S", "SA", "SA", "SA ack=1", "SA ack=1", "FA", "FA", "A", "A", "A", "A"]


def walk(rng, n):
    """[(is a reply, flags)], more often than not in the right order."""
    flags = rng.choice((RESETS, NO_RESETS))
    out = [(False, "S"), (True, "SA"), (False, "A")][:rng.choice((0, 1, 2, 3, 3))]
    while len(out) < n:
        out.append((rng.random() < 0.5, rng.choice(flags)))
    return out


def rules(ports):
    out = ["*filter", ":INPUT ACCEPT [0:0]", ":FORWARD ACCEPT [0:0]", ":OUTPUT ACCEPT [0:0]"] + [":c%d - [0:0]" % p for p in ports]
    for p in ports:
        out.append("-A FORWARD -p tcp -m multiport --ports %d -j c%d" % (p, p))
        out += ["-A c%d -m conntrack %s" % (p, c) for c in COUNTED]
    return "\n".join(out) + "\nCOMMIT\n"


def line(family, port, packet):
    is_reply, flags = packet
    a, b = ENDS[family]
    way = "in=eth1 out=eth0 %s %s > %s tcp 9 > %d" if is_reply else "in=eth0 out=eth1 %s %s > %s tcp %d > 9"
    return way % ((family,) + ((b, a) if is_reply else (a, b)) + (port,)) + " flags=" + flags


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def compare(router, folder, family, walks):
    """{port: [(what, kernel, evaluator)]} of connections that differ."""
    lines = [line(family, p, packet) for step in zip(*walks.values()) for p, packet in zip(walks, step)]
    text = rules(walks)
    file = write(folder, "rules." + ("v4" if family == "ip" else "v6"), text)
    want = lab.Expected([file], write(folder, "packets", "\n".join(lines) + "\n"), write(folder, "env", lab.env_text()))
    router.load(family, text)
    target = router.received()
    for words, (link, data, _) in zip(lines, want.packets):
        target += router.send(words, link, data)
    if not router.wait(target):
        raise RuntimeError("the router did not take in all packets")
    out = {}
    for (_, chain, i), (n, _) in router.counters(family).items():
        if chain[0] == "c" and i != "policy" and want.counters[("filter", chain, i)] != n:
            out.setdefault(int(chain[1:]), []).append((COUNTED[i], n, want.counters[("filter", chain, i)]))
    return out, sum(want.counters.values())


def shortest(router, folder, family, steps):
    """The first packets of a connection that show a difference, and it."""
    n = next(n for n in range(1, len(steps) + 1) if n == len(steps) or compare(router, folder, family, {1000: steps[:n]})[0])
    said = " ".join("%s%s" % ("><"[r], f.replace(" ", ":")) for r, f in steps[:n])
    diff = compare(router, folder, family, {1000: steps[:n]})[0].get(1000, [])
    return "%s: %s" % (said, ", ".join("%s: the kernel counts %d, the evaluator %d" % d for d in diff))


def main():
    arg = sys.argv[1:] + [None] * 3
    seed = int(arg[0] or os.environ.get("SEED", "1"))
    n, packets = int(arg[1] or os.environ.get("ROUNDS", "20")), int(arg[2] or "16")
    why = lab.why_not()
    print("1..1")
    if why:
        print("ok 1 - tracker # SKIP " + why)
        return 0
    rng, bad, hits = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        router = lab.Lab()
        try:
            for i in range(n):
                family = ("ip", "ip6")[i % 2]
                walks = {1000 + p: walk(rng, packets) for p in range(CONNECTIONS)}
                diff, counted = compare(router, folder, family, walks)
                hits += counted
                for port in list(diff)[:4]:
                    print("# " + shortest(router, folder, family, walks[port]))
                bad += len(diff)
        finally:
            router.close()
    print("# %d packets of %d connections, %d hits" % (n * CONNECTIONS * packets, n * CONNECTIONS, hits))
    print("%sok 1 - the kernel and the evaluator give %d connections the same states (seed %d)" % (
        "not " if bad else "", n * CONNECTIONS - bad, seed))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
