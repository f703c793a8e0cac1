#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Chains of nft at one hook that change places, named sets, ct state; what netfilter programs cannot do is refused.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001 1002 1003 1004 1005 1006 1007 1008

cat >first.nft <<'END'
table inet t {
	set blocked { type inet_service; flags interval; elements = { 1002, 1010-1020 } }
	set pairs { type ipv4_addr . inet_service; elements = { 10.0.1.2 . 1003 } }
	chain early { type filter hook input priority -10; policy accept;
		udp dport 1005 drop
		udp dport 1006 drop
	}
	chain late { type filter hook input priority 10; policy accept;
		ct state invalid drop
		meta mark 0 udp dport 1005 accept
		udp dport @blocked drop
		ip saddr . udp dport @pairs drop
		udp dport vmap { 1004 : jump tail, 1007 : goto away }
		udp dport 1008 limit rate over 1/hour burst 1 packets drop
		udp dport 1004 drop
		udp dport 1007 drop
	}
	chain tail { meta l4proto udp counter return }
	chain away { meta l4proto udp counter }
}
END
timeout 10 "$WEIR" load first.nft >out 2>&1
is $? 0 "a file of nft is loaded" || cat out
sed 's/^/# /' out
is "$(verdict @a udp 10.0.1.1 1001)" pass "IPv4: a port that no rule names"
is "$(verdict @a udp 2001:db8:1::1 1001)" pass "IPv6: the same"
is "$(verdict @a udp 10.0.1.1 1002)" drop "IPv4: a port of the interval set"
is "$(verdict @a udp 2001:db8:1::1 1002)" drop "IPv6: the same"
is "$(verdict @a udp 10.0.1.1 1003)" drop "IPv4: a pair of the concatenated set"
is "$(verdict @a udp 2001:db8:1::1 1003)" pass "IPv6: no pair of IPv4 addresses applies"
is "$(verdict @a udp 10.0.1.1 1004)" drop "after jump and return the next rule is asked"
is "$(verdict @a udp 10.0.1.1 1005)" drop "what the earlier chain drops, the later one cannot accept"
is "$(packets "mark 0")" 0 "and does not see"
is "$(verdict @a udp 2001:db8:1::1 1006)" drop "the earlier chain drops"
is "$(verdict @a udp 10.0.1.1 1007)" pass "after goto the policy answers, not the next rule"
"$WEIR" list | sed "s/^/# /"
is "$(verdict @a udp 10.0.1.1 1008)" pass "within the limit"
is "$(verdict @a udp 2001:db8:1::1 1008)" drop "over it: both families share the limit"
two=$(packets @blocked)
one=$(packets @pairs)
ok $((two < 2)) "the rule with the interval set has counted packets of both families ($two)"
ok $((one < 1)) "the rule with the pairs has counted ($one)"

# The same hook with priorities exchanged: the chain that drops comes last, and still has its say.
sed 's/priority -10/priority 20/; s/1010-1020/1001/; s/ 1002,//' first.nft >second.nft
timeout 10 "$WEIR" load second.nft >out 2>&1
is $? 0 "another file takes its place"
sed 's/^/# /' out
is "$(verdict @a udp 10.0.1.1 1001)" drop "its set is the one that is asked"
is "$(verdict @a udp 10.0.1.1 1002)" pass "what only the first one blocked is let in"
is "$(verdict @a udp 10.0.1.1 1005)" drop "the chain that is last now drops"
n=$(packets "mark 0")
ok $((n < 1)) "the chains' priorities have moved: the other one sees it first ($n)"
timeout 10 "$WEIR" unload >out 2>&1
is $? 0 "and it is unloaded"
is "$(verdict @a udp 10.0.1.1 1001)" pass "then nothing is blocked"

refused() { # name in the error, text
	echo "$2" >refused.nft
	timeout 10 "$WEIR" load refused.nft >out 2>&1
	local status=$?
	ok $((status == 0 || status > 100)) "refused: $1"
	has "$(grep error: out)" refused.nft:1: "with the place: $1"
	has "$(grep error: out)" "$1" "by name: $1"
}
refused 'chains at devices' 'table netdev t { chain c { type filter hook ingress device "eth0" priority 0; tcp dport 1 drop; }; }'
refused 'translate addresses' 'table ip t { chain c { type nat hook postrouting priority 100; masquerade; }; }'
refused 'arp' 'table arp t { chain c { type filter hook input priority 0; drop; }; }'
refused REJECT 'table inet t { chain c { type filter hook input priority 0; udp dport 1 reject; }; }'
refused flowtable 'table inet t { flowtable f { hook ingress priority 0; devices = { "eth0" }; }; }'
finish
