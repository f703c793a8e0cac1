#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs every example that `weir help VERB` and the manual print, in examples/, and looks at the exit status."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

PLACE = os.path.join(tap.ROOT, "examples")


def shell(line):
    path = os.path.dirname(tap.WEIR) + ":" + os.environ.get("PATH", "")
    p = subprocess.run(["sh", "-c", line], cwd=PLACE, env=dict(os.environ, PATH=path), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def verbs():
    text = tap.run("help")[1]
    return re.findall(r"^  (\w+) +\S", text, re.M)


def of_help():
    tap.ok(len(verbs()) > 10, "help lists the verbs", verbs())
    for verb in verbs():
        status, text, err = tap.run("help", verb)
        tap.ok(status == 0 and ("usage: weir %s" % verb) in text, "help %s says how it is used" % verb, err)
        tap.ok(tap.run(verb, "--help")[1] == text, "%s --help says the same" % verb)
        want, as_root, seen = 0, False, 0
        for line in text.splitlines():
            m = re.match(r"  # \(exit status (\d+)\):", line)
            want = int(m.group(1)) if m else want
            as_root = as_root or line.startswith("  # (as root")
            if line.startswith("  $ "):
                seen += 1
                if as_root:
                    status, out, err = shell(line[4:] + " --help")
                    tap.ok(status == 0, "example of %s names options that there are: %s" % (verb, line[4:]), err)
                else:
                    status, out, err = shell(line[4:])
                    tap.ok(status == want and (out or err), "example of %s: %s" % (verb, line[4:]),
                           "exit status %d\n%s%s" % (status, out, err))
                want, as_root = 0, False
        tap.ok(seen > 0, "help %s has an example" % verb)


def of_manual():
    """In the manual an example is a line `$ weir ...`; what is printed under it, up to a blank line, must come."""
    path = os.path.join(tap.ROOT, "docs", "weir.8")
    lines = open(path).read().splitlines()
    tap.ok(any(line.startswith("$ ") for line in lines), "the manual has examples")
    for i, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        command = line[2:].replace("\\-", "-").replace("\\(aq", "'")
        want = []
        for follow in lines[i + 1:]:
            if follow.startswith(".") or not follow or follow.startswith("$ "):
                break
            want.append(follow.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\"))
        status, out, err = shell(command)
        got = (out + err).splitlines()
        tap.ok(status in (0, 1, 4) and (not want or want == got), "the manual's " + command,
               "wanted:\n%s\ngot:\n%s" % ("\n".join(want), "\n".join(got)))
    if shutil.which("mandoc"):
        p = subprocess.run(["mandoc", "-Tlint", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lint = [x for x in p.stdout.decode().splitlines() if "outdated mandoc.db" not in x and "referenced manual" not in x]
        tap.ok(not lint, "mandoc has nothing to say about the manual", "\n".join(lint))


def of_completion():
    status, text, err = tap.run("help", "--completion", "bash")
    path = os.path.join(tap.ROOT, "dist", "weir.bash")
    tap.ok(text == open(path).read(), "dist/weir.bash is what help --completion bash prints")
    script = text + '\nCOMP_WORDS=(weir ch); COMP_CWORD=1; _weir; echo "${COMPREPLY[@]}"' \
        + '\nCOMP_WORDS=(weir explain --ho); COMP_CWORD=2; _weir; echo "${COMPREPLY[@]}"' \
        + '\nCOMP_WORDS=(weir set l); COMP_CWORD=2; _weir; echo "${COMPREPLY[@]}"' \
        + '\nCOMP_WORDS=(weir explain --hook f); COMP_CWORD=3; _weir; echo "${COMPREPLY[@]}"\n'
    p = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.ok(p.stdout.decode().split() == ["check", "--hook", "load", "list", "forward"], "the shell completes verbs, options, choices",
           p.stdout.decode())


of_help()
of_manual()
of_completion()
tap.end()
