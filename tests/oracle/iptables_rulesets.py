#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TIMEOUT 300
"""Rulesets that people published: each is read without an error, what is printed is read back as the same, and the stock
iptables-restore --test takes it wherever it takes the original."""
import glob
import os
import subprocess
import sys

NS = "weir-iptrules-%d" % os.getpid()
LOCK = os.environ["XTABLES_LOCKFILE"] = "/run/%s.lock" % NS  # iptables has one lock for all namespaces, and gives up where somebody holds it
WEIR = os.environ.get("WEIR", "build/weir")
SHARED = os.environ.get("WEIR_SHARED", "../shared")


def inside(*argv, text):
    p = subprocess.run(("ip", "netns", "exec", NS) + argv, input=text, capture_output=True, check=False)
    return p.returncode, (p.stdout + p.stderr).decode(errors="replace").strip()


def printed(lang, text):
    return subprocess.run((WEIR, "check", "--lang", lang, "--print", "-"), input=text, capture_output=True, check=False)


def check(path):
    """Why this file fails, or None."""
    with open(path, "rb") as f:
        text = f.read()
    for lang in ("iptables", "ip6tables"):
        p = printed(lang, text)
        if p.returncode == 0:
            break
    if p.returncode:
        return p.stderr.decode(errors="replace")
    again = printed(lang, p.stdout)
    if again.returncode or again.stdout != p.stdout:
        return "what is printed is not read back as the same"
    for kind in ("legacy", "nft"):
        if inside("%s-%s-restore" % (lang, kind), "--test", text=text)[0]:
            continue
        code, err = inside("%s-%s-restore" % (lang, kind), "--test", text=p.stdout)
        if code:
            return "%s-%s-restore: %s" % (lang, kind, err)
    return None


def main():
    files = sorted(glob.glob(os.path.join(SHARED, "rulesets", "iptables", "*.rules")))
    if not files:
        print("1..1\nok 1 - published rulesets # SKIP none in WEIR_SHARED")
        return 0
    print("1..%d" % len(files))
    if os.geteuid() != 0 or subprocess.run(("ip", "netns", "add", NS), capture_output=True, check=False).returncode:
        for i, path in enumerate(files):
            print("ok %d - %s # SKIP needs root and network namespaces" % (i + 1, os.path.basename(path)))
        return 0
    bad = 0
    try:
        for i, path in enumerate(files):
            why = check(path)
            print("%sok %d - %s" % ("not " if why else "", i + 1, os.path.basename(path)))
            for line in (why or "").splitlines():
                print("# " + line)
            bad += why is not None
    finally:
        subprocess.run(("ip", "netns", "del", NS), capture_output=True, check=False)
        if os.path.exists(LOCK):
            os.unlink(LOCK)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
