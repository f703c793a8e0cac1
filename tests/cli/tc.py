#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tc commands: what is printed reads back as the same model, errors stand where they are, and packets get tc's outcomes."""
import json
import os
import subprocess
import sys

WEIR = os.path.abspath(os.environ.get("WEIR", "build/weir"))
ADD = "tc filter add dev eth0 ingress "
PROGRAM = "4,40 0 0 12,21 0 1 2048,6 0 0 2,6 0 0 4294967295"
SSH = "in=eth0 eth ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 flags=S"
LONG = "in=eth0 eth ip 198.51.100.7 > 192.0.2.1 ihl=6 tcp 4 > 22 flags=S"
WEB = "in=eth0 eth ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 flags=S"
SIX = "in=eth0 eth ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 flags=S"
TAGGED = "in=eth0 eth vlan=5 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 flags=S"
LINKED = (ADD + "protocol ip prio 1 handle 1: u32 divisor 1\n" +
          ADD + "protocol ip prio 1 u32 match ip protocol 6 0xff \\\n  offset at 0 mask 0x0f00 shift 6 link 1:\n" +
          ADD + "protocol ip prio 1 u32 ht 1: match tcp dst 22 0xffff action drop\n")
HASHED = (ADD + "protocol ip prio 1 handle 2: u32 divisor 256\n" +
          ADD + "protocol ip prio 1 u32 match u32 0 0 hashkey mask 0x000000ff at 12 link 2:\n" +
          ADD + "protocol ip prio 1 u32 ht 2: sample u32 7 0x000000ff at 12 match ip src 198.51.100.7/32 action drop\n" +
          ADD + "protocol ip prio 1 u32 ht 2:8: match ip dport 80 0xffff action drop\n")
MARKED = (ADD + "protocol ip prio 2 u32 match mark 7 0xff action drop\n" +
          ADD + "protocol ip prio 1 u32 match ip dport 22 0xffff action skbedit mark 7 action continue\n")
ORDER = (ADD + "protocol ip u32 match u32 0 0 action drop\n" + ADD + "protocol ip u32 match ip dport 22 0xffff action ok\n")
BEYOND = (ADD + "protocol ip prio 1 u32 match u32 0 0 at 2000 action ok\n" + ADD + "protocol ip prio 1 u32 match u32 0 0 action drop\n")

# what, text, {packet: verdict}
VERDICTS = [
    ("a link follows the header's length", LINKED, {SSH: "drop", LONG: "drop", WEB: "accept", SIX: "accept", TAGGED: "accept"}),
    ("a hash chooses the bucket", HASHED, {SSH: "drop", WEB: "drop"}),
    ("continue goes on, with the mark that was set", MARKED, {SSH: "drop", WEB: "accept"}),
    ("without priorities the last filter is asked first", ORDER, {SSH: "accept", WEB: "drop"}),
    ("a key beyond the packet ends its priority's walk", BEYOND, {SSH: "accept"}),
    ("da", ADD + "bpf da bytecode '" + PROGRAM + "'\n", {SSH: "drop", SIX: "accept", TAGGED: "accept"}),
    ("ether stands before the network header", ADD + "protocol ip u32 match u16 0x0800 0xffff at -2 action drop\n", {SSH: "drop"}),
    ("police is unknown", ADD + "protocol ip u32 match u32 0 0 police rate 1mbit burst 10k drop flowid 1:1\n", {SSH: "unknown"}),
    ("del", ADD + "protocol ip prio 1 u32 match u32 0 0 action drop\ntc filter del dev eth0 ingress prio 1\n", {SSH: "accept"}),
    ("del at another parent of that direction", ADD.replace("ingress", "parent 1:") + "prio 1 u32 match u32 0 0 action drop\n" +
     "tc filter add dev eth0 egress prio 1 u32 match u32 0 0 action ok\n" + "tc filter del dev eth0 egress prio 1\n",
     {SSH.replace("in=eth0", "in=eth1 out=eth0"): "drop"}),
    ("what stands before an IP packet is not known", ADD + "bpf da bytecode '" + PROGRAM + "'\n", {SSH.replace("eth ip", "ip"): "unknown"}),
    ("a qdisc's own filters", ADD.replace("ingress", "parent 1:0") + "u32 match u32 0 0 action drop\n",
     {SSH: "accept", SSH.replace("in=eth0", "in=eth1 out=eth0"): "drop"}),
    ("another device", ADD.replace("eth0", "eth1") + "u32 match u32 0 0 action drop\n", {SSH: "accept"}),
    ("a listing of tcpdump", "2\n40 0 0 12\n6 0 0 1\n", {SSH: "accept"}),
]
# text, line:column, a piece of the error
ERRORS = [
    (ADD + "protocol ip u32 match u32 0xc0000200 0xffffff00 at 13 action drop", "1:83", "offset 13 is not a multiple of 4"),
    (ADD + "protocol ip u32 match ip dpor 13 0xffff", "1:57", "has no field 'dpor'"),
    (ADD + "protocol ip u32 match u32 0 0 action drp", "1:69", "there is no action 'drp'"),
    (ADD + "protocol ip u32 match u32 0 0 action pedit x", "1:69", "the action 'pedit' is not read"),
    (ADD + "protocol ip u32 match u32 0 0 link 5: action drop", "1:1", "there is no hash table 5: yet"),
    (ADD + "bpf bytecode '5,40 0 0 12,6 0 0 0'", "1:46", "header says 5 instructions, 2 given"),
    (ADD + "bpf bytecode '2,40 0 0 12,21 0 5 2048'", "1:58", "instruction 1 jumps to 7, program has 2"),
    (ADD + "bpf bytecode '2,52 0 0 0,6 0 0 0'", "1:48", "instruction 0 divides by 0"),
    ("tc filter add dev eth0 parent 1:1 protocol ip u32 match u32 0 0 action drop", "1:31", "filters of a class are not read, '1:1'"),
    ("tc filter del dev eth0 parent 8001:a prio 1", "1:31", "filters of a class are not read, '8001:a'"),
    (ADD.replace("ingress", "parent ffff:5") + "u32 match u32 0 0 action drop", "1:31", "filters of a class are not read, 'ffff:5'"),
    (ADD + "flower dst_ip 192.0.2.1 action drop", "1:32", "filters of the kind flower are not read"),
]
n = failed = 0


def ok(holds, what, why=""):
    global n, failed
    n += 1
    failed += not holds
    print("%s %d - %s" % ("ok" if holds else "not ok", n, what))
    for line in why.splitlines() if not holds else ():
        print("# " + line)


def weir(text, *args):
    verb, *rest = args
    p = subprocess.run([WEIR, verb, "--lang", "tc", *rest[:1], "-", *rest[1:]], input=text.encode(), capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


for what, text, packets in VERDICTS:
    for packet, want in packets.items():
        code, out, err = weir(text, "explain", "--json", packet)
        ok('"verdict": "%s"' % want in out or '"verdict":"%s"' % want in out, "%s: %s: %s" % (what, want, packet), out + err)
    code, back, err = weir(text, "check", "--print")
    ok(code == 0 and weir(text, "check", "--dump")[1] == weir(back, "check", "--dump")[1], what + ": reads back what it prints", back + err)
for text, place, piece in ERRORS:
    code, out, err = weir(text + "\n", "check", "--json")
    line, column = place.split(":")
    found = [d for d in json.loads(out)["diagnostics"] if piece in d["text"]]
    ok(code == 1 and found and found[0]["line"] == int(line) and found[0]["column"] == int(column), "%s: %s" % (place, piece), out + err)
print("1..%d" % n)
sys.exit(1 if failed else 0)
