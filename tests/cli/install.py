#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make install` puts the program, its manual, completion and a systemd unit where they belong, and the unit runs that
program."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

FILES = ["sbin/weir", "share/man/man8/weir.8", "share/bash-completion/completions/weir", "lib/systemd/system/weir.service"]


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


with tempfile.TemporaryDirectory(prefix="weir-install-") as tmp:
    main(tmp)
tap.end()
