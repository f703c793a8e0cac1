#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The command line as a person meets it: exit statuses, suggestions, output for programs."""
import json
import os
import pty
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import WEIR, end, ok, run  # noqa: E402

V4 = ["examples/host.v4", "examples/host.ipset"]
PACKET = "in=eth0 tcp 198.51.100.7:40000 > 192.0.2.1:22 flags=S ct=new"

# what, arguments, exit status, a part of standard output, a part of standard error
LINES = [
    ("no verb is a usage error, with an overview", [], 2, "usage: weir VERB", ""),
    ("help is an overview", ["help"], 0, "explain", ""),
    ("--help is an overview", ["--help"], 0, "explain", ""),
    ("the version", ["--version"], 0, "weir ", ""),
    ("a misspelt verb", ["chekc", "x"], 2, "", "did you mean 'weir check'?"),
    ("a verb that is like none", ["frobnicate"], 2, "", "unknown verb 'frobnicate'"),
    ("help on a misspelt verb", ["help", "explian"], 2, "", "explian"),
    ("a misspelt option", ["check", "--jsn", "x"], 2, "", "did you mean --json?"),
    ("an option of another verb", ["check", "--bless", "x"], 2, "", "--bless is not an option of"),
    ("an option with one dash", ["check", "-json", "x"], 2, "", "two dashes"),
    ("an option without its argument", ["check", "x", "--lang"], 2, "", "--lang needs an argument"),
    ("an argument too many", ["check", "--json=yes", "x"], 2, "", "takes no argument"),
    ("a misspelt choice", ["explain", "--hook", "imput", "x", "y"], 2, "", "did you mean 'input'?"),
    ("a choice like none", ["check", "--lang", "cobol", "x"], 2, "", "iptables|ip6tables"),
    ("a shortened option", ["check", "--js"] + V4, 0, '"errors": 0', ""),
    ("an ambiguous option", ["check", "--co"] + V4, 2, "", "--co may be"),
    ("no arguments", ["check"], 2, "", "usage: weir check"),
    ("a file that is not there", ["check", "examples/nosuch"], 3, "", "examples/nosuch: No such file"),
    ("a folder", ["check", "examples"], 3, "", "examples: Is a directory"),
    ("rules without an error", ["check"] + V4, 0, "0 errors", ""),
    ("-- ends the options", ["check", "--"] + V4, 0, "0 errors", ""),
    ("explain", ["explain"] + V4 + [PACKET], 0, "verdict: accept rule=examples/host.v4:21", ""),
    ("explain --short is one line", ["explain", "--short"] + V4 + [PACKET], 0, "verdict: accept", ""),
    ("explain a policy", ["explain", "--short"] + V4 + ["in=eth0 ip 203.0.113.77 > 192.0.2.1 proto=47 ct=new"], 0,
     "verdict: drop policy=filter/INPUT examples/host.v4:10", ""),
    ("an unknown verdict", ["explain", "--short"] + V4 + ["in=eth0 tcp 198.51.100.7 > 192.0.2.1:22"], 4,
     "verdict: unknown why=", ""),
    ("a wrong packet", ["explain"] + V4 + ["in=eth0 tpc 192.0.2.1 > 192.0.2.2:22"], 2, "", "packet:1:9: error:"),
    ("a file where the packet belongs", ["explain"] + V4, 2, "", "the last argument is the packet"),
    ("a table that is not there", ["explain", "--tables", "fliter"] + V4 + [PACKET], 2, "", "did you mean 'filter'?"),
    ("a table that nobody has", ["explain", "--tables", "filter,zzzzzz"] + V4 + [PACKET], 2, "", "no table 'zzzzzz'"),
    ("a table of iptables that these rules do not use", ["explain", "--short", "--tables", "filter,security"] + V4 +
     [PACKET], 0, "verdict: accept rule=examples/host.v4:21", ""),
    ("tables of iptables of which none is left", ["explain", "--tables", "security,mangle"] + V4 + [PACKET], 2, "",
     "none of the tables security,mangle"),
    ("an empty name among tables", ["explain", "--tables", "filter,"] + V4 + [PACKET], 2, "", "no table ''"),
    ("only some tables", ["explain", "--short", "--tables", "raw"] + V4 +
     ["in=eth0 tcp 203.0.113.9 > 192.0.2.1:22 flags=S"], 0, "verdict: drop rule=examples/host.v4:6", ""),
    ("eval", ["eval", "--in", "eth0"] + V4 + ["examples/host.pcap"], 0, "rules matched nothing", ""),
    ("eval without interfaces", ["eval"] + V4 + ["examples/host.pcap"], 4, "unknown", "--in, --out, --hook or --on"),
    ("eval of something else", ["eval"] + V4 + ["examples/host.v4"], 3, "", "examples/host.v4"),
    ("eval of nothing", ["eval"] + V4 + ["examples/nosuch.pcap"], 3, "", "examples/nosuch.pcap"),
    ("--on without --env", ["eval", "--on", "eth0"] + V4 + ["examples/host.pcap"], 2, "", "--on needs --env"),
    ("an interface name that is too long", ["eval", "--in", "a" * 16] + V4 + ["examples/host.pcap"], 2, "", "15 bytes"),
    ("test", ["test", "examples/host.t"], 0, "7 passed, 0 failed", ""),
    ("test as JSON", ["test", "--json", "examples/host.t"], 0, '"passed": 7', ""),
    ("no command of set", ["set"], 2, "", "too few arguments"),
    ("a misspelt command of set", ["set", "lod", "x", "y"], 2, "", "did you mean 'weir set load'?"),
    ("a command of set that is like none", ["set", "frobnicate"], 2, "", "knows no 'frobnicate'"),
    ("a command of set with too few arguments", ["set", "load", "x"], 2, "", "usage: weir set load NAME FILE..."),
    ("a command of set with too many", ["set", "swap", "a", "b", "c"], 2, "", "usage: weir set swap A B"),
    ("print", ["check", "--print"] + V4, 0, "-A services -p tcp -m tcp --dport 22", ""),
    ("dump", ["check", "--dump"] + V4, 0, "chain", ""),
]


def lines():
    for what, args, status, out_part, err_part in LINES:
        got, out, err = run(*args)
        ok(got == status and out_part in out and err_part in err, what,
           "exit status %d, wanted %d\nwanted in output: %s\nwanted in errors: %s\n%s%s" %
           (got, status, out_part, err_part, out, err))


def check_of_wrong_rules(folder):
    path = os.path.join(folder, "rules.v4")
    open(path, "w").write("*filter\n-A INPUT -p tcp --dport 70000 -j DROP\n-A INPUT -s 192.0.2.300 -j DROP\nCOMMIT\n")
    status, out, err = run("check", path)
    ok(status == 1, "errors give exit status 1", out + err)
    lines = err.splitlines()
    ok(any(x.startswith(path + ":2:25: error: ") for x in lines), "an error has file, line and column", err)
    ok("-A INPUT -p tcp --dport 70000 -j DROP" in lines, "the line stands under it", err)
    ok(" " * 24 + "^~~~~" in lines, "a caret stands under the word", err)
    ok(any(x.startswith(path + ":3:") and "error" in x for x in lines), "all errors come in one run", err)
    status, out, err = run("check", "--json", path)
    j = json.loads(out)
    first = [d for d in j["diagnostics"] if d["severity"] == "error"][0]
    ok(j["errors"] == 2 and first["line"] == 2 and first["column"] == 25 and first["length"] == 5,
       "errors as JSON", out)
    status, out, err = run("explain", path, PACKET)
    ok(status == 1 and "verdict" not in out, "rules with errors give no verdict", out + err)
    status, out, err = run("check", "--print", path)
    ok(status == 1 and out == "", "rules with errors are not printed back", out)


def strict(folder):
    path = os.path.join(folder, "warn.v4")
    open(path, "w").write("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s 192.0.2.1/24 -j DROP\nCOMMIT\n")
    ok(run("check", path)[0] == 0, "a warning is no error")
    ok(run("check", "--strict", path)[0] == 1, "a warning is an error with --strict")


def output_for_programs():
    j = json.loads(run("explain", "--json", *V4, PACKET)[1])
    ok(j["verdict"] == "accept" and j["rule"]["line"] == 21 and j["rule"]["chain"] == "services", "a verdict as JSON", j)
    ok([e for e in j["trace"] if e["event"] == "call"], "the way as JSON", j["trace"])
    j = json.loads(run("eval", "--json", "--env", "examples/host.env", "--on", "eth0", *V4, "examples/host.pcap")[1])
    ok(j["packets"] == 73 and j["malformed"] == 1 and j["not_ip"] == 1, "a capture as JSON", j)
    ok(sum(v["packets"] for v in j["verdicts"].values()) == 73, "every packet has a verdict", j["verdicts"])
    telnet = [r for r in j["rules"] if "telnet" in r["text"]]
    ok(telnet and telnet[0]["packets"] == 0, "a rule that nothing matched", telnet)
    blocked = [r for r in j["rules"] if "blocked" in r["text"]]
    ok(blocked and blocked[0]["packets"] == 6, "a rule that six packets matched", blocked)
    out = run("eval", "--each", "--json", "--env", "examples/host.env", "--on", "eth0", *V4, "examples/host.pcap")[1].splitlines()
    ok(len(out) == 73 and all(json.loads(x)["verdict"] for x in out), "each packet as a line of JSON")


def tests_for_programs(folder):
    path = os.path.join(folder, "wrong.t")
    open(path, "w").write("case  one\nrules  -A INPUT -j DROP\npacket  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2  accept  rule 1\n"
                          "packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2  drop  rule 1\n")
    status, out, err = run("test", "--json", path)
    j = json.loads(out)
    first, second = j["results"][:2]
    ok(status == 1 and (j["passed"], j["failed"], j["skipped"]) == (2, 1, 0), "test: how many as JSON", out + err)
    ok(first == {"file": path, "line": 3, "case": "one", "what": "in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2", "outcome": "failed",
                 "wanted": "accept  rule 1", "got": "drop  rule 1"}, "test: one that fails", first)
    ok(second["outcome"] == "passed" and "got" not in second and "wanted" not in second, "test: one that passes", second)
    j = json.loads(run("test", "--json", "--bless", path)[1])
    ok(j["blessed"] == [{"file": path, "line": 3, "got": "drop  rule 1"}] and j["failed"] == 0, "test: what was blessed", j)
    ok(run("test", "--json", path)[0] == 0, "and is right now")
    open(path, "a").write("nonsense\n")
    status, out, err = run("test", "--json", path)
    ok(status == 1 and json.loads(out)["diagnostics"][0]["line"] == 5 and err == "", "test: errors of the file", out + err)


def standard_input():
    text = open("examples/host.v4", "rb").read()
    status, out, err = run("check", "-", "examples/host.ipset", stdin=text)
    ok(status == 0 and "0 errors" in out, "rules from standard input", out + err)
    status, out, err = run("check", "--dump", "-", "examples/host.ipset", stdin=text)
    ok(out == run("check", "--dump", *V4)[1], "the same model as from the file")


def colours():
    status, out, err = run("check", "--lang", "iptables", "-", stdin=b"*filter\n-A INPUT -j \033[31mDROP\nCOMMIT\n")
    ok("\033" not in err and "?[31mDROP" in err, "control bytes of a file do not reach the terminal", err)
    ok("\033[" not in run("explain", *V4, PACKET)[1], "no colours into a pipe")
    ok("\033[" in run("explain", "--color", "always", *V4, PACKET)[1], "colours when asked")


def progress(folder):
    """On a terminal eval says how far it is; elsewhere not a byte of that."""
    data = open("examples/host.pcap", "rb").read()
    path = os.path.join(folder, "long.pcap")
    with open(path, "wb") as f:
        f.write(data + data[24:] * 40)
    args = ["eval", "--in", "eth0"] + V4 + [path]
    ours, theirs = pty.openpty()
    p = subprocess.Popen([WEIR] + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    p.wait()
    ok(b" packets" in said and b" %" in said and said.endswith(b"\r\033[K"), "eval shows progress on a terminal, and takes it away", said)
    ok(b"\r" not in run(*args)[2].encode(), "eval shows no progress elsewhere")


def bless(folder):
    path = os.path.join(folder, "bless.t")
    open(path, "w").write("case x\nrules   -A INPUT -p udp -j DROP\n"
                          "packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2    accept  policy   # why\n"
                          "error   -A INPUT -p tcp --dport 70000 -j DROP    1-2     nonsense\n")
    status, out, err = run("test", path)
    ok(status == 1 and "2 failed" in out, "wrong expectations fail", out)
    run("test", "--bless", path)
    text = open(path).read()
    ok("192.0.2.2:2    drop  rule 1   # why\n" in text, "a blessed packet line keeps its comment", text)
    ok("-j DROP    25-29  " in text, "a blessed error line has its place", text)
    status, out, err = run("test", path)
    ok(status == 0 and "0 failed" in out, "blessed expectations hold", out + text)


os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
lines()
with tempfile.TemporaryDirectory(prefix="weir-cli-") as tmp:
    check_of_wrong_rules(tmp)
    strict(tmp)
    tests_for_programs(tmp)
    bless(tmp)
    progress(tmp)
output_for_programs()
standard_input()
colours()
end()
