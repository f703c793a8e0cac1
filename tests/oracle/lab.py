# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A router in a network namespace, with iptables-legacy in it and somebody who sends frames; not a test.

    peer  p0 ---- eth0  router  192.0.2.1/24     2001:db8::1/64
          p1 ---- eth1          198.51.100.1/24  2001:db8:1::1/64
          p2 ---- ppp10         203.0.113.1/24   2001:db8:2::1/64

The peer is silent: it has no addresses and answers nothing. What the router's kernel itself wants to send (resets, port
unreachable, neighbour discovery) is dropped before the OUTPUT chains, so that rule counters show the test's packets
and nothing else. A packet goes in by a frame on the peer's side, or out of a raw socket in the router (`out=` only).
"""
import atexit
import ctypes
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
IFACES = {"eth0": "p0", "eth1": "p1", "ppp10": "p2"}
ROUTER_MAC = {"eth0": "02:00:00:00:01:00", "eth1": "02:00:00:00:01:01", "ppp10": "02:00:00:00:01:02"}
PEER_MAC = {"eth0": "02:00:00:00:02:00", "eth1": "02:00:00:00:02:01", "ppp10": "02:00:00:00:02:02"}
GROUP = {"eth0": 0, "eth1": 7, "ppp10": 9}
ADDRS = {
    "eth0": ["192.0.2.1/24", "2001:db8::1/64"],
    "eth1": ["198.51.100.1/24", "2001:db8:1::1/64"],
    "ppp10": ["203.0.113.1/24", "2001:db8:2::1/64"],
}


QUIET = """table inet lab {
    chain quiet { type filter hook output priority -1000; policy drop; meta skuid 0-100000 accept; }
    }
"""


def why_not():
    """The reason why this machine cannot run a lab, or None."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("iptables-legacy-restore", "ip6tables-legacy-save", "ipset", "nft", "ip", "nsenter"):
        if subprocess.run(["sh", "-c", "command -v " + tool], stdout=subprocess.DEVNULL).returncode:
            return "needs the program " + tool
    return None


class Lab:
    def __init__(self):
        tag = "weir-oracle-%d" % os.getpid()
        self.router, self.peer = tag + "-r", tag + "-p"
        self.socks = {}
        # iptables has one lock for all namespaces, and gives up where somebody holds it
        os.environ["XTABLES_LOCKFILE"] = self.lock = "/run/%s.lock" % tag
        atexit.register(self.close)
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, lambda *_: sys.exit(1))
        for ns in (self.router, self.peer):
            run(["ip", "netns", "add", ns])
        self.fd = {ns: os.open("/run/netns/" + ns, os.O_RDONLY) for ns in (self.router, self.peer)}
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.build()

    def build(self):
        lines = ["link set lo up"]
        for name, far in IFACES.items():
            lines.append("link add %s address %s type veth peer name %s address %s netns %s" %
                         (name, ROUTER_MAC[name], far, PEER_MAC[name], self.peer))
            lines.append("link set %s up group %d" % (name, GROUP[name]))
            lines += ["addr add %s dev %s%s" % (a, name, " nodad" if ":" in a else " broadcast +") for a in ADDRS[name]]
        self.sh(self.peer, "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
        self.sh(self.router, """sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0 \
            net.ipv6.conf.default.addr_gen_mode=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0""")
        self.sh(self.router, "ip -batch -", "\n".join(lines))
        self.sh(self.peer, "for i in p0 p1 p2; do ip link set $i up; done")
        self.sh(self.router, """sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
            net.ipv4.conf.all.send_redirects=0 net.netfilter.nf_conntrack_tcp_be_liberal=1""")
        self.sh(self.router, "nft -f -", QUIET)
        time.sleep(0.2)  # links settle

    def close(self):
        atexit.unregister(self.close)
        for s in self.socks.values():
            s.close()
        for ns in (self.router, self.peer):
            subprocess.run(["ip", "netns", "del", ns], stderr=subprocess.DEVNULL)
        if os.path.exists(self.lock):
            os.unlink(self.lock)

    def sh(self, ns, command, stdin=""):
        return run(["nsenter", "--net=/run/netns/" + ns, "sh", "-c", command], stdin)

    def inside(self, ns, what):
        """Calls what() with this thread in the namespace."""
        if LIBC.setns(self.fd[ns], CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            return what()
        finally:
            LIBC.setns(self.home, CLONE_NEWNET)

    # ---- rules ----

    def load(self, family, rules, sets=""):
        self.flush_conntrack()
        tool = "iptables" if family == "ip" else "ip6tables"
        for t in ("iptables", "ip6tables"):
            self.sh(self.router, t + "-legacy-restore", EMPTY)
        self.sh(self.router, "ipset destroy")
        if sets:
            self.sh(self.router, "ipset restore", sets)
        self.sh(self.router, tool + "-legacy-restore", rules)

    def counters(self, family):
        """{(table, chain, index from 0 or 'policy'): (packets, text)} of everything loaded."""
        tool = "iptables" if family == "ip" else "ip6tables"
        out, table, at = {}, None, {}
        for line in self.sh(self.router, tool + "-legacy-save -c").splitlines():
            if line.startswith("*"):
                table, at = line[1:], {}
            elif line.startswith(":"):
                m = re.match(r":(\S+) (\S+) \[(\d+):", line)
                if m.group(2) != "-":
                    out[(table, m.group(1), "policy")] = (int(m.group(3)), line)
            elif line.startswith("["):
                m = re.match(r"\[(\d+):\d+\] -A (\S+) ?(.*)", line)
                chain = m.group(2)
                out[(table, chain, at.get(chain, 0))] = (int(m.group(1)), "-A %s %s" % (chain, m.group(3)))
                at[chain] = at.get(chain, 0) + 1
        return out

    def flush_conntrack(self):
        def flush():
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as s:  # NETLINK_NETFILTER
                for family in (socket.AF_INET, socket.AF_INET6):
                    body = struct.pack("=BBH", family, 0, 0)
                    s.send(struct.pack("=IHHII", 16 + len(body), 1 << 8 | 2, 5, 1, 0) + body)  # CT_DELETE, all
                    s.recv(4096)
        self.inside(self.router, flush)

    # ---- packets ----

    def received(self):
        """How many IP packets the router has taken in."""
        def read():
            v4 = open("/proc/thread-self/net/snmp").read().split("\n")
            names, values = [l.split() for l in v4 if l.startswith("Ip:")]
            n = int(values[names.index("InReceives")])
            v6 = open("/proc/thread-self/net/snmp6").read()
            return n + int(re.search(r"Ip6InReceives\s+(\d+)", v6).group(1))
        return self.inside(self.router, read)

    def send_all(self, lines, packets):
        """Sends lines with what Expected.packets has of each, and waits until the router has received them."""
        target = self.received()
        for line, (link, data, _) in zip(lines, packets):
            target += self.send(line, link, data)
        if not self.wait(target):
            raise RuntimeError("the router did not take in all packets")

    def send(self, line, link, data):
        """Sends one packet as its line in the notation says. Returns whether the router is to receive it."""
        word = dict(w.split("=", 1) for w in line.split() if "=" in w)
        if "in" not in word:
            self.send_out(word, data if link == "ip" else data[14:])
            return False
        name = word["in"]
        if link == "ip":
            data = mac(PEER_MAC[name]) * 2 + (b"\x08\x00" if data[0] >> 4 == 4 else b"\x86\xdd") + data
        to = mac(ROUTER_MAC[name])
        if word.get("pkttype") == "broadcast":
            to = b"\xff" * 6
        elif word.get("pkttype") == "multicast":
            to = b"\x01\x00\x5e" + data[31:34] if data[12:14] == b"\x08\x00" else b"\x33\x33" + data[50:54]
        data = to + data[6:]
        if name not in self.socks:
            self.socks[name] = self.inside(self.peer, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
            self.inside(self.peer, lambda: self.socks[name].bind((IFACES[name], 0)))
        self.socks[name].send(data)
        return True

    def send_out(self, word, data):
        v4 = data[0] >> 4 == 4
        family = socket.AF_INET if v4 else socket.AF_INET6
        key = (family, word.get("uid", "0"), word.get("gid", "0"))
        if key not in self.socks:
            self.socks[key] = self.inside(self.router, lambda: raw_socket(family, int(key[1]), int(key[2])))
        s = self.socks[key]
        s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, struct.pack("=I", int(word.get("mark", "0"), 0)))
        dst = socket.inet_ntop(family, data[16:20] if v4 else data[24:40])
        try:
            s.sendto(data, (dst, 0))
        except OSError as e:
            if e.errno not in (1, 111, 113):  # dropped or rejected by the rules
                raise

    def wait(self, target):
        """Until the router has taken in as many packets as target says."""
        for _ in range(2000):
            if self.received() >= target:
                time.sleep(0.002)
                return True
            time.sleep(0.001)
        return False


EMPTY = "".join("*%s\n%sCOMMIT\n" % (t, "".join(":%s ACCEPT [0:0]\n" % c for c in chains)) for t, chains in (
    ("raw", ("PREROUTING", "OUTPUT")),
    ("mangle", ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")),
    ("filter", ("INPUT", "FORWARD", "OUTPUT")),
    ("security", ("INPUT", "FORWARD", "OUTPUT"))))


def env_text():
    """The router as weir's --env knows it."""
    lines = ["interface lo address 127.0.0.1/8 address ::1/128"]
    for name in IFACES:
        lines.append("interface %s %s group %d" % (name, " ".join("address " + a for a in ADDRS[name]), GROUP[name]))
    return "\n".join(lines) + "\n"


def raw_socket(family, uid, gid):
    LIBC.setfsgid(gid)
    LIBC.setfsuid(uid)
    s = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
    LIBC.setfsuid(0)
    LIBC.setfsgid(0)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, 36, 1)  # IPV6_HDRINCL
    return s


def mac(text):
    return bytes(int(x, 16) for x in text.split(":"))


def run(argv, stdin=""):
    p = subprocess.run(argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise RuntimeError("%s: %s" % (" ".join(argv[-1:]), p.stderr.strip()))
    return p.stdout


class Expected:
    """What weir's evaluator says: packets on the wire, and counters; made by the tool `hits`."""

    def __init__(self, rule_files, packet_file, env_file, each=False):
        argv = [os.environ.get("B", "build") + "/tests/hits", "--env", env_file] + (["--each"] if each else [])
        p = subprocess.run(argv + rule_files + ["--", packet_file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
        if p.returncode:
            raise RuntimeError("hits: exit status %d: %s" % (p.returncode, p.stderr[:2000]))
        self.packets, self.counters, self.each, self.maybe = [], {}, {}, {}
        for line in p.stdout.splitlines():
            w = line.split(" ")
            if w[0] == "packet":
                self.packets.append((w[2], bytes.fromhex(w[3]), " ".join(w[4:])))
            elif w[0] == "hit":
                self.count_each(int(w[1]), (w[3], w[4], int(w[5])))
            elif w[0] == "policy-hit":
                self.count_each(int(w[1]), (w[3], w[4], "policy"))
            elif w[0] == "maybe":
                self.maybe.setdefault(int(w[1]), set()).add((w[3], w[4], int(w[5])))
            elif w[0] == "rule":
                self.counters[(w[2], w[3], int(w[4]))] = int(w[5])
            elif w[0] == "policy":
                self.counters[(w[2], w[3], "policy")] = int(w[4])

    def count_each(self, n, key):
        hits = self.each.setdefault(n, {})
        hits[key] = hits.get(key, 0) + 1


def differences(expected, kernel):
    """[(key, expected, counted, text)] for rules and policies that both know."""
    out = []
    for key, (packets, text) in kernel.items():
        want = expected.get(key, 0)
        if want != packets:
            out.append((key, want, packets, text))
    return sorted(out, key=lambda d: (d[0][0], d[0][1], str(d[0][2])))
