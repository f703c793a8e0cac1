# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random nft rulesets and packets for the router of lab.py; not a test.

Tables of inet, ip and ip6 stand at the same hooks, with priorities of their own. A rule stands on one line, and most
have a counter, anywhere among their statements. Values come from the pools of dice.py, for packets and rules alike.
"""
import re

import dice

HOOKS = ("prerouting", "input", "forward", "output", "postrouting")
NAMED = {"raw": -300, "mangle": -150, "filter": 0, "security": 50}
RANGES = {"ip": ["192.0.2.10-192.0.2.11", "10.1.2.3-10.1.3.0", "192.0.2.0-192.0.2.127", "198.51.100.7-203.0.113.9"],
          "ip6": ["2001:db8::a-2001:db8::b", "2001:db8::-2001:db8:0:0:8000::1", "fd00::1-fd00::ff"]}
NETS = {f: [p for p in dice.PREFIXES[f] if p.rsplit("/")[1].isdigit() and not p.endswith("/24") or p.endswith(".0/24")]
        for f in ("ip", "ip6")}
FLAG_NAMES = ["fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr"]
ICMP = {"ip": ["echo-request", "echo-reply", "13", "timestamp-request", "17"], "ip6": ["echo-request", "echo-reply", "144"]}


class NftDice(dice.Dice):
    def __init__(self, rng, is_plain=False, is_stateless=False):
        """is_plain: nothing that asks routes, extension headers or sets that rules fill. is_stateless: no limits, connections, rejects."""
        super().__init__(rng, "ip")
        self.is_plain, self.is_stateless, self.tracks = is_plain, is_stateless, self.tracks and not is_stateless
        self.table_family, self.rule_net, self.rule_l4 = "inet", "ip", "tcp"

    # ---- small parts ----

    def ne(self, p=0.2):
        return "!= " if self.chance(p) else ""

    def some(self, make, most=4):
        return list(dict.fromkeys(make() for _ in range(self.r.randint(1, most))))

    def group(self, make, most=4):
        return "{ %s }" % ", ".join(self.some(make, most))

    def about(self):
        """What a rule is about: one network protocol that its table sees, and one transport. nft refuses two of a kind."""
        self.rule_net = self.one(["ip", "ip6"]) if self.table_family == "inet" else self.table_family
        self.rule_l4 = self.one(["tcp", "tcp", "tcp", "udp", "udp", "sctp", "udplite", "th", "icmp"])

    def net(self):
        return self.rule_net

    def l4(self):
        return "th" if self.rule_l4 == "icmp" else self.rule_l4

    def addr(self, f):
        return self.one(dice.SRC[f] + dice.LOCAL[f] + [far for far, _ in dice.FAR[f]])

    def addrs(self, f):
        return self.one([self.addr(f), self.addr(f), self.one(NETS[f]), self.one(RANGES[f])])

    def port(self):
        return str(self.one(dice.PORTS))

    def ports(self):
        a, b = sorted((self.one(dice.PORTS), self.one(dice.PORTS)))
        return str(a) if a == b or self.chance(0.5) else "%d-%d" % (a, b)

    def apart(self, make, key, most=4):
        """Elements that do not overlap: nft refuses those that do."""
        out, taken = [], []
        for _ in range(self.r.randint(1, most)):
            text = make()
            lo, hi = key(text)
            if all(hi < a or b < lo for a, b in taken):
                out.append(text)
                taken.append((lo, hi))
        return "{ %s }" % ", ".join(out)

    def addr_group(self, f):
        return self.apart(lambda: self.addrs(f), addr_span)

    def port_group(self):
        return self.apart(self.ports, port_span)

    def mark(self):
        return "%#x" % self.one(dice.MARKS)

    def iface(self):
        return self.one(['"eth0"', '"eth1"', '"ppp10"', '"eth*"', '"ppp*"', '"lo"', '"eth"'])

    # ---- matches ----

    def match_addr(self):
        f = self.net()
        side = "%s %s %s" % (f, self.one(["saddr", "saddr", "daddr"]), self.ne())
        r = self.r.random()
        if r < 0.45:
            return side + self.addrs(f)
        if r < 0.7:
            return side + self.addr_group(f)
        if r < 0.8:
            return side.replace("!= ", "") + self.masked(f)
        return side + "@" + self.one(["hosts_" + f, "nets_" + f])

    def masked(self, f):
        if f == "ip":
            return "& %s == %s" % self.one([("255.0.0.255", "10.0.0.3"), ("0.0.0.1", "0.0.0.1"), ("255.255.0.0", "192.0.0.0")])
        return "& %s == %s" % self.one([("::1", "::1"), ("ffff:ffff::", "2001:db8::"), ("::ffff", "::a")])

    def match_port(self):
        side = "%s %s " % (self.l4(), self.one(["sport", "dport", "dport"]))
        return side + self.one([lambda: self.ne() + self.ports(), lambda: self.ne() + self.port_group(),
                                lambda: self.ne() + "@ports", lambda: self.one(["< ", "> ", "<= ", ">= "]) + self.port()])()

    def match_flags(self):
        some = lambda: self.r.sample(FLAG_NAMES, self.r.randint(1, 4))
        mask = some()
        return "tcp flags " + self.one([
            lambda: self.one(FLAG_NAMES), lambda: ",".join(some()), lambda: "== " + self.one(FLAG_NAMES),
            lambda: "!= " + self.one(FLAG_NAMES), lambda: "& (%s) == %s" % (" | ".join(mask), mask[0]),
            lambda: "& (%s) != 0" % " | ".join(mask), lambda: "& (%s) == 0" % " | ".join(mask),
            lambda: "& (%s) < %s" % (" | ".join(mask), self.one(FLAG_NAMES)), lambda: "syn / syn,ack", lambda: "! syn",
            lambda: "{ syn, syn | ack }"])()

    def match_proto(self):
        names = ["tcp", "udp", "sctp", "icmp", "ipv6-icmp", "47", "89"]
        word = self.one(["meta l4proto", "meta l4proto", "ip protocol" if self.net() == "ip" else "ip6 nexthdr"])
        return "%s %s%s" % (word, self.ne(), self.one([self.one(names), self.group(lambda: self.one(names))]))

    def match_icmp(self):
        f = self.net()
        word = "icmp" if f == "ip" else "icmpv6"
        types = self.group(lambda: self.one(ICMP[f][:2] + ["17" if f == "ip" else "144"]))
        return "%s %s" % (word, self.one(["type %s%s" % (self.ne(), self.one(ICMP[f])), "type " + types,
                                          "code %s%d" % (self.ne(), self.one([0, 1])), "type 8-13" if f == "ip" else "type 128-144"]))

    def match_iface(self):
        return "%s %s%s" % (self.one(["iifname", "oifname"]), self.ne(0.3),
                            self.one([self.iface(), self.iface(), '{ "eth0", "ppp*" }', '{ "eth1", "lo" }']))

    def match_mark(self):
        return "meta mark " + self.one([
            lambda: self.ne() + self.mark(), lambda: "& 0xff == " + self.one(["0x0", "0x1", "0x10", "0xff"]),
            lambda: "and 0x1 != 0x1", lambda: "0x1-0xff", lambda: self.group(self.mark), lambda: "> 0x7",
            lambda: "!= { 0x0, 0x7-0x10 }", lambda: "& 0xff00 == 0x0"])()

    def match_meta(self):
        return self.one([
            "meta length %s%d" % (self.one(["", "!= ", "< ", ">= "]), self.one(dice.LENGTHS)), "meta length 40-60",
            "meta pkttype %s%s" % (self.ne(), self.one(["host", "unicast", "broadcast", "multicast"])),
            "meta skuid %s%d" % (self.ne(), self.one(dice.UIDS)),
            "meta skgid %s" % self.one(["0", "100", "50-200"]), ("meta nfproto " if self.table_family == "inet" else "meta protocol ") + (
                self.one(["ipv4", "ipv6"]) if self.table_family == "inet" else self.net()), "meta protocol %s%s" % (self.ne(), self.one(["ip", "ip6"])),
            ] + ([] if self.is_plain else ["iifgroup %s%d" % (self.ne(), self.one([0, 7, 9])), "fib daddr type %s%s" % (
                self.ne(), self.one(["local", "unicast", "broadcast", "multicast", "{ local, broadcast }"]))]))

    def match_header(self):
        if self.net() == "ip":
            return self.one(["ip ttl %s%d" % (self.one(["", "!= ", "< ", "> "]), self.one(dice.TTLS)),
                             "ip dscp %s%s" % (self.ne(), self.one(["cs0", "cs1", "ef", "0x2", "{ ef, cs0 }"])),
                             "ip ecn %s" % self.one(["not-ect", "ce", "ect0", "!= ect1"]),
                             "ip length %s%d" % (self.one(["", "< ", ">= "]), self.one(dice.LENGTHS)), "ip version 4",
                             "ip hdrlength %d" % self.one([5, 6]), "ip frag-off & 0x1fff != 0x0"])
        return self.one(["ip6 hoplimit %s%d" % (self.one(["", "!= ", "< ", "> "]), self.one(dice.TTLS)),
                         "ip6 dscp %s%s" % (self.ne(), self.one(["cs0", "cs1", "ef", "0x2", "{ ef, cs0 }"])),
                         "ip6 ecn %s" % self.one(["not-ect", "ce", "ect0", "!= ect1"]), "ip6 flowlabel 0",
                         "ip6 length %s%d" % (self.one(["", "< ", ">= "]), self.one(dice.LENGTHS)), "ip6 version 6"] + (
                         [] if self.is_plain else ["exthdr %s %s" % (self.one(["hbh", "rt", "frag", "dst"]), self.one(["exists", "missing"])),
                         "rt type %d" % self.one([0, 4]), "frag frag-off %s%d" % (self.ne(), self.one([0, 1, 3])),
                         "frag more-fragments %d" % self.one([0, 1])]))

    def match_raw(self):
        return self.one(["@th,0,16 { 22, 53, 80, %s }" % self.port(), "@th,16,16 { 22, 53, 80 }", "@nh,0,4 != %d" % self.one([4, 6]),
                         "@th,104,8 & 0x2 == 0x2", "@nh,8,8 != 0x0", "@th,8,24 < 0x10000"])

    def match_state(self):
        return self.one(["ct state %s" % self.one(["new", "established", "invalid", "established,related", "new,untracked",
                                                   "!= new", "!= established,related", "== new", "{ new, established }"]),
                         "ct mark %s%s" % (self.ne(), self.one(["0x0", "0x7", "{ 0x0, 0x7 }"])), "ct mark & 0x3 == 0x3",
                         "ct direction %s" % self.one(["original", "reply"]), "ct status %s" % self.one(["seen-reply", "confirmed"])])

    def match_pairs(self):
        f, l4 = self.net(), self.l4()
        if self.chance(0.3):
            return "%s saddr . %s dport @pairs_%s" % (f, l4, f)
        both = self.one(["%s saddr . %s dport" % (f, l4), "%s daddr . %s sport" % (f, l4)])
        if self.chance(0.5):
            return "%s %s%s" % (both, self.ne(), self.group(lambda: "%s . %s" % (self.addr(f), self.port()), 5))
        e = "%s . %s" % (self.addrs(f), self.ports())
        return "%s %s{ %s }" % (both, self.ne(), e)

    def match_triple(self):
        f = self.net()
        return self.one([
            "iifname . %s saddr %s" % (f, self.group(lambda: '"%s" . %s' % (self.one(dice.IFACES), self.addr(f)))),
            "meta l4proto . th dport %s" % self.group(lambda: "%s . %s" % (self.one(["tcp", "udp", "sctp"]), self.port()), 6),
            "meta mark . meta l4proto %s" % self.group(lambda: "%s . %s" % (self.mark(), self.one(["tcp", "udp"])), 6),
            "%s saddr . %s daddr . meta l4proto %s" % (f, f, self.group(
                lambda: "%s . %s . %s" % (self.addr(f), self.addr(f), self.one(["tcp", "udp"])), 6))])

    def match_limit(self):
        return "limit rate %s%d/hour burst %d packets" % (self.one(["", "", "over "]), self.r.randint(1, 3), self.r.randint(1, 6))

    def match(self):
        ways = [self.match_addr] * 5 + [self.match_iface] * 3 + [self.match_mark] * 2 + [
            self.match_meta, self.match_meta, self.match_header, self.match_header, self.match_pairs,
            self.match_pairs, self.match_triple]
        if not self.is_stateless:
            ways.append(self.match_limit)
        if self.rule_l4 == "icmp":
            ways += [self.match_icmp] * 4
        else:
            ways += [self.match_port] * 5
        if self.rule_l4 == "tcp":
            ways += [self.match_flags] * 3
        if self.rule_l4 == "th":
            ways += [self.match_proto] * 2 + [self.match_raw] * 2
        if self.tracks:
            ways += [self.match_state] * 5
        return self.one(ways)()

    # ---- what rules do ----

    def verdict(self, callees):
        if callees and self.chance(0.4):
            return self.one(["jump ", "jump ", "goto "]) + self.one(callees)
        return self.one(["accept", "drop", "drop", "return", "continue"])

    def vmap(self, hook, callees):
        """The named maps call any chain, so only base chains may ask them."""
        f = self.net()
        v = lambda: self.verdict(callees)
        key, body = self.one([
            lambda: ("%s dport" % self.l4(), self.apart(lambda: "%s : %s" % (self.ports(), v()), lambda t: port_span(t.split(" : ")[0]))),
            lambda: ("%s saddr" % f, self.apart(lambda: "%s : %s" % (self.addrs(f), v()), lambda t: addr_span(t.split(" : ")[0]))),
            lambda: ("meta l4proto", keyed(self.one(["tcp", "udp", "sctp", "icmp"]) + " : " + v() for _ in range(4))),
            lambda: ("meta mark", keyed(self.mark() + " : " + v() for _ in range(4))),
            lambda: ("iifname", keyed('"%s" : %s' % (self.one(dice.IFACES), v()) for _ in range(3))),
            lambda: ("%s saddr . th dport" % f, keyed("%s . %s : %s" % (self.addr(f), self.port(), v()) for _ in range(6))),
            lambda: ("%s daddr" % f, "@verdicts_" + f if hook else "{ %s : drop }" % self.addr(f))])()
        if body[0] == "{" and self.chance(0.2) and "." not in key and key != "iifname":
            body = body[:-2] + ", * : %s }" % v()
        return "%s vmap %s" % (key, body)

    def change(self):
        f = self.net()
        ways = ["meta mark set %s" % self.mark(), "meta mark set meta mark | 0x10", "meta mark set meta mark & 0xf",
                "meta mark set meta mark ^ 0x3", 'log prefix "weir "', "counter name total",
                "meta mark set %s saddr map @marks_%s" % (f, f),
                "meta mark set %s dport map { 22 : 0x1, 80 : 0x7, 443 : 0x10 }" % self.l4()]
        if not self.is_plain:
            ways.append("add @seen_%s { %s saddr }" % (f, f))
        if self.tracks:
            ways += ["ct mark set 0x7", "ct mark set meta mark", "meta mark set ct mark"]
        return self.one(ways)

    def ending(self, hook, callees):
        r = self.r.random()
        if r < 0.3:
            return ""
        if r < 0.45:
            return self.vmap(hook, callees)
        if r < 0.5 and not self.is_stateless and hook in ("input", "forward", "output"):
            return "reject"
        return self.verdict(callees)

    def rule(self, hook, callees):
        if self.chance(0.04):  # alone: nft 1.0.6 moves it behind a counter if an IP header is asked, too (docs/nft.md)
            return "ether saddr %s%s counter %s" % (self.ne(), self.one(dice.MACS), self.verdict(callees))
        self.about()
        words = [self.match() for _ in range(self.one([0, 1, 1, 2, 2, 3]))]
        if self.chance(0.1) and not self.is_plain:
            words.insert(self.r.randint(0, len(words)), "%s saddr @seen_%s" % (self.net(), self.net()))
        if self.chance(0.25):
            self.put_between(words, self.change())
        self.put_between(words, "counter")
        end = self.ending(hook, callees)
        return " ".join(words + [end] if end else words)

    def put_between(self, words, statement):
        """nft 1.0.6 makes one of two equations about neighbouring bytes, and puts it behind what stands between them."""
        at = self.r.randint(0, len(words))
        around = [[base(w) for w in part] for part in (words[:at], words[at:])]
        if any(b and b in around[1] for b in around[0]):
            at = 0
        words.insert(at, statement)

    # ---- the whole ----

    def table(self, family, name):
        self.table_family = family
        lines, own = ["table %s %s {" % (family, name)], ["c%d" % i for i in range(self.r.randint(0, 3))]
        lines += ["\tcounter total {", "\t}"] + self.named_sets(family, own)
        for i in reversed(range(len(own))):
            lines += ["\tchain %s {" % own[i]]
            lines += ["\t\t" + self.rule("", own[i + 1:]) for _ in range(self.r.randint(0, 5))] + ["\t}"]
        for n in range(self.r.randint(1, 5)):
            hook = self.one(HOOKS)
            prio = self.one([-300, -150, -100, -1, 0, 0, 1, 50, 100])
            lines += ["\tchain %s%d {" % (hook, n), "\t\ttype filter hook %s priority %d; policy %s;" % (
                hook, prio, "drop" if self.chance(0.12) else "accept")]
            lines += ["\t\t" + self.rule(hook, own) for _ in range(self.r.randint(1, 8))] + ["\t}"]
        return lines + ["}"]

    def named(self, kind, name, type_, flags, elements):
        lines = ["\t%s %s {" % (kind, name), "\t\ttype " + type_]
        if flags:
            lines.append("\t\tflags " + flags)
        if elements:
            lines.append("\t\telements = " + elements)
        return lines + ["\t}"]

    def named_sets(self, family, own):
        out = self.named("set", "ports", "inet_service", "interval", self.port_group())
        for f in ("ip", "ip6") if family == "inet" else (family,):
            t = "ipv4_addr" if f == "ip" else "ipv6_addr"
            out += self.named("set", "hosts_" + f, t, "", self.group(lambda f=f: self.addr(f), 6))
            out += self.named("set", "nets_" + f, t, "interval", self.addr_group(f))
            out += self.named("set", "pairs_" + f, t + " . inet_service", self.one(["", "interval"]),
                              self.group(lambda f=f: "%s . %s" % (self.addr(f), self.port()), 6))
            out += self.named("set", "seen_" + f, t, "dynamic", "")
            out += self.named("map", "marks_" + f, t + " : mark", "", keyed("%s : %s" % (self.addr(f), self.mark()) for _ in range(5)))
            out += self.named("map", "verdicts_" + f, t + " : verdict", "", keyed(
                "%s : %s" % (self.addr(f), self.verdict(own)) for _ in range(5)))
        return out

    def rules(self):
        out = []
        for i in range(self.r.randint(1, 3)):
            out += self.table(self.one(["inet", "inet", "ip", "ip6"]), "t%d" % i)
        return "\n".join(out) + "\n"

    def packet(self):
        self.family = self.one(["ip", "ip6"])
        return super().packet()

    def inner(self, whole):
        return super().inner(True)  # this kernel reads ports out of later fragments (docs/nft.md)


def base(match):
    """The header in which a match asks for a single value, or None."""
    m = re.match(r"(ip6?|tcp|udp|sctp|udplite|th|icmp|icmpv6) [a-z0-9-]+ (== )?([\w.:]+)$", match)
    return m and ("network" if m.group(1).startswith("ip") else "transport")


def keyed(lines):
    """Of elements with the same key the first."""
    out = {}
    for text in lines:
        out.setdefault(text.split(" : ")[0], text)
    return "{ %s }" % ", ".join(out.values())


def addr_span(text):
    import ipaddress
    if "/" in text:
        n = ipaddress.ip_network(text, strict=False)
        return int(n[0]), int(n[-1])
    lo, _, hi = text.partition("-")
    return dice.number(lo), dice.number(hi or lo)


def port_span(text):
    lo, _, hi = text.partition("-")
    return int(lo), int(hi or lo)
