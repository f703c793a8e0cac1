#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""weir show: the model, the report on tables, and pictures of graphs."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import end, ok, run  # noqa: E402

DEMO = ["demo/rules.v4", "demo/rules.v6", "demo/ipset.save"]
V4 = ["demo/rules.v4", "demo/ipset.save"]


def rules_file(folder, name, lines):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("*filter\n:INPUT DROP [0:0]\n%s\nCOMMIT\n" % "\n".join(lines))
    return path


def model():
    status, out, err = run("show", *DEMO)
    ok(status == 0 and err == "", "the model of several files", err)
    ok("chain ip filter/FORWARD, forward priority 0, policy drop\n" in out, "a base chain with hook and policy", out)
    ok(re.search(r"demo/rules.v4:25 +-p udp -m udp --dport 53 -j ACCEPT\n +\[ip.proto in \{0x11\}\] \[dport in \{0x35\}\] \[accept\]", out),
       "a rule with its place, text and meaning", out)
    ok("set blocked, hash:net, ip, 3 elements" in out, "a set", out)
    dump = run("check", "--dump", *DEMO)[1]
    shown = [x.strip() for x in out.splitlines() if x.strip().startswith("[")]
    ok(sorted(shown) == sorted(x.strip() for x in dump.splitlines() if x.strip().startswith("[")), "the same rules as check --dump")
    out = run("show", "--chain", "services", *V4)[1]
    ok(out.count("\nchain") + out.startswith("chain") == 1 and "INPUT" not in out, "one chain alone", out)
    j = json.loads(run("show", "--json", *V4)[1])
    services = [c for c in j["chains"] if c["chain"] == "services"][0]
    ok(services["rules"][1]["line"] == 25 and services["rules"][1]["model"].endswith("[accept]"), "the model as JSON", services)
    ok(j["sets"][0]["elements"] == 3, "sets as JSON", j["sets"])


def tables(folder):
    status, out, err = run("show", "--tables", *DEMO)
    ok(status == 0 and err == "", "tables of several files", err)
    ok("ip forward, priority 0\n" in out and re.search(r"filter/services +(scan|graph|classes) +4 ", out), "a hook with the chains that it reaches", out)
    j = json.loads(run("show", "--tables", "--json", *DEMO)[1])
    lists = [c for h in j["hooks"] for c in h["chains"]]
    ok(j["bytes"]["code"] + j["bytes"]["lookup"] + j["bytes"]["sets"] <= j["bytes"]["all"], "parts are no more than the whole", j["bytes"])
    ok(all(0 < c["expected"] <= c["worst"] for c in lists), "what is expected is not beyond the worst", lists)
    ok(all(c["why"] for c in lists), "every engine has a reason", lists)
    ok(run("show", "--tables", *V4)[1] == run("show", "--tables", *V4)[1], "the same rules give the same report")
    path = rules_file(folder, "refused.v4", ["-A INPUT -p tcp -j REJECT"])
    status, out, err = run("show", "--tables", path)
    ok(status == 1 and "refused.v4:3:" in err and out == "", "what load refuses is an error at its place", out + err)
    ok(run("show", "--tables", "--reject-as-drop", path)[0] == 0, "... unless an option lets it pass")
    ok(run("show", path)[0] == 0, "the model has no such limits")
    ok(run("show", "--tables", "--only", "raw", *V4)[1].count("priority") == 1, "one table alone")


def graph(folder):
    lines = ["-A INPUT -s 10.%d.%d.0/24 -p tcp --dport %d -j ACCEPT" % (i // 7, i % 7, 1000 + i % 13) for i in range(300)]
    path = rules_file(folder, "many.v4", lines)
    j = json.loads(run("show", "--tables", "--json", path)[1])
    c = j["hooks"][0]["chains"][0]
    ok(c["engine"] in ("graph", "classes") and c["lookup_bytes"] > 0 and c["rules"] == 300, "many rules are looked up", c)
    ok(c["lookup_worst"] <= c["worst"] < 300 and c["expected"] < 60, "in fewer steps than rules", c)
    status, out, err = run("show", "--dot", "INPUT", path)
    ok(status == 0 and out.startswith('digraph "ip filter/INPUT" {') and out.rstrip().endswith("}"), "a picture", out[:200] + err)
    defined = set(re.findall(r"^\t(\w+) \[(?:shape|label)", out, re.M))
    used = set(x for pair in re.findall(r"^\t(\w+) -> (\w+)", out, re.M) for x in pair)
    ok(used == defined, "every node that an edge names is drawn, and leads somewhere", used ^ defined)
    places = set(re.findall(r"many.v4:(\d+)", out))
    ok(places == {str(3 + i) for i in range(300)}, "every rule lies in a leaf", sorted(places)[:20])
    ok(run("show", "--dot", "filter/INPUT", path)[1] == out, "the chain named with its table")
    status, out, err = run("show", "--dot", "INPUT", rules_file(folder, "none.v4", []))
    ok(status == 2 and "is scanned" in err, "a chain without rules has no picture", out + err)
    status, out, err = run("show", "--dot", "nowhere", *V4)
    ok(status == 2 and "no chain 'nowhere'" in err, "a chain that is not there", out + err)


def unused(folder):
    path = rules_file(folder, "unused.v4", ["-A INPUT -s 192.0.2.0/24 -j DROP", "-A INPUT -s 192.0.2.7 -p tcp --dport 22 -j ACCEPT",
                                            "-A INPUT -m mark --mark 1 -m mark --mark 2 -j DROP", "-A INPUT -p udp -j ACCEPT"])
    out = run("show", "--tables", path)[1]
    ok(re.search(r"unused.v4:4  -s 192.0.2.7/32 .*  # all that it could match ends at .*unused.v4:3\n", out), "a hidden rule is named", out)
    ok(re.search(r"unused.v4:5  .*  # it contradicts itself\n", out), "and one that never matches", out)
    ok(not re.search(r"unused.v4:[36]  ", out), "and no other", out)
    c = json.loads(run("show", "--tables", "--json", path)[1])["hooks"][0]["chains"][0]
    ok([(r["line"], r.get("hidden_by", {}).get("line"), r["in_tables"]) for r in c["unused"]] == [(4, 3, False), (5, None, False)],
       "the same as JSON", c)


def inlined(folder):
    lines = ["-A INPUT -s 198.51.100.%d -j DROP" % i for i in range(40)]
    path = rules_file(folder, "calls.v4", [":web - [0:0]"] + lines + ["-A INPUT -d 192.0.2.0/24 -j web", "-A web -p tcp --dport 80 -j ACCEPT"])
    out = run("show", "--tables", path)[1]
    ok(re.search(r"calls that are rules of the chain itself:\n  \S*calls.v4:44  -d 192.0.2.0/24 -j web\n", out), "a call that is none any more", out)
    c = json.loads(run("show", "--tables", "--json", path)[1])["hooks"][0]["chains"][0]
    ok([r["line"] for r in c["inlined"]] == [44] and c["entries"] == 42, "the same as JSON", c)
    out = run("show", "--dot", "INPUT", path)[1]
    ok(re.search(r"calls.v4:44 \+ \S*calls.v4:45", out), "in a picture it is with the rule", out[:600])


IPTABLES = """*filter
:INPUT DROP [0:0]
:web - [0:0]
-A INPUT -s 192.0.2.0/24,198.51.100.7 -p tcp -m multiport --dports 22,80:90 -j ACCEPT
-A INPUT ! -i lan+ -m conntrack --ctstate ESTABLISHED,RELATED -j web
-A INPUT -p icmp --icmp-type echo-request -m set ! --match-set far src -j RETURN
-A web -p tcp --syn -j MARK --set-mark 5
-A web -m limit --limit 5/s
-A web -j REJECT
COMMIT
"""
IPTABLES_LINES = """chain ip filter INPUT hook input priority 0 policy drop
  a.v4:4:1  ip.src = 192.0.2.0/24; ip.proto = tcp; dport in {22, 80-90}; accept
  a.v4:4:2  ip.src = 198.51.100.7; ip.proto = tcp; dport in {22, 80-90}; accept
  a.v4:5  iif.name != lan* (or absent); ct.state in {established, related}; jump web
  a.v4:6  ip.proto = icmp; icmp.type-code = echo-request; src not in set far (or absent); return
chain ip filter web
  a.v4:7  ip.proto = tcp; tcp.flags & 0x17 == 0x2; mark = 0x5
  a.v4:8  state limit 10000/2000000ms burst 5
  a.v4:9  reject icmp-port-unreach
set far hash:net ip 2 elements
  203.0.113.0/24
  203.0.113.7 nomatch
"""
NFT = """table inet f {
	set bad { type ipv4_addr; flags interval; elements = { 203.0.113.0/24, 192.0.2.7 } }
	set ports { type inet_service; elements = { 22, 80 } }
	map services { type inet_service : verdict; elements = { 22 : jump m, 443 : accept } }
	map idle { type ipv4_addr : verdict; elements = { 192.0.2.1 : drop } }
	chain i {
		type filter hook input priority 0; policy drop;
		ip saddr @bad counter drop
		tcp dport vmap @services
		tcp dport @ports accept
		ip6 saddr 2001:db8::/32 accept
		ip saddr . tcp dport { 192.0.2.1 . 22, 192.0.2.0/25 . 80-90 } accept
		iifname vmap { "eth0" : accept, "lo" : drop }
	}
	chain m { ip saddr 192.0.2.9-192.0.2.10 accept; }
}
"""
NFT_LINES = """chain ip "inet f" i hook input priority 0 policy drop
  b.nft:8  ip.src in set inet/f/bad; count; drop
  b.nft:9  ip.proto = tcp; dport map inet/f/services
  b.nft:10  ip.proto = tcp; dport in set inet/f/ports; accept
  b.nft:12  ip.proto = tcp; ip.src . dport in {192.0.2.1 . 22, 192.0.2.0/25 . 80-90}; accept
  b.nft:13  iif.name map {eth0: accept, lo: drop}
chain ip6 "inet f" i hook input priority 0 policy drop
  b.nft:9  ip.proto = tcp; dport map inet/f/services
  b.nft:10  ip.proto = tcp; dport in set inet/f/ports; accept
  b.nft:11  ip.src = 2001:db8::/32; accept
  b.nft:13  iif.name map {eth0: accept, lo: drop}
chain ip "inet f" m
  b.nft:15  ip.src = 192.0.2.9-192.0.2.10; accept
chain ip6 "inet f" m
set inet/f/bad ipv4_addr ip 2 elements
  203.0.113.0/24
  192.0.2.7
set inet/f/ports inet_service any 2 elements
  22
  80
map ip inet/f/services of dport
  22: jump m
  443: accept
map ip6 inet/f/services of dport
  22: jump m
  443: accept
"""
TC = """tc filter add dev eth0 ingress protocol ip prio 1 u32 match ip src 192.0.2.0/24 action drop
"""
TC_LINES = """chain ip tc "eth0 ingress" hook ingress priority 0 policy accept device eth0
  c.tc:1  vlan.id != 0-4095 (or absent); bytes tc-u32 800: [stop c0000200/ffffff00@12 terminal]; drop
chain ip6 tc "eth0 ingress" hook ingress priority 0 policy accept device eth0
chain frame tc "eth0 ingress" hook ingress priority 0 policy accept device eth0
"""


def expanded(folder):
    here = os.path.join(folder, "")
    for name, text in (("a.v4", IPTABLES), ("b.nft", NFT), ("c.tc", TC), ("far.save", "create far hash:net\nadd far 203.0.113.0/24\n"
                                                                   "add far 203.0.113.7 nomatch\n")):
        with open(here + name, "w") as f:
            f.write(text)

    def lines(*args):
        status, out, err = run("show", "--expanded", *args)
        return status, out.replace(here, ""), err

    status, out, err = lines(here + "a.v4", here + "far.save")
    ok(status == 0 and err == "" and out == IPTABLES_LINES, "flat lines of iptables, a line for each address, and a set", out + err)
    status, out, err = lines(here + "b.nft")
    ok(status == 0 and err == "" and out == NFT_LINES, "flat lines of nft for both families, sets and maps", out + err)
    status, out, err = lines(here + "c.tc")
    ok(status == 0 and err == "" and out == TC_LINES, "flat lines of tc", out + err)
    out = run("check", here + "b.nft")[1]
    ok(out == "7 rules, 2 chains, 2 sets: 0 errors, 0 warnings\n", "check counts what is for two families once", out)
    j = json.loads(run("check", "--json", here + "b.nft")[1])
    ok((j["rules"], j["chains"]) == (7, 2), "the same as JSON", j)
    out = lines("--chain", "m", here + "b.nft")[1]
    ok(out == 'chain ip "inet f" m\n  b.nft:15  ip.src = 192.0.2.9-192.0.2.10; accept\nchain ip6 "inet f" m\n', "one chain alone", out)
    j = json.loads(run("show", "--expanded", "--json", here + "b.nft")[1])
    flat = ["%s:%d  %s" % (os.path.basename(r["file"]), r["line"], r["expanded"]) for c in j["chains"] for r in c["rules"]]
    ok(flat == [x[2:] for x in NFT_LINES.splitlines() if x.startswith("  b.nft")], "the same lines as JSON", flat)
    ok([s["elements"] for s in j["sets"]] == [["203.0.113.0/24", "192.0.2.7"], ["22", "80"]]
       and j["maps"][0]["entries"] == ["22: jump m", "443: accept"], "sets and maps as JSON", j["sets"])


with tempfile.TemporaryDirectory() as tmp:
    model()
    tables(tmp)
    graph(tmp)
    unused(tmp)
    inlined(tmp)
    expanded(tmp)
end()
