#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Arrows between the folders of src/ run one way. This reads every #include "folder/..." and every call that belongs to
# one folder only, and prints what breaks a rule, as FILE:LINE: text. Silent and 0 when all is well.
#
#     text -> lang/* -> policy -> eval
#                              -> flat -> classify -> tables -> datapath
#                              -> sets                       -> kernel -> cli
set -eu
cd "$(dirname "$0")/.."

# folder: the folders it may include besides itself
allowed() {
	case $1 in
	base) ;;
	policy) echo base ;;
	packet) echo base policy ;;
	eval) echo base policy packet ;;
	lang) echo base policy ;;
	flat) echo base policy tables ;;
	tables) echo base ;;
	sets) echo base policy tables ;;
	classify) echo base policy flat tables sets ;;
	datapath/native) echo base policy packet tables ;;
	datapath) echo tables ;;
	kernel) echo base policy flat classify tables sets datapath ;;
	api) echo base policy packet lang flat classify tables datapath ;;
	cli) echo base policy packet eval lang flat classify tables sets datapath kernel ;;
	*) echo UNKNOWN ;;
	esac
}

bad=0
complain() {
	echo "$1"
	bad=1
}

while IFS=: read -r file line text; do
	target=${text#*\"}
	target=${target%%\"*}
	rel=${file#src/}
	from=${rel%%/*}
	key=$from
	case $rel in datapath/native*) key=datapath/native ;; esac
	case $target in
	*/*) to=${target%%/*} ;;
	*) continue ;; # beside the file, or made by the build
	esac
	ok=$(allowed "$key")
	[ "$ok" != UNKNOWN ] || complain "$file:$line: folder '$from' has no place in scripts/layers.sh"
	case " $from $ok " in
	*" $to "*) ;;
	*) complain "$file:$line: $key/ must not include $to/ (\"$target\")" ;;
	esac
	# a language sees lang/lang.h and itself, never a neighbour
	if [ "$from" = lang ] && [ "$to" = lang ]; then
		mine=${rel#lang/} theirs=${target#lang/}
		case $mine in */*) mine=${mine%%/*} ;; *) mine= ;; esac
		case $theirs in */*) theirs=${theirs%%/*} ;; *) theirs= ;; esac
		if [ -n "$theirs" ] && [ -n "$mine" ] && [ "$mine" != "$theirs" ]; then
			complain "$file:$line: lang/$mine must not know lang/$theirs"
		fi
	elif [ "$to" = lang ] && [ "$target" != lang/lang.h ]; then
		complain "$file:$line: only lang/lang.h is for others (\"$target\")"
	fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' src --include='*.[ch]' --include='*.def')

# what only one folder may do
only() { # folders-pattern what regex
	local hits
	hits=$(grep -rnE --include='*.[ch]' "$3" src | grep -vE "^src/($1)" || true)
	[ -z "$hits" ] || complain "$(echo "$hits" | sed -E "s/^([^:]*:[0-9]*):.*/\\1: $2/")"
}
only 'cli/|base/arena\.c' 'prints, which only cli\/ may do' '(^|[^a-z_])(printf|fprintf|puts|putchar|perror|vfprintf|dprintf)\('
only 'base/' 'takes memory itself; arenas are for that' '(^|[^a-z_>.])(malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf)\('
only 'kernel/|datapath/|cli/' 'knows the kernel'"'"'s BPF or netlink' '#[[:space:]]*include[[:space:]]*<(bpf/|linux/bpf|libmnl|libnftnl|nftables/|linux/netlink)'

bad_names=$(find src -name '*util*' -o -name '*misc*' -o -name '*common*' -o -name '*helper*')
[ -z "$bad_names" ] || complain "$bad_names: a name that says nothing"
exit $bad
