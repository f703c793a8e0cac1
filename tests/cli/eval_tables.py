#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`weir eval --engine tables` prints what the evaluator prints: rulesets x captures x ways of packets, text and JSON.

WEIR_SHARED=DIR: where pcaps/ lies; without it only the captures of examples/. TIMEOUT 600
"""
import glob
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

SHARED = os.environ.get("WEIR_SHARED", os.path.join(tap.ROOT, "../shared"))
BY_EVALUATOR = "the evaluator judges all packets"

# What is in many rulesets: several tables, chains without rules, calls, sets, marks, both families.
PLAIN4 = """*raw
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A PREROUTING -p udp --dport 53 -j ACCEPT
COMMIT
*mangle
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
-A PREROUTING -p tcp --tcp-flags SYN,ACK SYN -j MARK --set-mark 7
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
COMMIT
*filter
:INPUT DROP [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:web - [0:0]
:log - [0:0]
-A INPUT -m mark --mark 7 -j web
-A INPUT -p icmp -j ACCEPT
-A INPUT -m length --length 0:100 -j log
-A INPUT -f -j DROP
-A INPUT -p udp -j REJECT
-A FORWARD -i eth0 -o eth1 -p tcp -m multiport --ports 80,443 -j ACCEPT
-A FORWARD -p udp -j web
-A OUTPUT -p tcp --sport 1:1023 -j log
-A web -p tcp -m multiport --dports 80,443 -j ACCEPT
-A web -m set --match-set nets src -j RETURN
-A web -p udp -j REJECT
-A log -m set --match-set nets dst,src -j LOG
-A log -p tcp --tcp-option 8 -j ACCEPT
COMMIT
"""
SETS = "create nets hash:net family inet\nadd nets 10.0.0.0/8\nadd nets 192.168.0.0/16 nomatch\nadd nets 0.0.0.0/1\n"
PLAIN6 = """*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT DROP [0:0]
-A INPUT -p ipv6-icmp -m icmp6 --icmpv6-type 135 -m hl --hl-eq 255 -j ACCEPT
-A INPUT -m rt --rt-type 0 -j DROP
-A INPUT -m frag --fraglast -j DROP
-A INPUT -m ipv6header --header dst --soft -j ACCEPT
-A FORWARD -s fe80::/10 -j DROP
-A OUTPUT -p tcp -j REJECT
COMMIT
"""
# What some packets do not say, or nobody: there the evaluator is asked.
ASKING = """*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
-A INPUT -m mac --mac-source 00:11:22:33:44:55 -j DROP
-A INPUT -m pkttype --pkt-type multicast -j DROP
-A FORWARD -m ttl --ttl-lt 64 -j DROP
-A OUTPUT -m owner --uid-owner 0 -j DROP
COMMIT
"""
LIMITS = "*filter\n:INPUT DROP [0:0]\n-A INPUT -m limit --limit 5/sec -j ACCEPT\nCOMMIT\n"
WAYS = (["--hook", "input"], ["--hook", "forward", "--in", "eth0", "--out", "eth1"], ["--hook", "output"], ["--in", "eth0"],
        ["--out", "eth1"], ["--in", "eth0", "--out", "eth1"], ["--in", "eth0", "--malformed", "accept"], [])


def captures():
    return sorted(glob.glob(tap.ROOT + "/examples/*.pcap") + glob.glob(SHARED + "/pcaps/*.pcap*"))


def both(args):
    """(does the answer agree, was it the tables', what differs)"""
    want, got = tap.run("eval", *args), tap.run("eval", "--engine", "tables", *args)
    same = want[:2] == got[:2]
    return same, BY_EVALUATOR not in got[2], "" if same else "%s\n%s\n%s\n%s" % (args, want[1], got[1], got[2])


def compare(what, files, ct, want_tables):
    ran = bad = tables = 0
    why = ""
    for n, capture in enumerate(captures()):
        for way in WAYS:
            args = way + ct + (["--json"] if n % 2 else []) + files + [capture]
            same, by_tables, text = both(args)
            ran += 1
            bad += not same
            tables += by_tables
            why = why or text
    tap.ok(bad == 0, "%s: %d runs, none differs" % (what, ran), "%d differ\n%s" % (bad, why))
    tap.ok((tables == ran) == want_tables, "... judged by %s" % ("tables" if want_tables else "the evaluator"), "%d of %d" % (tables, ran))


def big(path, n):
    """n packets of many connections in one capture."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for i in range(n):
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, i & 0xffff, 0, 64, 6, 0, 0x0a000000 + i * 7, 0xc0a80000 + i % 1000)
            tcp = struct.pack(">HHIIBBHHH", 1024 + i % 60000, 80 if i % 3 else 22, 0, 0, 0x50, 2, 0, 0, 0)
            f.write(struct.pack("<IIII", i // 1000, i % 1000, 40, 40) + ip + tcp)


def main(folder):
    files = {}
    for name, text in (("plain.v4", PLAIN4), ("sets", SETS), ("plain.v6", PLAIN6), ("asking.v4", ASKING), ("limits.v4", LIMITS)):
        files[name] = os.path.join(folder, name)
        with open(files[name], "w") as f:
            f.write(text)
    plain = [files["plain.v4"], files["sets"], files["plain.v6"]]
    compare("new connections", plain, ["--ct", "new"], True)
    compare("old connections", plain, ["--ct", "established"], True)
    compare("without nat, nothing said of connections", ["--tables", "raw,mangle,filter"] + plain, [], True)
    compare("facts that some packets lack", [files["asking.v4"]], ["--ct", "none"], True)
    compare("connections that are followed", [files["asking.v4"]], [], False)
    compare("limits", [files["limits.v4"]], [], False)
    if not os.path.isdir(SHARED + "/pcaps"):
        tap.skip("captures of many kinds", "no folder pcaps in WEIR_SHARED")
    big(folder + "/big.pcap", 30000)
    same, by_tables, text = both(["--in", "eth0", "--ct", "new"] + plain + [folder + "/big.pcap"])
    tap.ok(same and by_tables, "a larger capture", text)
    status, _, said = tap.run("eval", "--engine", "kernel", plain[0], folder + "/big.pcap")
    tap.ok(status == 2 and "weir test" in said, "the kernel is not asked", said)


with tempfile.TemporaryDirectory(prefix="weir-tables-") as tmp:
    main(tmp)
tap.end()
