#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Lists of addresses beside the rules (--set NAME=FILE), offline: filled sets, the report, errors, a million entries."""
import bisect
import collections
import ipaddress
import json
import os
import pty
import random
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import ROOT, WEIR, end, ok, run, skip  # noqa: E402

SHARED = os.environ.get("WEIR_SHARED", os.path.join(ROOT, "../shared"))
LISTS = os.path.join(SHARED, "blocklists")


def rules(folder, name="r.v4", match="-m set --match-set bad src"):
    path = os.path.join(folder, name)
    open(path, "w").write("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT %s -j DROP\nCOMMIT\n" % match)
    return path


def write(folder, name, text):
    path = os.path.join(folder, name)
    open(path, "w").write(text)
    return path


def verdict(src, dst, *args):
    fmt = "in=eth0 tcp [%s]:40000 > [%s]:22" if ":" in src else "in=eth0 tcp %s:40000 > %s:22"
    status, out, err = run("explain", "--short", *args, fmt % (src, dst))
    return out.split()[1] if status == 0 else "status %d: %s" % (status, err)


def sets_are_filled(folder):
    v4, v6 = rules(folder), rules(folder, "r.v6")
    four = write(folder, "four.txt", "# four\n192.0.2.0/24\n192.0.2.9 nomatch\n198.51.100.7-198.51.100.9 ; x\n")
    six = write(folder, "six.txt", "2001:db8::/32\n")
    both = write(folder, "both.txt", "192.0.2.0/24\n2001:db8::/32\n")
    got = [verdict(a, "192.0.2.1", "--set", "bad=" + four, v4) for a in
           ("192.0.2.1", "192.0.2.9", "198.51.100.6", "198.51.100.7", "198.51.100.9", "198.51.100.10")]
    ok(got == ["drop", "accept", "accept", "drop", "drop", "accept"], "a list is a set of its own", got)
    got = [verdict(a, "2001:db8::1", "--set", "bad=" + six, v6) for a in ("2001:db8:9::1", "2001:db9::1")]
    ok(got == ["drop", "accept"], "of IPv6 too", got)
    status, _, err = run("check", "--set", "bad=" + both, v4)
    ok(status == 1 and "this is an IPv6 address" in err and "--only-family" in err, "one of both families is told", err)
    got = [verdict("192.0.2.1", "192.0.2.1", "--only-family", "--set", "bad=" + both, v4),
           verdict("2001:db8::9", "2001:db8::1", "--only-family", "--set", "bad=" + both, v6)]
    ok(got == ["drop", "drop"], "--only-family takes what belongs to the rules that ask", got)
    more = write(folder, "more.txt", "203.0.113.1\n")
    got = [verdict(a, "192.0.2.1", "--set", "bad=" + four, "--set", "bad=" + more, v4) for a in
           ("192.0.2.1", "203.0.113.1")]
    ok(got == ["drop", "drop"], "several lists add up", got)
    sets = write(folder, "sets", "create bad hash:net maxelem 4\nadd bad 203.0.113.0/24\n")
    got = [verdict(a, "192.0.2.1", "--set", "bad=" + four, v4, sets) for a in ("192.0.2.1", "203.0.113.1", "10.0.0.1")]
    ok("status 1" in got[0] and "holds at most 4 elements" in got[0], "a set has the size that it was created with", got)
    sets = write(folder, "sets", "create bad hash:net\nadd bad 203.0.113.0/24\n")
    got = [verdict(a, "192.0.2.1", "--set", "bad=" + four, v4, sets) for a in ("192.0.2.1", "203.0.113.1", "10.0.0.1")]
    ok(got == ["drop", "drop", "accept"], "a list adds to a set that is declared", got)
    sets = write(folder, "sets", "create bad hash:ip\n")
    got = [verdict(a, "192.0.2.1", "--set", "bad=" + more, "--set", "bad=" + write(folder, "net", "10.0.0.0/30\n"),
                   v4, sets) for a in ("10.0.0.3", "10.0.0.4")]
    ok(got == ["drop", "accept"], "a set of addresses gets the addresses of a prefix", got)


def what_is_wrong_is_told(folder):
    v4 = rules(folder)
    bad = write(folder, "bad.txt", "192.0.2.1\nexample.org\n192.0.2.0/33 # x\n")
    status, out, err = run("check", "--set", "bad=" + bad, v4)
    ok(status == 1 and "bad.txt:2:1: error: 'example.org' is not" in err and "bad.txt:3:11: error: '33'" in err and
       "           ^~\n" not in err and "          ^~\n" in err, "every error of a list, with its place", err)
    for what, args, want, part in (
            ("no such list", ["--set", "bad=" + folder + "/nosuch"], 3, "cannot read"),
            ("no name", ["--set", "=x"], 2, "NAME=FILE"),
            ("no file", ["--set", "bad"], 2, "NAME=FILE"),
            ("a name that is too long", ["--set", "b" * 32 + "=x"], 2, "1 to 31 bytes")):
        status, out, err = run("check", *args, v4)
        ok(status == want and part in err, what, err)
    sets = write(folder, "sets", "create bad hash:ip,port\n")
    status, out, err = run("check", "--set", "bad=" + bad, rules(folder, "p.v4", "-m set --match-set bad src,src"), sets)
    ok(status == 2 and "type hash:ip,port" in err, "a list holds no tuples", err)
    status, out, err = run("check", bad)
    ok(status == 1 and "--set NAME=FILE" in err, "a list that is taken for rules", err)
    twice = write(folder, "twice.txt", "10.0.0.0/8\n10.1.0.0/16\n192.0.2.1\n192.0.2.1\n10.9.0.0/16 nomatch\n")
    status, out, err = run("check", "--strict", "--set", "bad=" + twice, v4)
    ok(status == 1 and "'10.1.0.0/16' lies within another entry (" in err and "twice.txt:3" in err and
       "2 errors" in out + err, "--strict finds what overlaps", out + err)


def the_report(folder):
    v4 = rules(folder)
    path = write(folder, "l.txt", "10.0.0.0/8\n10.1.0.0/16\n192.0.2.0\n192.0.2.1\n192.0.2.0\n")
    status, out, err = run("check", "--json", "--set", "bad=" + path, v4)
    got = json.loads(out)["lists"][0]
    ok([got[k] for k in ("set", "entries", "after_merge", "duplicates", "overlaps", "bytes_read")] ==
       ["bad", 5, 2, 1, 1, os.path.getsize(path)] and got["seconds"] >= 0, "what came of a list, for programs", got)
    status, out, err = run("check", "--set", "bad=" + path, v4)
    ok("set bad: 5 entries, 2 after merge, 1 duplicate, 0." in out, "and for people", out)


def in_test_files(folder):
    write(folder, "t.txt", "192.0.2.0/24\n")
    t = write(folder, "l.t", "case  a list\nlist  bad=t.txt\nrules -A INPUT -m set --match-set bad src -j DROP\n"
              "packet in=eth0 tcp 192.0.2.9 > 10.0.0.1:22  drop  rule 1\n"
              "packet in=eth0 tcp 192.0.3.9 > 10.0.0.1:22  accept  policy\n")
    status, out, err = run("test", t)
    ok(status == 0 and "3 passed, 0 failed" in out, "a list in a test file", out + err)
    t = write(folder, "m.t", "case  a list\nrules -A INPUT -m set --match-set bad src -j DROP\n"
              "packet in=eth0 tcp 192.0.2.9 > 10.0.0.1:22  drop  rule 1\n")
    status, out, err = run("test", "--set", "bad=" + folder + "/t.txt", t)
    ok(status == 0 and "2 passed, 0 failed" in out, "a list for all cases", out + err)


def pcap(path, packets):
    """A capture of raw IPv4 packets: (source, destination) as numbers."""
    with open(path, "wb") as f:
        f.write((0xa1b2c3d4).to_bytes(4, "little") + bytes([2, 0, 4, 0]) + bytes(8) + (65535).to_bytes(4, "little") +
                (101).to_bytes(4, "little"))
        for src, dst in packets:
            head = bytes([0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0]) + src.to_bytes(4, "big") + dst.to_bytes(4, "big")
            total = sum(int.from_bytes(head[i:i + 2], "big") for i in range(0, 20, 2))
            while total >> 16:
                total = (total & 0xffff) + (total >> 16)
            head = head[:10] + (total ^ 0xffff).to_bytes(2, "big") + head[12:]
            body = head + (1).to_bytes(2, "big") + (2).to_bytes(2, "big") + (8).to_bytes(2, "big") + bytes(2)
            f.write(bytes(8) + len(body).to_bytes(4, "little") * 2 + body)


def counted(folder, path, packets, *args):
    cap = os.path.join(folder, "c.pcap")
    pcap(cap, packets)
    status, out, err = run("eval", "--json", "--in", "eth0", *args, "--set", "bad=" + path, rules(folder), cap)
    got = json.loads(out) if status == 0 else {}
    return got.get("verdicts", {}).get("drop", {}).get("packets", err)


class SortedArray:
    """Spans of addresses that do not touch: what a list means, found without weir."""

    def __init__(self, spans):
        self.lo, self.hi = [], []
        for lo, hi in sorted(spans):
            if self.hi and lo <= self.hi[-1] + 1:
                self.hi[-1] = max(self.hi[-1], hi)
            else:
                self.lo.append(lo)
                self.hi.append(hi)

    def __contains__(self, a):
        i = bisect.bisect_right(self.lo, a) - 1
        return i >= 0 and a <= self.hi[i]

    def probes(self, n):
        """Both sides of both ends of spans, and anything else."""
        ends = [e + d for i in random.sample(range(len(self.lo)), min(len(self.lo), n // 12))
                for e, ds in ((self.lo[i], (-1, 0, 1)), (self.hi[i], (-1, 0, 1))) for d in ds]
        ends = [a for a in ends if 0 < a < 1 << 32]
        return ends + [random.getrandbits(32) for _ in range(n - len(ends))]


def with_overlaps(folder, path):
    """The list, and every /24 of it that holds ten addresses or more, as a network beside them."""
    addrs = [int(ipaddress.IPv4Address(a)) for a in open(path).read().split()]
    dense = collections.Counter(a >> 8 for a in addrs)
    nets = [n for n, k in dense.items() if k >= 10]
    text = open(path).read() + "".join("%s/24 # dense\n" % ipaddress.IPv4Address(n << 8) for n in nets)
    spans = [(a, a) for a in addrs] + [(n << 8, n << 8 | 255) for n in nets]
    return write(folder, "dense.txt", text), spans, len(addrs) + len(nets)


def published_lists(folder):
    for name, entries in (("ipsum-level3.txt", 14217), ("ipsum-level1.txt", 120430)):
        path = os.path.join(LISTS, name)
        if not os.path.exists(path):
            skip("published list " + name, "WEIR_SHARED has no blocklists")
            continue
        random.seed(3)
        addrs = [int(ipaddress.IPv4Address(a)) for a in open(path).read().split()]
        for what, file, spans, n in (("as it is", path, [(a, a) for a in addrs], entries),
                                     ("with overlaps",) + with_overlaps(folder, path)):
            status, out, err = run("check", "--json", "--set", "bad=" + file, rules(folder))
            got = json.loads(out)["lists"][0]
            array = SortedArray(spans)
            ok(got["entries"] == n and got["duplicates"] == n - len(set(spans)), "%s %s" % (name, what), out + err)
            probes = array.probes(100000)
            want = sum(a in array for a in probes)
            for engine in ("eval", "tables"):
                found = counted(folder, file, [(a, 0x0a000001) for a in probes], "--engine", engine)
                ok(found == want, "100,000 packets and a sorted array, %s %s, by %s" % (name, what, engine),
                   "%s, wanted %d" % (found, want))


def a_million(folder):
    random.seed(5)
    nets = set()
    while len(nets) < 1000000:
        plen = random.choice((24, 28, 30, 32, 32, 32))
        nets.add((random.getrandbits(31) & ~((1 << (32 - plen)) - 1), plen))
    path = os.path.join(folder, "million.txt")
    with open(path, "w") as f:
        f.writelines("%d.%d.%d.%d/%d\n" % (a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255, p) for a, p in nets)
    probes = [a for a, _ in random.sample(sorted(nets), 5000)] + [random.getrandbits(32) for _ in range(5000)]
    want = sum(any((a & ~((1 << (32 - p)) - 1) & 0xffffffff, p) in nets for p in (24, 28, 30, 32)) for a in probes)
    for engine in ("eval", "tables"):
        began = time.monotonic()
        got = counted(folder, path, [(a, 0x0a000001) for a in probes], "--engine", engine)
        ok(got == want, "a million prefixes, 10,000 packets, by " + engine, "%s, wanted %d" % (got, want))
        print("# %.1f s" % (time.monotonic() - began))
    progress(folder, path)


def progress(folder, path):
    """On a terminal a list that takes long shows how far it is."""
    us, them = pty.openpty()
    began = time.monotonic()
    p = subprocess.Popen([WEIR, "check", "--set", "bad=" + path, rules(folder)], stdout=subprocess.PIPE, stderr=them)
    os.close(them)
    p.communicate()
    seconds = time.monotonic() - began
    seen = b""
    while select.select([us], [], [], 0)[0]:
        try:
            got = os.read(us, 65536)
        except OSError:
            break
        if not got:
            break
        seen += got
    os.close(us)
    if b"%" not in seen and seconds < 2:
        ok(seen == b"", "a list that was read within two seconds shows no progress on a terminal", seen)
    else:
        ok(b"million.txt: " in seen and b" %" in seen, "progress on a terminal", seen)


with tempfile.TemporaryDirectory() as tmp:
    sets_are_filled(tmp)
    what_is_wrong_is_told(tmp)
    the_report(tmp)
    in_test_files(tmp)
    published_lists(tmp)
    a_million(tmp)
end()
