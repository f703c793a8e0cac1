#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a large ruleset costs: 20,000 rules that every hook asks, in the maps that the kernel holds.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1

MOST_MIB=32
python3 - >rules.v4 <<'EOF2'
import random
random.seed(1)
tables = {"raw": "PREROUTING OUTPUT", "mangle": "PREROUTING INPUT FORWARD OUTPUT POSTROUTING", "filter": "INPUT FORWARD OUTPUT",
          "security": "INPUT FORWARD OUTPUT"}
each = 20000 // len(tables)
for table, hooks in tables.items():
    print("*" + table)
    for hook in hooks.split():
        print(":%s ACCEPT [0:0]" % hook)
    print(":all - [0:0]")
    for hook in hooks.split():
        print("-A %s -p udp -j all" % hook)
    for i in range(each):
        print("-A all -s 198.%d.%d.%d/32 -d 10.%d.%d.0/%d -p udp -m udp --dport %d -j DROP" % (
            18 + i % 2, i // 250 % 250, i % 250, random.randrange(4), random.randrange(256), random.choice((8, 16, 24)),
            random.choice((53, 123, 161, 443, 500, 1194, 4500, 5060))))
    print("COMMIT")
EOF2
serve 1001
"$WEIR" load rules.v4 >out 2>&1
is "$?" 0 "20,000 rules, asked by every hook, load"
is "$(verdict @a udp 10.0.1.1 1001)" pass "and let pass what none of them names"
is "$(grep -c '^-A all ' rules.v4) $("$WEIR" list | grep -c -- '-j DROP')" "20000 20000" "they are all there"
# Of this instance alone: what it has pinned, and what its programs hold. Other tests have maps of their own.
bytes=$(python3 - <<'EOF2'
import json, os, subprocess

def ask(*what):
    p = subprocess.run(["bpftool", "-j", *what], capture_output=True, text=True)
    return json.loads(p.stdout) if p.returncode == 0 and p.stdout.strip() else {}

maps, programs = set(), set()
for folder, _, names in os.walk("/sys/fs/bpf"):
    for name in names:
        pin = os.path.join(folder, name)
        m, prog, link = (ask(kind, "show", "pinned", pin) for kind in ("map", "prog", "link"))
        maps.update([m["id"]] if "bytes_value" in m else [])
        programs.update(prog["id"] for prog in [prog] if "map_ids" in prog)
        programs.update([link["prog_id"]] if "prog_id" in link else [])
        if m.get("type") == "prog_array":
            programs.update(int.from_bytes(bytes(int(x, 16) for x in e["value"]), "little")
                            for e in ask("map", "dump", "pinned", pin) if isinstance(e.get("value"), list))
for i in programs:
    maps.update(ask("prog", "show", "id", str(i)).get("map_ids", []))
print(sum(ask("map", "show", "id", str(i))["bytes_memlock"] for i in maps))
EOF2
)
ok $((bytes == 0 || bytes > MOST_MIB << 20)) "the maps of all hooks take $((bytes >> 10)) KiB, $MOST_MIB MiB at most"
"$WEIR" unload >/dev/null
finish
