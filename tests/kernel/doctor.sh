#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# doctor: what the kernel can do, and what is not well with what is loaded.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
out=$("$WEIR" doctor)
is $? 0 "this kernel can do what is needed"
is "$(grep -cE '^good  ip6? (prerouting|input|forward|output|postrouting): ' <<<"$out")" 10 "ten hooks were tried"
has "$out" "rules: none are loaded" "nothing is loaded"
"$WEIR" doctor --json | /usr/bin/python3 -m json.tool >/dev/null
is $? 0 "--json is JSON"

rules r.v4 '-A INPUT -p udp -m udp --dport 1001 -j DROP'
"$WEIR" load r.v4 >/dev/null
has "$("$WEIR" doctor)" "dispatcher at ip input, priority 0: attached" "a dispatcher that is well"
if command -v bpftool >/dev/null; then
	bpftool link detach pinned /sys/fs/bpf/weir/*/link-* 2>/dev/null
	is "$(verdict @a udp 10.0.1.1 1001)" pass "somebody detaches a dispatcher"
	out=$("$WEIR" doctor)
	is $? 3 "doctor sees it"
	has "$out" "somebody has detached it" "and says so"
	"$WEIR" doctor --repair >/dev/null
	is "$(verdict @a udp 10.0.1.1 1001 30)" drop "--repair attaches it again"
	bpftool link detach pinned /sys/fs/bpf/weir/*/link-* 2>/dev/null
	"$WEIR" load r.v4 >/dev/null
	is "$(verdict @a udp 10.0.1.1 1001 30)" drop "and so does a load"
else
	skip "needs bpftool" "somebody detaches a dispatcher"
fi

# a namespace that is gone
ip netns add dead
"$WEIR" load --netns dead r.v4 >/dev/null
has "$("$WEIR" doctor)" "well" "a namespace with a name is alive"
ip netns del dead
out=$("$WEIR" doctor)
is $? 3 "doctor sees an instance whose namespace is gone"
has "$out" "its network namespace is gone" "and says so"
"$WEIR" doctor --repair >/dev/null
is "$("$WEIR" doctor >/dev/null; echo $?) $(ls /sys/fs/bpf/weir | wc -l)" "0 1" "--repair removes it, and nothing else"
is "$(verdict @a udp 10.0.1.1 1001 30)" drop "the living one still judges"
is "$(ls /run/weir | wc -l)" 1 "nor is its lock left"
"$WEIR" unload >/dev/null
is "$(ls /run/weir)" "" "who is unloaded leaves no lock"
"$WEIR" doctor --repair >/dev/null
"$WEIR" confirm 2>/dev/null
is "$(ls /run/weir)" "" "nor who only looks"

# pins that somebody has removed: nobody says that all is well, or that no rules are loaded
for pin in generation books log info-1 slot0/table slot0/count slot0/state; do
	"$WEIR" load r.v4 >/dev/null
	rm /sys/fs/bpf/weir/*-weir/$pin
	"$WEIR" list >out 2>&1
	is "$? $(grep -c "${pin##*/} is missing" out)" "3 1" "list: $pin is missing"
	"$WEIR" doctor >out
	is "$? $(grep -c "BAD.*${pin##*/} is missing" out)" "3 1" "doctor: $pin is missing"
	"$WEIR" load r.v4 >out 2>&1
	is "$? $(grep -c "${pin##*/} is missing" out) $(grep -c 'weir unload' out) $(grep -c 'no rules' out)" "3 1 1 0" "load: $pin is missing"
	is "$(verdict @a udp 10.0.1.1 1001 30)" drop "the rules still judge"
	"$WEIR" unload >/dev/null
	is "$(verdict @a udp 10.0.1.1 1001 30) $(find /sys/fs/bpf/weir /run/weir/* 2>/dev/null)" "pass " "unload removes what is left"
done

# no BPF file system, no such namespace, a bad name
umount /sys/fs/bpf
out=$("$WEIR" load r.v4 2>&1)
is $? 3 "without a BPF file system load is refused"
has "$out" "mount -t bpf bpf /sys/fs/bpf" "with the command that mounts it"
has "$("$WEIR" doctor)" "mount -t bpf bpf /sys/fs/bpf" "doctor says it too"
mkdir bpf && mount -t bpf bpf bpf
"$WEIR" load --bpffs "$PWD/bpf" r.v4 >/dev/null
is "$? $(verdict @a udp 10.0.1.1 1001 30)" "0 drop" "--bpffs names another place"
"$WEIR" unload --bpffs "$PWD/bpf" >/dev/null
out=$("$WEIR" list --netns nosuch 2>&1)
is $? 3 "no such namespace"
has "$out" "/run/netns/nosuch" "is said"
"$WEIR" list --instance 'Not/good' >/dev/null 2>&1
is $? 3 "a name that cannot be one"
finish
