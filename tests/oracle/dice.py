# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random iptables rulesets and packets for the router of lab.py; not a test.

Values of rules and packets come from the same small pools, and packets also from beside them, so that edges are hit.
Only what a frame or a raw socket can bring about is made, and nothing that differences.py is about. A ruleset either uses connection tracking or gets fragments:
with tracking on, the kernel reassembles before the first chain.
"""
HOOKS = {
    "raw": ("PREROUTING", "OUTPUT"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "security": ("INPUT", "FORWARD", "OUTPUT"),
}
PORTS = [0, 1, 22, 53, 80, 443, 1023, 1024, 8080, 40000, 65534, 65535]
MACS = ["02:00:00:00:00:0a", "02:00:00:00:00:0b"]
MARKS = [0, 1, 2, 7, 16, 255, 0x80000000, 0xffffffff]
LENGTHS = [20, 28, 29, 40, 44, 60, 100]
TTLS = [2, 3, 63, 64, 128, 255]
TOSES = [0, 4, 8, 16, 32, 46 << 2, 184, 252]
UIDS = [0, 1000, 1001]
IFACES = ["eth0", "eth1", "ppp10"]
SRC = {"ip": ["192.0.2.10", "192.0.2.11", "192.0.2.127", "192.0.2.128", "198.51.100.7", "198.51.100.8", "10.1.2.3",
              "10.1.3.0", "10.255.255.255", "172.16.0.1", "203.0.113.9"],
       "ip6": ["2001:db8::a", "2001:db8::b", "2001:db8:0:0:8000::1", "2001:db8:1::7", "2001:db8:1::8",
               "2001:db8:ffff::1", "fd00::1", "2001:db8:2::9"]}
LOCAL = {"ip": ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
         "ip6": ["2001:db8::1", "2001:db8:1::1", "2001:db8:2::1"]}
FAR = {"ip": [("198.51.100.20", "eth1"), ("198.51.100.21", "eth1"), ("203.0.113.30", "ppp10"), ("192.0.2.77", "eth0")],
       "ip6": [("2001:db8:1::20", "eth1"), ("2001:db8:1::21", "eth1"), ("2001:db8:2::30", "ppp10"),
               ("2001:db8::77", "eth0")]}
PREFIXES = {"ip": ["192.0.2.0/24", "192.0.2.0/25", "192.0.2.10/31", "10.0.0.0/8", "10.1.2.0/23", "198.51.100.0/24",
                   "203.0.113.0/27", "0.0.0.0/0", "10.0.0.0/255.0.0.255", "192.0.2.1/255.255.255.0"],
            "ip6": ["2001:db8::/64", "2001:db8::/65", "2001:db8::a/127", "2001:db8::/32", "2001:db8:1::/48", "fd00::/8",
                    "::/0", "2001:db8::/ffff:ffff::"]}
FLAGS = ["S", "SA", "A", "FA", "R", "RA", "PA", "F", "", "FPU", "SF", "SE", "AC", "FSRPAUEC"]
ICMP = {"ip": [(8, 0), (0, 0), (13, 0), (8, 1), (17, 0)], "ip6": [(128, 0), (129, 0), (128, 1), (144, 0)]}
ICMP_NAMES = {"ip": ["8", "0", "8/0", "8/1", "echo-request", "any", "255", "timestamp-request", "13/0"],
              "ip6": ["128", "129", "128/0", "128/1", "echo-request", "144"]}


class Dice:
    def __init__(self, rng, family):
        self.r, self.family = rng, family
        self.tracks = rng.random() < 0.35
        self.names = 0

    def one(self, pool):
        return self.r.choice(pool)

    def chance(self, p):
        return self.r.random() < p

    def neg(self, p=0.25):
        return "! " if self.chance(p) else ""

    def span(self, pool):
        a, b = sorted((self.one(pool), self.one(pool)))
        return str(a) if a == b or self.chance(0.4) else "%d:%d" % (a, b)

    # ---- matches: each gives words; hooks are those that may reach the rule ----

    def address(self):
        pool = PREFIXES if self.chance(0.6) else {"ip": SRC["ip"] + LOCAL["ip"], "ip6": SRC["ip6"] + LOCAL["ip6"]}
        a = self.one(pool[self.family])
        if self.chance(0.15):
            a += "," + self.one(SRC[self.family])
            return "%s%s" % (self.one(["-s ", "-d "]), a)
        return "%s%s %s" % (self.neg(), self.one(["-s", "-d"]), a)

    def iface(self, hooks):
        ways = []
        if hooks <= {"PREROUTING", "INPUT", "FORWARD"}:
            ways.append("-i")
        if hooks <= {"FORWARD", "OUTPUT", "POSTROUTING"}:
            ways.append("-o")
        if not ways:
            return ""
        return "%s%s %s" % (self.neg(), self.one(ways), self.one(IFACES + ["eth+", "ppp+", "e+", "eth00", "wlan0"]))

    def proto(self):
        icmp = "icmp" if self.family == "ip" else "icmpv6"
        p = self.one(["tcp", "udp", icmp, "sctp", "udplite", "47", "esp", "ah"])
        return self.neg(0.2) + "-p " + p

    def tcp(self):
        words = ["-p tcp"]
        if self.chance(0.5):
            words.append("%s--dport %s" % (self.neg(), self.span(PORTS)))
        if self.chance(0.25):
            words.append("%s--sport %s" % (self.neg(), self.span(PORTS)))
        if self.chance(0.3):
            mask = self.r.sample(["SYN", "ACK", "FIN", "RST", "URG", "PSH"], self.r.randint(1, 4))
            comp = [f for f in mask if self.chance(0.5)] or ["NONE"]
            words.append("%s--tcp-flags %s %s" % (self.neg(), ",".join(mask), ",".join(comp)))
        elif self.chance(0.2):
            words.append(self.neg() + "--syn")
        if self.chance(0.1):
            words.append("%s--tcp-option %d" % (self.neg(), self.one([2, 3, 4, 8])))
        return " ".join(words)

    def udp(self):
        words = ["-p udp"]
        for way in ("--dport", "--sport"):
            if self.chance(0.5):
                words.append("%s%s %s" % (self.neg(), way, self.span(PORTS)))
        return " ".join(words)

    def sctp(self):
        words = ["-p sctp -m sctp"]
        for way in ("--dport", "--sport"):
            if self.chance(0.5):
                words.append("%s%s %s" % (self.neg(), way, self.span(PORTS)))
        return " ".join(words)

    def icmp(self):
        if self.family == "ip":
            return "-p icmp -m icmp %s--icmp-type %s" % (self.neg(), self.one(ICMP_NAMES["ip"]))
        return "-p icmpv6 -m icmp6 %s--icmpv6-type %s" % (self.neg(), self.one(ICMP_NAMES["ip6"]))

    def multiport(self):
        p = self.one(["tcp", "udp", "sctp", "udplite"])
        items = []
        for _ in range(self.r.randint(1, 5)):
            a, b = sorted((self.one(PORTS), self.one(PORTS)))
            items.append(str(a) if a == b or self.chance(0.6) else "%d:%d" % (a, b))
        return "-p %s -m multiport %s%s %s" % (p, self.neg(), self.one(["--dports", "--sports", "--ports"]),
                                               ",".join(items))

    def mark(self):
        v = self.one(MARKS)
        return "-m mark %s--mark %#x%s" % (self.neg(), v, self.one(["", "/0xff", "/0x1", "/0x80000000"]))

    def iprange(self):
        words = ["-m iprange"]
        for way in ("--src-range", "--dst-range"):
            if self.chance(0.6) or len(words) == 1 and way == "--dst-range":
                a, b = sorted((self.one(SRC[self.family] + LOCAL[self.family]) for _ in range(2)), key=number)
                words.append("%s%s %s-%s" % (self.neg(), way, a, b))
        return " ".join(words)

    def length(self):
        return "-m length %s--length %s" % (self.neg(), self.span(LENGTHS))

    def ttl(self):
        m, o = ("ttl", "--ttl") if self.family == "ip" else ("hl", "--hl")
        way = self.one(["-eq", "-lt", "-gt"])
        return "-m %s %s%s%s %d" % (m, self.neg() if way == "-eq" else "", o, way, self.one(TTLS))

    def tos(self):
        if self.chance(0.5):
            return "-m tos %s--tos %#x/%#x" % (self.neg(), self.one(TOSES), self.one([255, 252, 3, 16]))
        return "-m dscp %s--dscp %#x" % (self.neg(), self.one(TOSES) >> 2)

    def ecn(self):
        if self.chance(0.5):
            return "-m ecn %s--ecn-ip-ect %d" % (self.neg(), self.r.randint(0, 3))
        return "-p tcp -m tcp -m ecn %s--ecn-tcp-%s" % (self.neg(), self.one(["cwr", "ece"]))

    def pkttype(self):
        return "-m pkttype %s--pkt-type %s" % (self.neg(), self.one(["unicast", "broadcast", "multicast"]))

    def mac(self, hooks):
        if not hooks <= {"PREROUTING", "INPUT", "FORWARD"}:
            return ""
        return "-m mac %s--mac-source %s" % (self.neg(), self.one(MACS))

    def owner(self, hooks):
        if not hooks <= {"OUTPUT", "POSTROUTING"}:
            return ""
        return "-m owner %s%s" % (self.neg(), self.one(["--uid-owner 1000", "--uid-owner 0-999", "--gid-owner 0",
                                                        "--socket-exists", "--uid-owner 1001"]))

    def addrtype(self):
        types = ["LOCAL", "UNICAST", "MULTICAST"] + (["BROADCAST", "LOCAL,BROADCAST"] if self.family == "ip" else [])
        return "-m addrtype %s%s %s" % (self.neg(), self.one(["--src-type", "--dst-type"]), self.one(types))

    def tcpmss(self):
        return "-p tcp --tcp-flags SYN,RST SYN -m tcpmss %s--mss %s" % (self.neg(), self.one(["1400:1500", "536", "1460"]))

    def sets(self):
        name, dirs = self.one([("hosts", 1), ("nets", 1), ("services", 2), ("ports", 1)])
        return "-m set %s--match-set %s%s %s" % (self.neg(), name, self.family[2:],
                                                 ",".join(self.one(["src", "dst"]) for _ in range(dirs)))

    def limit(self):
        return "-m limit --limit 1/hour --limit-burst %d" % self.r.randint(1, 5)

    def hashlimit(self):
        self.names += 1
        return "-m hashlimit --hashlimit-%s 1/hour --hashlimit-burst %d --hashlimit-mode %s --hashlimit-name h%d" % (
            self.one(["upto", "above"]), self.r.randint(1, 4), self.one(["srcip", "dstip", "srcip,dstip", "dstport,srcip"]),
            self.names)

    def statistic(self):
        every = self.r.randint(2, 5)
        return "-m statistic --mode nth %s--every %d --packet %d" % (self.neg(), every, self.r.randint(0, every - 1))

    def recent(self):
        return "-m recent %s%s --name r%d %s" % (
            self.neg(0.15), self.one(["--set", "--rcheck", "--update", "--rcheck --hitcount 2", "--remove"]),
            self.r.randint(1, 2), self.one(["--rsource", "--rdest"]))

    def u32(self):
        if self.family == "ip":
            return '-m u32 %s--u32 "%s"' % (self.neg(), self.one(
                ["6&0xff=6", "6&0xff=17", "0>>22&0x3c@0>>16=0x16", "12=0xc000020a", "4&0x3fff=0:0x1fff", "0&0xffff=20:44"]))
        return '-m u32 %s--u32 "%s"' % (self.neg(), self.one(["4>>8&0xff=6", "4>>8&0xff=17", "40>>16=22", "4>>16=0:20"]))

    def string(self):
        return "-m string --algo %s %s--string %s" % (self.one(["bm", "kmp"]), self.neg(),
                                                      self.one(["GET", "weir", '"POST /"']))

    def headers6(self):
        return self.one([
            "-m frag %s--fragid 0:100" % self.neg(), "-m frag --fragfirst", "-m frag --fragmore", "-m frag --fraglast",
            "-m rt %s--rt-type 0" % self.neg(), "-m rt %s--rt-segsleft 0:1" % self.neg(), "-m hbh", "-m dst",
            "-m hbh %s--hbh-len 8" % self.neg(), "-m dst %s--dst-len 8" % self.neg(),
            "-m ipv6header %s--header hop,frag --soft" % self.neg(), "-m ipv6header --header %s" % self.one(
                ["hop", "route", "frag", "dst", "prot", "none"])])

    def security(self):
        return self.one(["-p ah -m ah %s--ahspi 100:200" % self.neg(), "-p esp -m esp %s--espspi 100:200" % self.neg()])

    def state(self):
        if self.chance(0.5):
            return "-m state %s--state %s" % (self.neg(), self.one(["NEW", "ESTABLISHED", "INVALID", "NEW,ESTABLISHED",
                                                                    "ESTABLISHED,RELATED"]))
        return "-m conntrack %s%s" % (self.neg(), self.one(
            ["--ctstate NEW", "--ctstate ESTABLISHED", "--ctstate INVALID", "--ctstate RELATED,ESTABLISHED",
             "--ctstate UNTRACKED", "--ctproto 17", "--ctproto tcp"]))

    def connmark(self):
        return "-m connmark %s--mark %#x%s" % (self.neg(), self.one(MARKS[:6]), self.one(["", "/0xff", "/0x1"]))

    def match(self, hooks):
        ways = [self.address] * 5 + [lambda: self.iface(hooks)] * 4 + [self.mark] * 2 + [
            self.iprange, self.length, self.ttl, self.tos, self.pkttype, lambda: self.mac(hooks),
            lambda: self.owner(hooks), self.addrtype, self.sets, self.sets, self.limit, self.hashlimit, self.statistic,
            self.recent, self.u32, self.string]
        if self.family == "ip6":
            ways += [self.headers6] * 3
        elif not self.tracks:
            ways += [lambda: self.neg(0.5) + "-f"]
        if self.tracks:
            ways += [self.state] * 6 + [self.connmark] * 2
        return self.one(ways)()

    def transport(self):
        return self.one([self.proto, self.tcp, self.tcp, self.udp, self.sctp, self.icmp, self.multiport, self.ecn,
                         self.tcpmss, self.security])()

    # ---- targets ----

    def target(self, table, hooks, callees):
        r = self.r.random()
        if r < 0.3:
            return ""
        if callees and r < 0.5:
            return self.one(["-j ", "-j ", "-g "]) + self.one(callees)
        if r < 0.7:
            return "-j " + self.one(["ACCEPT", "DROP", "RETURN"])
        ways = ["-j MARK --set-xmark %#x/%#x" % (self.one(MARKS), self.one([0xffffffff, 0xff, 1])),
                "-j MARK --or-mark 0x10", "-j MARK --and-mark 0xf", "-j MARK --xor-mark 0x3", "-j NFLOG --nflog-group 9",
                "-j SET --add-set hosts%s src --exist" % self.family[2:], "-j SET --del-set hosts%s dst" % self.family[2:]]
        if table == "filter":
            ways += ["-j REJECT"] * 2
        if table == "mangle":
            t = "TTL --ttl-set" if self.family == "ip" else "HL --hl-set"
            ways += ["-j TOS --set-tos 0x10/0xff", "-j DSCP --set-dscp 46", "-j %s %d" % (t, self.one(TTLS))]
        if table == "raw" and self.tracks:
            ways += ["-j NOTRACK", "-j CT --notrack"]
        if self.tracks:
            ways += ["-j CONNMARK --set-xmark 0x7/0xff"]
            if table == "mangle":
                ways += ["-j CONNMARK --save-mark", "-j CONNMARK --restore-mark"]
        return "-j " + self.one(["ACCEPT", "DROP"]) if self.chance(0.2) else self.one(ways)

    # ---- the whole ----

    def rule(self, chain, table, hooks, callees):
        words = ["-A", chain]
        if self.chance(0.55):
            words.append(self.transport())
        for _ in range(self.one([0, 0, 1, 1, 2])):
            words.append(self.match(hooks))
        words.append(self.target(table, hooks, callees))
        text = once(" ".join(w for w in words if w))
        # beside a list of addresses, iptables refuses a negated address
        return text if "," not in "".join(addresses(text)) else text.replace("! -s", "-s").replace("! -d", "-d")

    def table(self, table):
        hooks = HOOKS[table]
        own = ["c%d" % i for i in range(self.r.randint(0, 3))]
        lines = ["*" + table]
        for h in hooks:
            lines.append(":%s %s [0:0]" % (h, "DROP" if self.chance(0.15) else "ACCEPT"))
        lines += [":%s - [0:0]" % c for c in own]
        for h in hooks:
            for _ in range(self.r.randint(0, 7)):
                lines.append(self.rule(h, table, {h}, own))
        for i, c in enumerate(own):
            for _ in range(self.r.randint(0, 5)):
                lines.append(self.rule(c, table, set(hooks), own[i + 1:]))
        return lines + ["COMMIT"]

    def rules(self):
        lines = []
        for t in HOOKS:
            lines += self.table(t)
        return "\n".join(lines) + "\n"

    def ipsets(self):
        v = self.family[2:]
        fam = "inet6" if v else "inet"
        lines = ["create hosts%s hash:ip family %s" % (v, fam), "create nets%s hash:net family %s" % (v, fam),
                 "create services%s hash:ip,port family %s" % (v, fam), "create ports%s bitmap:port range 0-65535" % v]
        some = lambda pool, n: self.r.sample(pool, min(n, len(pool)))
        for a in some(SRC[self.family] + LOCAL[self.family], 5):
            lines.append("add hosts%s %s" % (v, a))
        for a in some([p for p in PREFIXES[self.family] if not p.endswith("/0") and p.rsplit("/")[1].isdigit()], 3):
            lines.append("add nets%s %s" % (v, a))
        lines.append("add nets%s %s nomatch" % (v, SRC[self.family][0]))
        for a in some(SRC[self.family] + LOCAL[self.family], 5):
            lines.append("add services%s %s,%s:%d -exist" % (v, a, self.one(["tcp", "udp", "sctp"]), self.one(PORTS[1:])))
        for p in some(PORTS, 4):
            lines.append("add ports%s %d" % (v, p))
        return "\n".join(lines) + "\n"

    def packet(self):
        r, f = self.r.random(), self.family
        words = []
        if r < 0.4:
            words += ["in=" + self.one(IFACES)]
            src, dst = self.one(SRC[f]), self.one(LOCAL[f])
        elif r < 0.75:
            dst, out = self.one(FAR[f])
            words += ["in=" + self.one(IFACES), "out=" + out]
            src = self.one(SRC[f])
        else:
            dst, out = self.one(FAR[f])
            words += ["out=" + out, "uid=%d" % self.one(UIDS), "gid=%d" % self.one([0, 100])]
            src = self.one(LOCAL[f])
        if "in=" in words[0]:
            words.append("mac=" + self.one(MACS))
            if len(words) == 2 and f == "ip" and self.chance(0.1):
                i = words[0][3:]
                dst = {"eth0": "192.0.2.255", "eth1": "198.51.100.255", "ppp10": "203.0.113.255"}[i]
                words.append("pkttype=broadcast")
            elif len(words) == 2 and self.chance(0.05):
                dst = "224.0.0.1" if f == "ip" else "ff02::1"
                words.append("pkttype=multicast")
            else:
                words.append("pkttype=unicast")
        else:
            words.append("pkttype=unicast")
        words.append("mark=%d" % (self.one(MARKS) if words[0].startswith("out=") and self.chance(0.5) else 0))
        words += [f, src, ">", dst]
        # the kernel puts the fragments of IPv4 packets to itself together before INPUT
        whole = self.tracks or f == "ip" and "out=" not in " ".join(words)
        return " ".join(words + self.network() + self.inner(whole))

    def network(self):
        words = []
        if self.family == "ip" and self.chance(0.1):
            words.append("ihl=6")
        if self.chance(0.4):
            words.append("ttl=%d" % self.one(TTLS))
        if self.chance(0.4):
            words.append("tos=%d" % self.one(TOSES + [1, 2, 3]))
        if self.family == "ip6" and not self.tracks and self.chance(0.2):
            words.append("ext=" + self.one(["hbh", "dst", "rt(type=4)", "hbh,dst", "rt(type=0)"]))
        return words

    def inner(self, whole):
        if not whole and self.chance(0.15):
            p = self.one([6, 17, 1 if self.family == "ip" else 58])
            if self.family == "ip":
                return ["proto=%d" % p, "frag=%d" % self.one([2 if p == 6 else 1, 3, 185]), "mf=%d" % self.r.randint(0, 1), "payload=24B"]
            return ["ext=frag(off=%d)" % self.one([1, 3]), "nh=%d" % p, "payload=24B"]
        kind = self.r.random()
        ports = "%d > %d" % (self.one(PORTS), self.one(PORTS))
        if kind < 0.45:
            flags = self.one(["S", "SA", "A", "R"]) if self.tracks else self.one(FLAGS)
            words = ["tcp", ports, "flags=" + flags] if flags else ["tcp", ports, "flags="]
            if flags == "S" and self.chance(0.5):
                words.append("mss=%d" % self.one([536, 1399, 1400, 1460, 1500, 1501]))
        elif kind < 0.7:
            words = ["udp", ports]
        elif kind < 0.82:
            t, c = self.one(ICMP[self.family])
            return ["icmp" if self.family == "ip" else "icmp6", "type=%d/%d" % (t, c)]
        elif kind < 0.92:
            words = ["sctp" if self.tracks else self.one(["udplite", "sctp"]), ports]
        else:
            return ["proto=%d" % self.one([47, 89]), "payload=16B"]
        if words[0] in ("tcp", "udp") and self.chance(0.3):
            words.append(self.one(["payload=1B", "payload=40B", 'payload="GET /weir"', 'payload="POST /"']))
        return words


def number(a):
    import ipaddress
    return int(ipaddress.ip_address(a))


def addresses(text):
    words = text.split(" ")
    return [b for a, b in zip(words, words[1:]) if a in ("-s", "-d")]


SINGLE = {"-s": "-s", "-d": "-d", "-i": "-i", "-o": "-o", "-p": "-p", "-f": "-f"}


def once(rule):
    """Drops the second -s, -d, -i, -o, -p, -f, with what belongs to them, and second uses of one match."""
    words, out, seen, i = rule.split(" "), [], set(), 0
    pieces, cur = [], []
    for w in words[2:]:
        starts = w in SINGLE or w in ("-m", "-j", "-g")
        if starts and cur and cur[-1] == "!":
            cur.pop()
            pieces.append(cur)
            cur = ["!", w]
        elif starts:
            pieces.append(cur)
            cur = [w]
        else:
            cur.append(w)
    pieces.append(cur)
    for p in pieces:
        if not p:
            continue
        key = tuple(x for x in p if x != "!")[:2] if "-m" in p[:2] else p[0] if p[0] != "!" else p[1]
        if key in seen:
            continue
        seen.add(key)
        out += p
    return " ".join(words[:2] + out)
