#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the case files of $WEIR_SHARED/cases (default ../shared) through weir and prints TAP.

A case has rules, packets and what is right about them; README.md there describes the notation. Of each case in a
language that weir reads, every verdict, deciding rule, mark, error line and lint is looked at. The cases of a packet
program without a language of its own are told in iptables' words (RETOLD), so that what they are about is tested.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

WEIR = os.path.abspath(os.environ.get("WEIR", "build/weir"))
SHARED = os.environ.get("WEIR_SHARED", "../shared")
LANGS = {"iptables-save": "iptables", "ip6tables-save": "ip6tables", "tc-u32": "tc", "tc-bpf": "tc"}

# What the capture library compiles of the expressions that cases name instead of a program.
PROGRAMS = {
    'tcpdump -ddd "tcp dst port 22"':
        "16,40 0 0 12,21 0 4 34525,48 0 0 20,21 0 11 6,40 0 0 56,21 8 9 22,21 0 8 2048,48 0 0 23,21 0 6 6,40 0 0 20,"
        "69 4 0 8191,177 0 0 14,72 0 0 16,21 0 1 22,6 0 0 262144,6 0 0 0\n",
    # By hand: ether type at 12; else with a tag beside the frame (ldb [vlanp]) the same; else the type behind a tag in it.
    '"ether proto 0x8892 or (vlan and ether proto 0x8892)"':
        "12,40 0 0 12,21 8 0 34962,48 0 0 4294963248,21 4 0 1,40 0 0 12,21 2 0 33024,21 1 0 34984,21 0 3 37120,"
        "40 0 0 16,21 0 1 34962,6 0 0 262144,6 0 0 0\n",
}

# id: (language, rules, {what the case calls it: what iptables calls it})
RETOLD = {
    "145": ("ip6tables", ":INPUT DROP\n-A INPUT -p udp --dport 53 -j ACCEPT\n", {"deny": "drop"}),
    "146": ("iptables", "-A INPUT -s 198.51.100.7 -j DROP\n", {"deny": "drop"}),
    "148": ("iptables", "-A INPUT -s 10.0.0.0/8 -j DROP\n-A INPUT -s 10.1.0.0/16 -j ACCEPT\n"
            "-A INPUT -s 10.2.0.0/16 -p tcp --dport 443 -j ACCEPT\n", {"deny": "drop"}),
    "149": ("iptables", "-A INPUT -p tcp --dport 21114:21117 -j ACCEPT\n-A INPUT -p udp --dport 21116 -j ACCEPT\n"
            "-A INPUT -j DROP\n", {"allow": "accept"}),
    "151": ("iptables", "-A INPUT -p udp -j DROP\n", {"deny": "drop"}),
    "152": ("iptables", "-A INPUT -p udp --dport 53 -j DROP\n", {"deny": "drop", "malformed": "drop"}),
    "154": ("iptables", "-A INPUT -p tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG FIN,SYN,RST,PSH,ACK,URG -j DROP\n", {}),
}
# Without these sets a rule that names one could not be read.
SETS = {"044": "create seen hash:ip family inet timeout 60\n"}


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, holds, what, why=""):
        self.n += 1
        self.failed += not holds
        print("%s %d - %s" % ("ok" if holds else "not ok", self.n, what.replace("#", "%")))
        if not holds:
            for line in why.splitlines():
                print("#   " + line)


tap = Tap()


def parse(path):
    case, block = {"expected": "", "rules": "", "packet": ""}, None
    for line in open(path):
        if block:
            if line == "END\n":
                block = None
            else:
                case[block] += line
            continue
        m = re.match(r"(\w+)<<END$", line)
        if m:
            block = m.group(1)
            continue
        key, _, value = line.partition(":")
        case[key.strip()] = value.strip()
    return case


def weir(*args):
    p = subprocess.run([WEIR] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode < 0 or b"Sanitizer" in p.stderr:
        tap.ok(False, "weir %s does not crash" % " ".join(args), p.stderr.decode("utf-8", "replace"))
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


class Runner:
    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        self.id = case["id"]
        self.words = {}
        self.more = []  # arguments besides the files
        self.lang, rules = self.rules()
        self.files = [self.write(self.id + ".rules", rules)]
        self.header = 0  # lines before the rules block
        sets = self.sets(rules)
        if sets:
            self.files.append(self.write(self.id + ".ipset", sets))

    def rules(self):
        if self.id in RETOLD:
            lang, text, self.words = RETOLD[self.id]
            self.more = ["--hook", "input"]
            return lang, "*filter\n" + text + "COMMIT\n"
        text = self.case["rules"]
        for expression, program in PROGRAMS.items():
            if text.startswith(expression):
                text = program
        if "(file has CR LF)" in text:
            text = text.replace("(file has CR LF)", "").strip().replace("\\r", "\r").replace("\\n", "\n").strip(" ")
        return LANGS[self.case["lang"]], text

    def sets(self, rules):
        out = SETS.get(self.id, "")
        for line in rules.splitlines():
            m = re.match(r"#\s*(create .*)", line)
            if m:
                out += "".join(part.strip() + "\n" for part in m.group(1).split(";"))
        return out

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", newline="") as f:
            f.write(text)
        return path

    def args(self, verb, *more):
        return [verb, "--lang", self.lang] + self.more + list(more)

    def what(self, line):
        return "%s %s: %s" % (self.id, self.case["topic"], line)

    # ---- packets ----

    def explain(self, packet, files=None):
        code, out, err = weir(*self.args("explain", "--json"), *(files or self.files), packet)
        try:
            return json.loads(out), err
        except ValueError:
            return {"verdict": "nothing (exit status %d)" % code}, out + err

    def line_of(self, place):
        return None if place is None else place.get("line", 0) - (1 if self.id in RETOLD else 0)

    def packet_line(self, line, files=None):
        name, _, want = line.partition(": ")
        packet = next((p for p in self.case["packet"].splitlines() if p.startswith(name + ":")), None)
        if packet is None:
            tap.ok(False, self.what(line), "the case has no packet " + name)
            return
        if packet.split()[1].endswith(".pcap"):
            self.capture_line(line, packet, want)
            return
        self.judge(line, want, packet, files)

    def judge(self, line, want, packet, files=None):
        got, err = self.explain(packet, files)
        verdict = want.split()[0].rstrip(",;")
        verdict = self.words.get(verdict, verdict)
        if self.lang == "tc":
            self.judge_filter(line, want, got, err)
            return
        bad = []
        if got["verdict"] != verdict:
            bad.append("verdict %s, not %s" % (got["verdict"], verdict))
        m = re.search(r"rule=(?:line:)?(\d+)", want)
        if m and self.line_of(got.get("rule")) != int(m.group(1)):
            bad.append("not decided in line %s" % m.group(1))
        m = re.search(r"rule=policy:(\w+)", want)
        if m and (got.get("policy") or {}).get("chain") != m.group(1):
            bad.append("not decided by the policy of " + m.group(1))
        m = re.search(r"via line:(\d+)", want)
        if m and self.line_of(got.get("via")) != int(m.group(1)):
            bad.append("not by way of line " + m.group(1))
        m = re.search(r"\bmark=(\w+)", want)
        if m and got.get("mark") != int(m.group(1), 0):
            bad.append("mark %s" % got.get("mark"))
        if want.startswith("malformed") and not got.get("malformed"):
            bad.append("not malformed")
        m = re.search(r"trace=(\S+)", want)
        if m:
            bad += self.trace(got, m.group(1))
        tap.ok(not bad, self.what(line), "\n".join(bad) + "\n" + err)

    def judge_filter(self, line, want, got, err):
        """pass is accept; match and no match: a filter decides, or none does."""
        word = want.split()[0].rstrip(",;")
        if word in ("match", "no"):
            holds = (got.get("rule") is not None) == (word == "match") and got["verdict"] == "accept"
        else:
            holds = got["verdict"] == {"pass": "accept"}.get(word, word)
        tap.ok(holds, self.what(line), json.dumps(got.get("verdict")) + "\n" + err)
        m = re.search(r'lint "(.*?)"', want)
        if m:
            code, diags, err = self.check()
            tap.ok(any(m.group(1) in d["text"] and d["severity"] == "warning" for d in diags), self.what(line + " (lint)"),
                   json.dumps(diags) + err)

    def trace(self, got, want):
        """trace=5,7,9(no),return-to-INPUT,6: the rules that were met, in order."""
        met = []
        for e in got.get("trace", []):
            if e["event"] in ("no", "match"):
                met.append(str(e["rule"]["line"]) + ("(no)" if e["event"] == "no" else ""))
            elif e["event"] == "returned":
                met.append("return-to-" + e["chain"].split("/")[-1])
        return [] if ",".join(met) == want else ["trace " + ",".join(met)]

    def capture_line(self, line, packet, want):
        path = os.path.join(SHARED, packet.split()[1])
        code, out, err = weir(*self.args("eval", "--each", "--json"), *self.files, path)
        try:
            got = json.loads(out.splitlines()[0])["verdict"]
        except (ValueError, IndexError, KeyError):
            got = "nothing (exit status %d): %s" % (code, err)
        tap.ok(got == want.split()[0].rstrip(";"), self.what(line), "verdict " + got)

    # ---- the file itself ----

    def check(self):
        code, out, err = weir("check", "--lang", self.lang, "--json", *self.files)
        try:
            return code, json.loads(out)["diagnostics"], err
        except ValueError:
            return code, [], out + err

    def has(self, diags, severity, lines, col):
        """A column of a case lies anywhere in the words that are marked."""
        return any(d["severity"] in severity and d.get("line") in lines and d.get("file", "").endswith(".rules")
                   and (col is None or d["column"] <= col < d["column"] + max(d["length"], 1)) for d in diags)

    def error_line(self, line):
        code, diags, err = self.check()
        m = re.match(r'error "(.*?)"', line)
        if m and self.lang == "tc":
            tap.ok(code == 1 and any(m.group(1) == d["text"] for d in diags), self.what(line), json.dumps(diags) + err)
            return
        lines = [int(n) for n in re.search(r"lines?=([\d,]+)", line).group(1).strip(",").split(",")]
        m = re.search(r"col=(\d+)", line)
        col = int(m.group(1)) if m else None
        lenient = "lenient" in line or "or accept + lint" in line
        holds = code == 1 and self.has(diags, ("error",), lines, col)
        if not holds and lenient:
            holds = code == 0 and self.has(diags, ("warning",), lines, col)
        tap.ok(holds, self.what(line), "exit status %d\n%s\n%s" % (code, json.dumps(diags, indent=1), err))

    def lint_line(self, line):
        code, diags, err = self.check()
        m = re.search(r"line=(\d+)", line)
        if m:
            holds = self.has(diags, ("warning",), [int(m.group(1))], None)
        else:  # lint: no shadow warning
            holds = not any("shadow" in d["text"] or "never reached" in d["text"] for d in diags)
        if m and "unsupported target" in line:
            holds = holds or self.has(diags, ("error",), [int(m.group(1))], None)
        tap.ok(holds and code <= 1, self.what(line), json.dumps(diags, indent=1) + err)

    def dump(self, text):
        path = self.write("dump.rules", text)
        code, out, err = weir("check", "--lang", self.lang, "--dump", path)
        return out if code == 0 else "exit status %d\n%s" % (code, err)

    def diff_line(self, line):
        rules = self.case["rules"]
        m = re.search(r'equal to "(.*)"', line)
        if m:
            a, b = rules, re.sub(r"-m state --state \S+", m.group(1), rules)
        else:
            a, b = ("*filter\n" + re.search("^%s: (.*)" % x, rules, re.M).group(1) + "\nCOMMIT\n" for x in "AB")
        a, b = self.dump(a), self.dump(b)
        tap.ok(a == b and not a.startswith("exit"), self.what(line), a + "\n" + b)

    def contrast_line(self, line):
        m = re.search(r'with "(.*)" on line (\d+) the answer is (.*)', line)
        lines = self.case["rules"].splitlines()
        n = int(m.group(2)) - 1
        lines[n] = lines[n].rsplit(" -", 1)[0] + " " + m.group(1)
        path = self.write("contrast.rules", "\n".join(lines) + "\n")
        self.judge("contrast: " + m.group(3), m.group(3), self.case["packet"].splitlines()[0], [path])

    def roundtrip_line(self, line):
        word = line.split()[-1]
        code, out, err = weir("check", "--lang", self.lang, "--print", *self.files)
        tap.ok(code == 0 and word in out, self.what(line), out + err)

    def reads_back(self):
        code, out, err = weir("check", "--lang", self.lang, "--print", self.files[0])
        if code:
            return
        before = weir("check", "--lang", self.lang, "--dump", self.files[0])[1]
        path = self.write("back.rules", out)
        code, after, err = weir("check", "--lang", self.lang, "--dump", path)
        tap.ok(code == 0 and before == after, self.what("reads back what it prints"), out + err)

    def run(self):
        kinds = (("error", self.error_line), ("lint:", self.lint_line), ("diff:", self.diff_line),
                 ("contrast:", self.contrast_line), ("roundtrip:", self.roundtrip_line))
        for line in self.case["expected"].splitlines():
            both = re.match(r"p1: match and p2: match", line)
            if both:
                self.packet_line("p1: match")
                self.packet_line("p2: match")
            elif re.match(r"p\d+:", line):
                self.packet_line(line)
            if re.match(r"p\d+:", line):
                continue
            for word, function in kinds:
                if line.startswith(word):
                    function(line)
                    break
            else:
                print("# not looked at: " + self.what(line))
        if not self.case["rules"].startswith("A: "):
            self.reads_back()


def main():
    paths = sorted(glob.glob(os.path.join(SHARED, "cases", "[0-9]*.txt")))
    if not paths:
        print("1..0 # SKIP no cases: WEIR_SHARED/cases is not there")
        return
    with tempfile.TemporaryDirectory(prefix="weir-cases-") as folder:
        for path in paths:
            case = parse(path)
            if case["lang"] in LANGS or case["id"] in RETOLD:
                Runner(case, folder).run()
    print("1..%d" % tap.n)
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
