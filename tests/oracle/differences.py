#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The differences of docs/differences.md, one by one: the same packets, and exactly these counts from both sides.

Each rule of a case stands in the chain that the case names and only counts; the numbers are how often it did, for the
kernel and for weir. A case that no longer differs as it says fails, too. TIMEOUT 120
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

IN4 = "in=eth0 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip 192.0.2.10 > 192.0.2.1 "
BY4 = "in=eth0 out=eth1 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip 192.0.2.10 > 198.51.100.20 "
IN6 = "in=eth0 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip6 2001:db8::a > 2001:db8::1 "
BY6 = "in=eth0 out=eth1 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip6 2001:db8::a > 2001:db8:1::20 "


class Case:
    def __init__(self, name, chain, packets, *rules):
        """rules: (words, counted by the kernel, counted by weir)"""
        self.name, self.chain, self.packets, self.rules = name, chain, packets, rules
        self.family = "ip6" if " ip6 " in packets[0] else "ip"


CASES = [
    Case("malformed packets are dropped before the first rule: TCP header cut short", "PREROUTING",
         [IN4 + "proto=6 payload=8B"],
         ("", 1, 0), ("-p tcp", 1, 0), ("-p tcp --dport 22", 0, 0), ("", 0, 0)),
    Case("malformed packets are dropped before the first rule: TCP data offset below 5", "PREROUTING",
         [IN4 + "tcp 40000 > 22 flags=S doff=4"],
         ("", 1, 0), ("-p tcp --dport 22", 1, 0), ("-p tcp --tcp-option 2", 0, 0), ("", 0, 0)),
    Case("malformed packets are dropped before the first rule: UDP header cut short", "PREROUTING",
         [IN4 + "proto=17 payload=4B"],
         ("", 1, 0), ("-p udp", 1, 0), ("-p udp --dport 53", 0, 0), ("", 0, 0)),
    Case("malformed packets are dropped before the first rule: ICMP header cut short", "PREROUTING",
         [IN4 + "proto=1 payload=2B"],
         ("", 1, 0), ("-p icmp -m icmp --icmp-type 8", 0, 0), ("", 0, 0)),
    Case("malformed packets are dropped before the first rule: TCP header cut short, IPv6", "PREROUTING",
         [IN6 + "nh=6 payload=8B"],
         ("", 1, 0), ("-p tcp", 1, 0), ("-p tcp --dport 22", 0, 0), ("", 0, 0)),
    Case("malformed packets are dropped before the first rule: later fragment that hides its protocol", "PREROUTING",
         [IN6 + "ext=frag(off=3) nh=60 payload=24B"],
         ("", 1, 0), ("-p tcp", 0, 0), ("", 0, 0)),
    Case("a TCP fragment at offset 8 is malformed", "FORWARD",
         [BY4 + "proto=6 frag=1 payload=24B"],
         ("", 1, 0), ("-p tcp", 1, 0), ("-p tcp --dport 22", 0, 0), ("", 0, 0)),
    Case("bytes of a later fragment are no header: ecn", "FORWARD",
         [BY4 + "proto=6 frag=3 payload=24B"],
         ("-p tcp -m ecn --ecn-tcp-cwr", 0, 0), ("-p tcp -m ecn ! --ecn-tcp-cwr", 1, 0), ("", 1, 1)),
    Case("bytes of a later fragment are no header: ecn, IPv6", "FORWARD",
         [BY6 + "ext=frag(off=3) nh=6 payload=24B"],
         ("-p tcp -m ecn --ecn-tcp-cwr", 0, 0), ("-p tcp -m ecn ! --ecn-tcp-cwr", 1, 0), ("", 1, 1)),
    Case("bytes of a later fragment are no header: tcpmss", "FORWARD",
         [BY4 + "proto=6 frag=3 payload=24B"],
         ("", 1, 1), ("-p tcp -m tcpmss --mss 0:65535", 0, 0), ("", 0, 1)),
    Case("fragments to the host itself meet INPUT one by one", "INPUT",
         [IN4 + "mf=1 id=9 udp 40000 > 53 payload=8B", IN4 + "proto=17 frag=2 id=9 payload=8B"],
         ("-p udp --dport 53", 1, 1), ("-f", 0, 1), ("", 1, 2)),
    Case("UDP-Lite is a connection like others", "PREROUTING",
         [IN4 + "udplite 40000 > 53"],
         ("-m state --state NEW", 0, 1), ("-m state --state INVALID", 1, 0)),
    Case("UDP-Lite is a connection like others: IPv6", "PREROUTING",
         [IN6 + "udplite 40000 > 53"],
         ("-m state --state NEW", 0, 1), ("-m state --state INVALID", 1, 0)),
    Case("an SCTP association has no states", "PREROUTING",
         [IN4 + "sctp 7 > 9 chunks=heartbeat", IN4 + "sctp 7 > 9 chunks=init_ack"],
         ("-m state --state NEW", 1, 2), ("-m state --state INVALID", 1, 0)),
]


def rules(case):
    hooks = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")
    lines = ["*mangle"] + [":%s ACCEPT [0:0]" % h for h in hooks]
    return "\n".join(lines + ["-A %s %s" % (case.chain, r[0]) for r in case.rules] + ["COMMIT"]) + "\n"


def judge(router, case, folder):
    path = {}
    for name, text in (("rules.v4" if case.family == "ip" else "rules.v6", rules(case)), ("env", lab.env_text()),
                       ("packets", "\n".join(case.packets) + "\n")):
        path[name.split(".")[0]] = os.path.join(folder, name)
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    expected = lab.Expected([path["rules"]], path["packets"], path["env"], each=True)
    router.load(case.family, rules(case))
    target = router.received()
    for line, (link, data, _) in zip(case.packets, expected.packets):
        target += router.send(line, link, data)
    router.wait(target)
    counted = router.counters(case.family)
    wrong = []
    for i, (words, kernel, weir) in enumerate(case.rules):
        key = ("mangle", case.chain, i)
        got = (counted[key][0], expected.counters.get(key, 0))
        if got != (kernel, weir):
            wrong.append("'%s': the kernel counts %d, not %d; weir %d, not %d" % (words, got[0], kernel, got[1], weir))
    return wrong, [p[2] for p in expected.packets]


def main():
    text = re.sub(r"\s+", " ", open("docs/differences.md").read().lower())
    why = lab.why_not()
    print("1..%d" % (len(CASES) + 1))
    failed = 0
    missing = sorted({c.name.split(":")[0] for c in CASES if c.name.split(":")[0].lower() not in text})
    print("%sok 1 - docs/differences.md tells of each" % ("not " if missing else ""))
    for m in missing:
        print("# not there: " + m)
    failed += bool(missing)
    router = None if why else lab.Lab()
    with tempfile.TemporaryDirectory() as folder:
        for n, case in enumerate(CASES):
            if why:
                print("ok %d - %s # SKIP %s" % (n + 2, case.name, why))
                continue
            wrong, verdicts = judge(router, case, folder)
            failed += bool(wrong)
            print("%sok %d - %s, %s" % ("not " if wrong else "", n + 2, case.name, case.family))
            for w in wrong:
                print("# %s (weir: %s)" % (w, "; ".join(verdicts)))
    if router:
        router.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
