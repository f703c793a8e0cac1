#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --json of the verbs that change what the kernel obeys: each answer is one object, with the fields of weir(8).
. "$(dirname "$0")/lib.sh"
enter "$@"
rules one.v4 '-A INPUT -p udp -m udp --dport 1001 -j DROP' '-A OUTPUT -p udp -m udp --dport 9 -j DROP'
rules two.v4 '-A INPUT -m state --state NEW -p udp -m udp --dport 1002 -j DROP' '-A INPUT -p udp -m udp --dport 1001 -j DROP'
rules bad.v4 '-A INPUT -p udp -m udp --dport 70000 -j DROP'

# says WHAT EXPRESSION: python's value of the expression over j, what weir printed
says() {
	/usr/bin/python3 -c 'import json, sys
j = json.load(open("out"))
print(eval(sys.argv[1]))' "$1" 2>&1
}
answer() { # exit status wanted, what, weir arguments...
	local want=$1 what=$2
	shift 2
	"$WEIR" "$@" >out 2>err
	is "$? $(wc -c <err)" "$want 0" "$what"
}
NAMES='[f.split("/")[-1] for f in j[%s]["files"]]'

answer 1 "load: rules with an error" load --json bad.v4
is "$(says '(j["loaded"], "active" in j, j["errors"], j["diagnostics"][0]["line"], sorted(j))')" \
	"(False, False, 1, 5, ['diagnostics', 'errors', 'loaded', 'warnings'])" "are told as check tells them"
answer 0 "load: the first rules" load --json one.v4
is "$(says 'sorted(j)')" \
	"['added', 'detached', 'diagnostics', 'errors', 'hooks', 'kept', 'loaded', 'removed', 'rules', 'sets', 'tracked', 'warnings']" "its fields"
is "$(says '(j["loaded"], j["rules"], j["added"], j["removed"], j["kept"], j["tracked"], j["detached"])')" \
	"(True, 2, 2, 0, 0, [], [])" "what it counts"
is "$(says '[(h["family"], h["hook"], h["priority"], h["priority_wanted"], h["new"], h["chains"]) for h in j["hooks"]]')" \
	"[('ip', 'input', 0, 0, True, [{'table': 'filter', 'chain': 'INPUT'}]), ('ip', 'output', 0, 0, True, [{'table': 'filter', 'chain': 'OUTPUT'}])]" \
	"where it hangs"
answer 0 "load: a dry run" load --json --dry-run two.v4
is "$(says '[(c["change"], c["family"], c["table"], c["chain"], c["file"], c["line"], c["rule"]) for c in j["changes"]]')" \
	"[('removed', 'ip', 'filter', 'OUTPUT', 'one.v4', 6, '-p udp -m udp --dport 9 -j DROP'), ('added', 'ip', 'filter', 'INPUT', 'two.v4', 5, '-p udp -m state --state NEW -m udp --dport 1002 -j DROP')]" \
	"what would come and go"
is "$(says '(j["loaded"], j["detached"], j["tracked"])')" \
	"(False, [{'family': 'ip', 'table': 'filter', 'chain': 'OUTPUT', 'hook': 'output'}], ['ip'])" "it is not loaded"
has "$("$WEIR" list)" "one.v4" "indeed"
answer 1 "load: an error beside rules that are active" load --json bad.v4
is "$(says "$(printf "$NAMES" '"active"')")" "['one.v4']" "which stay"
nft -f - <<<'table ip other { chain c { type filter hook input priority 0; policy accept; }; }'
"$WEIR" unload >/dev/null
answer 0 "load: beside somebody else" load --json one.v4
is "$(says '[(h["priority"], h["priority_wanted"], h["held_by"]) for h in j["hooks"] if h["hook"] == "input"]')" \
	"[(-1, 0, 'nft chain c of table ip other')]" "the place that was wanted, and who holds it"
nft flush ruleset

answer 0 "load: on trial" load --json --confirm 60s two.v4
is "$(says '(j["loaded"], j["trial_seconds_left"])')" "(True, 60)" "and for how long"
answer 0 "save: the texts" save --json
is "$(says '([f["name"] for f in j["files"]], j["files"][0]["text"] == open("two.v4").read(), j["options"], j["on_trial"])')" \
	"(['two.v4'], True, [], True)" "of rules on trial"
answer 0 "confirm --no" confirm --no --json
is "$(says "(j['confirmed'], $(printf "$NAMES" '"rules"'))")" "(False, ['two.v4'])" "from which rules"
"$WEIR" load --confirm 60s --reject-as-drop two.v4 >/dev/null
answer 0 "confirm" confirm --json
is "$(says "(j['confirmed'], $(printf "$NAMES" '"rules"'), type(j['rules']['loaded_at']), type(j['rules']['serial']))")" \
	"(True, ['two.v4'], <class 'int'>, <class 'int'>)" "which rules"
answer 0 "save: into a folder" save --json saved
is "$(says '(j["folder"], j["files"], j["options"], j["on_trial"])')" \
	"('saved', [{'name': 'two.v4'}], ['--reject-as-drop'], False)" "with the options"
"$WEIR" confirm --json >out 2>err
is "$? $(wc -c <out) $(cat err)" "3 0 weir: no load waits for its confirmation" "what cannot be done is told on standard error alone"
answer 0 "unload" unload --json
is "$(says "(j['unloaded'], $(printf "$NAMES" '"rules"'))")" "(True, ['two.v4'])" "which rules"
answer 0 "unload of nothing" unload --json
is "$(says 'j')" "{'unloaded': False}" "says so"
finish
