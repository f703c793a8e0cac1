#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make install` puts the program, its manual, completion, a systemd unit and the library where they belong; the unit
runs that program, and a program that uses the library is built from what was installed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

FILES = ["sbin/weir", "share/man/man8/weir.8", "share/bash-completion/completions/weir", "lib/systemd/system/weir.service",
         "include/weir.h", "lib/libweir.a", "lib/libweir.so.1", "lib/libweir.so", "lib/pkgconfig/weir.pc"]


def main(folder):
    env = {k: v for k, v in os.environ.items() if k not in ("B", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR", "PREFIX")}
    p = subprocess.run(["make", "-s", "install", "DESTDIR=" + folder, "PREFIX=/opt/weir"], cwd=tap.ROOT, env=env,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    place = folder + "/opt/weir/"
    tap.ok(p.returncode == 0, "make install works", p.stdout.decode("utf-8", "replace"))
    found = sorted(os.path.relpath(os.path.join(d, f), place) for d, _, fs in os.walk(folder) for f in fs)
    tap.ok(found == sorted(FILES), "it installs these files and no others", found)
    out = subprocess.run([place + "sbin/weir", "--version"], stdout=subprocess.PIPE).stdout.decode()
    tap.ok(out.startswith("weir "), "the program runs from there", out)
    unit = open(place + FILES[3]).read()
    runs = re.findall(r"^Exec\w+=(\S+) (\w+)", unit, re.M)
    tap.ok(runs and all(x[0] == "/opt/weir/sbin/weir" for x in runs) and "@" not in unit, "the unit runs that program", unit)
    overview = tap.run("help")[1]
    tap.ok(all(re.search(r"^  %s " % verb, overview, re.M) for _, verb in runs), "the unit's verbs exist", runs)
    tap.ok("Before=network-pre.target" in unit, "the unit comes before the network", unit)
    if shutil.which("systemd-analyze"):
        path = os.path.join(folder, "weir.service")
        with open(path, "w") as f:  # systemd-analyze looks for the program, too
            f.write(unit.replace("/opt/weir/sbin/weir", place + "sbin/weir"))
        p = subprocess.run(["systemd-analyze", "verify", "--man=no", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = [x for x in p.stdout.decode("utf-8", "replace").splitlines() if "weir.service" in x]
        tap.ok(not said, "systemd has nothing to say about the unit", "\n".join(said))


def names(path, *options):
    out = subprocess.run(["nm", "--defined-only", *options, path], stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[-1] for line in out.splitlines() if len(line.split()) == 3]


def library(place):
    for path, option in (("libweir.so.1", "-D"), ("libweir.a", "-g")):
        got = names(place + "lib/" + path, option)
        tap.ok(got and all(n.startswith("weir_") for n in got), path + " shows no names but its own", got)
    declared = set(re.findall(r"\b(weir_\w+)\(", re.sub(r"/\*.*?\*/", "", open(place + "include/weir.h").read(), flags=re.S)))
    tap.ok(declared == set(names(place + "lib/libweir.so.1", "-D")), "it has what weir.h declares", declared)
    env = dict(os.environ, PKG_CONFIG_PATH=place + "lib/pkgconfig", PKG_CONFIG_SYSROOT_DIR=place[:-len("/opt/weir/")])
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "weir"], env=env, stdout=subprocess.PIPE, text=True).stdout.split()
    exe = place + "classify"
    p = subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", exe, tap.ROOT + "/examples/classify.c", *flags, "-lpcap", "-lpthread"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tap.ok(p.returncode == 0, "the example is built with pkg-config", p.stdout)
    rules = place + "rules"
    with open(rules, "w") as f:
        f.write("*filter\n:INPUT DROP [0:0]\n-A INPUT -i eth0 -p tcp -m conntrack --ctstate NEW --dport 80:443 -j ACCEPT\n"
                "-A INPUT -p udp -j REJECT\nCOMMIT\n")
    capture = tap.ROOT + "/examples/host.pcap"
    p = subprocess.run([exe, rules, capture], env=dict(env, LD_LIBRARY_PATH=place + "lib"), stdout=subprocess.PIPE, text=True)
    said = tap.run("eval", "--hook", "input", "--in", "eth0", "--ct", "new", "--json", rules, capture)[1]
    want = {r["line"]: r["packets"] for r in json.loads(said)["rules"]}
    got = {int(n): int(c) for c, n in re.findall(r"^ *(\d+) +%s:(\d+) " % re.escape(rules), p.stdout, re.M) if n != "2"}
    tap.ok(p.returncode == 0 and got == want and all(want.values()), "it counts what weir eval counts", (p.stdout, want))


with tempfile.TemporaryDirectory(prefix="weir-install-") as tmp:
    main(tmp)
    library(tmp + "/opt/weir/")
tap.end()
