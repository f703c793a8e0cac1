#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Traffic for the demo: real sockets, each run in the network namespace that its caller chose.

    traffic.py serve tcp:PORT... udp:PORT...           answers on all addresses, IPv4 and IPv6, until it is killed
    traffic.py probe LINE...                           LINE: PROTO FROM TO PORT pass|drop [what]; `-` for no port
    traffic.py flood FROM TO PORT SECONDS              numbered UDP requests; prints: sent N, answered N
Probes run side by side; exit status 1 if one has not gone as it says.
"""
import select
import socket
import struct
import sys
import threading
import time

PATIENCE = 1.5  # seconds until silence counts as a drop
ICMP = {socket.AF_INET: (socket.IPPROTO_ICMP, 8, 0), socket.AF_INET6: (socket.IPPROTO_ICMPV6, 128, 129)}


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(ports):
    socks = []
    for p in ports:
        kind, port = p.split(":")
        for family in (socket.AF_INET, socket.AF_INET6):
            s = socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            if kind == "udp":
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            s.bind(("", int(port)))
            if kind == "tcp":
                s.listen(64)
            socks.append(s)
    print("ready", flush=True)
    while True:
        for s in select.select(socks, [], [])[0]:
            if s.type == socket.SOCK_STREAM:
                conn, _ = s.accept()
                conn.sendall(b"hello\n")
                conn.close()
            else:
                data, peer = s.recvfrom(2048)
                s.sendto(data, peer)


def tcp(source, to, port):
    s = socket.socket(family_of(to), socket.SOCK_STREAM)
    s.settimeout(PATIENCE)
    s.bind((source, 0))
    try:
        s.connect((to, port))
        return s.recv(16) == b"hello\n"
    finally:
        s.close()


def udp(source, to, port):
    s = socket.socket(family_of(to), socket.SOCK_DGRAM)
    s.settimeout(PATIENCE)
    s.bind((source, 0))
    try:
        s.sendto(b"question", (to, port))
        return s.recvfrom(64)[0] == b"question"
    finally:
        s.close()


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def icmp(source, to, _port):
    family = family_of(to)
    proto, request, reply = ICMP[family]
    s = socket.socket(family, socket.SOCK_RAW, proto)
    s.bind((source, 0))
    number = threading.get_ident() & 0xffff
    body = struct.pack("!BBHHH", request, 0, 0, number, 1) + b"weir"
    if family == socket.AF_INET:  # the kernel fills in that of ICMPv6
        body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    try:
        s.sendto(body, (to, 0))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not select.select([s], [], [], end - time.monotonic())[0]:
                return False
            data = s.recvfrom(2048)[0]
            data = data[(data[0] & 15) * 4:] if family == socket.AF_INET else data
            if data[0] == reply and struct.unpack("!H", data[4:6])[0] == number:
                return True
        return False
    finally:
        s.close()


def probe(lines):
    results = [None] * len(lines)

    def one(i, words):
        try:
            ok = {"tcp": tcp, "udp": udp, "icmp": icmp}[words[0]](words[1], words[2], 0 if words[3] == "-" else int(words[3]))
            results[i] = "pass" if ok else "drop"
        except socket.timeout:
            results[i] = "drop"
        except OSError as e:
            results[i] = e.strerror or str(e)

    parsed = [line.split(None, 5) for line in lines]
    threads = [threading.Thread(target=one, args=(i, w)) for i, w in enumerate(parsed)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    bad = 0
    for words, got in zip(parsed, results):
        right = got == words[4]
        bad += not right
        print("  %s %-4s %-18s -> %-18s %-5s %s%s" % ("ok  " if right else "FAIL", words[0], words[1], words[2], words[3], (
            words[4] if right else "%s, not %s" % (got, words[4])), "   " + words[5] if len(words) > 5 else ""))
    return 1 if bad else 0


def flood(source, to, port, seconds):
    s = socket.socket(family_of(to), socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind((source, 0))
    s.setblocking(False)
    sent, answered, end = 0, set(), time.monotonic() + seconds

    def drain():
        while select.select([s], [], [], 0)[0]:
            answered.add(s.recv(64))

    while time.monotonic() < end:
        for _ in range(10):
            sent += 1
            s.sendto(b"%d" % sent, (to, port))
        drain()
        time.sleep(0.002)
    late = time.monotonic() + 1
    while len(answered) < sent and time.monotonic() < late:
        drain()
        time.sleep(0.01)
    print("sent %d, answered %d" % (sent, len(answered)))


def main(argv):
    if argv[:1] == ["serve"]:
        serve(argv[1:])
    if argv[:1] == ["probe"]:
        return probe(argv[1:])
    if argv[:1] == ["flood"]:
        flood(argv[1], argv[2], int(argv[3]), float(argv[4]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
