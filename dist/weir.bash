# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for weir; made by: weir help --completion bash
_weir()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=
	local verb=${COMP_WORDS[1]}
	if [ "$COMP_CWORD" -eq 1 ] || [ "$COMP_CWORD$verb" = 2help ]; then
		words="check explain eval test show load confirm list unload save set log doctor help"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	if [ "$COMP_CWORD$verb" = 2set ]; then
		words="load add del test swap list"
	fi
	case $prev in
	--lang) words="iptables ip6tables ipset nft ipfw pf tc" ;;
	--hook) words="prerouting input forward output postrouting ingress egress" ;;
	--ct) words="none new established related invalid untracked" ;;
	--malformed) words="drop accept" ;;
	--engine) words="eval tables kernel" ;;
	--completion) words="bash" ;;
	--color) words="auto always never" ;;
	esac
	if [ -z "$words" ] && [[ $cur == -* ]]; then
		case $verb in
		check) words="--help --lang --tables --set --only-family --include --define --strict --print --counts --dump --json --color" ;;
		explain) words="--help --lang --tables --set --only-family --include --define --env --hook --ct --malformed --short --json --color" ;;
		eval) words="--help --lang --tables --set --only-family --include --define --env --hook --ct --malformed --in --out --on --each --json --engine --color" ;;
		test) words="--help --set --only-family --json --engine --bless --color" ;;
		show) words="--help --lang --set --only-family --include --define --json --reject-as-drop --tables --expanded --only --dot --chain --color" ;;
		load) words="--help --lang --tables --set --only-family --include --define --malformed --json --reject-as-drop --dry-run --confirm --instance --netns --bpffs --color" ;;
		confirm) words="--help --json --no --instance --netns --bpffs --color" ;;
		list) words="--help --json --chain --zero --instance --netns --bpffs --color" ;;
		unload) words="--help --json --instance --netns --bpffs --color" ;;
		save) words="--help --json --instance --netns --bpffs --color" ;;
		set) words="--help --only-family --exist --strict --json --instance --netns --bpffs --color" ;;
		log) words="--help --json --follow --instance --netns --bpffs --color" ;;
		doctor) words="--help --json --repair --instance --netns --bpffs --color" ;;
		help) words="--help --completion --color" ;;
		esac
	fi
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -F _weir weir
