# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Matches that remember: limit, hashlimit, recent, connlimit, statistic, quota, time.

case a limit gives its burst, then one token in each period
rules   -A INPUT -m limit --limit 6/minute --limit-burst 2 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 t=100 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 1
packet  in=eth0 t=100 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 1
packet  in=eth0 t=100 udp 192.0.2.1:1 > 192.0.2.2:2   drop    policy
packet  in=eth0 t=109 udp 192.0.2.1:1 > 192.0.2.2:2   drop    policy
packet  in=eth0 t=111 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 1
packet  in=eth0 t=112 udp 192.0.2.1:1 > 192.0.2.2:2   drop    policy
packet  in=eth0 t=200 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 1
packet  in=eth0 t=200 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 1
packet  in=eth0 t=200 udp 192.0.2.1:1 > 192.0.2.2:2   drop    policy
hits    5

case tests before a limit save its tokens, tests behind it do not
rules   -A INPUT -p udp -m limit --limit 1/hour --limit-burst 1 -j ACCEPT
rules   -A INPUT -m limit --limit 1/hour --limit-burst 1 -m length --length 5000 -j ACCEPT
rules   -A INPUT -m limit --limit 1/hour --limit-burst 1 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 t=1 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S    accept  rule 3
packet  in=eth0 t=2 udp 192.0.2.1:1 > 192.0.2.2:2            accept  rule 1
packet  in=eth0 t=3 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=4972B    drop    policy

case a limit for each source
rules   -A INPUT -m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 1 --hashlimit-mode srcip --hashlimit-name h -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 t=1 udp 192.0.2.1:1 > 192.0.2.9:2     accept  rule 1
packet  in=eth0 t=2 udp 192.0.2.2:1 > 192.0.2.9:2     accept  rule 1
packet  in=eth0 t=3 udp 192.0.2.1:1 > 192.0.2.9:2     drop    policy

case above a limit for each destination port
rules   -A INPUT -p udp -m hashlimit --hashlimit-above 1/hour --hashlimit-burst 1 --hashlimit-mode dstport --hashlimit-name h -j DROP
packet  in=eth0 t=1 udp 192.0.2.1:1 > 192.0.2.9:2     accept  policy
packet  in=eth0 t=2 udp 192.0.2.2:1 > 192.0.2.9:2     drop    rule 1
packet  in=eth0 t=3 udp 192.0.2.2:1 > 192.0.2.9:3     accept  policy

case sources of one network share a limit
rules   -A INPUT -m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 1 --hashlimit-mode srcip --hashlimit-srcmask 24 --hashlimit-name h -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 t=1 udp 192.0.2.1:1 > 203.0.113.9:2     accept  rule 1
packet  in=eth0 t=2 udp 192.0.2.200:1 > 203.0.113.9:2   drop    policy
packet  in=eth0 t=3 udp 192.0.3.1:1 > 203.0.113.9:2     accept  rule 1

case recent: who knocked is let in for a while
rules   -A INPUT -p tcp --dport 22 -m recent --rcheck --seconds 10 --name knock -j ACCEPT
rules   -A INPUT -p udp --dport 1000 -m recent --set --name knock -j DROP
rules   -P INPUT DROP
packet  in=eth0 t=1 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S    drop    policy
packet  in=eth0 t=2 udp 192.0.2.1:1 > 192.0.2.9:1000          drop    rule 2
packet  in=eth0 t=5 tcp 192.0.2.2:1 > 192.0.2.9:22 flags=S    drop    policy
packet  in=eth0 t=6 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S    accept  rule 1
packet  in=eth0 t=20 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S   drop    policy

case recent: the third try in a minute
rules   -A INPUT -p tcp --dport 22 -m recent --set --name ssh --rsource
rules   -A INPUT -p tcp --dport 22 -m recent --update --seconds 60 --hitcount 3 --name ssh --rsource -j DROP
packet  in=eth0 t=1 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S    accept  policy
packet  in=eth0 t=2 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S    accept  policy
packet  in=eth0 t=3 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S    drop    rule 2
packet  in=eth0 t=300 tcp 192.0.2.1:1 > 192.0.2.9:22 flags=S  accept  policy

case recent: removed
rules   -A INPUT -p udp --dport 1 -m recent --set --name x
rules   -A INPUT -p udp --dport 2 -m recent --remove --name x -j DROP
rules   -A INPUT -p udp --dport 3 -m recent ! --rcheck --name x -j DROP
packet  in=eth0 t=1 udp 192.0.2.1:1 > 192.0.2.9:1     accept  policy
packet  in=eth0 t=2 udp 192.0.2.1:1 > 192.0.2.9:3     accept  policy
packet  in=eth0 t=3 udp 192.0.2.1:1 > 192.0.2.9:2     drop    rule 2
packet  in=eth0 t=4 udp 192.0.2.1:1 > 192.0.2.9:3     drop    rule 3
packet  in=eth0 t=5 udp 192.0.2.1:1 > 192.0.2.9:2     accept  policy

case every third packet
rules   -A INPUT -m statistic --mode nth --every 3 --packet 0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         drop    rule 1
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         drop    rule 1

case every third packet, from the second on
rules   -A INPUT -m statistic --mode nth --every 3 --packet 1 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         drop    rule 1
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         drop    rule 1

case not every third packet
rules   -A INPUT -m statistic --mode nth ! --every 3 --packet 0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         accept  policy
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         drop    rule 1

case by chance is unknown, unless the chance is none or all
rules   -A INPUT -p udp -m statistic --mode random --probability 0.5 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         unknown

case a quota of bytes
rules   -A INPUT -m quota --quota 60 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.9 udp 1 > 2 payload=0B    accept  rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.9 udp 1 > 2 payload=0B    accept  rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.9 udp 1 > 2 payload=0B    drop    policy

case time of day is unknown to a packet that has none
rules   -A INPUT -m time --timestart 08:00 --timestop 18:00 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.9:1         unknown

case a limit without a time is unknown once time matters
rules   -A INPUT -m limit --limit 1/second --limit-burst 1 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 1

case spelling of limits
print   -A INPUT -m limit --limit 60/minute -j ACCEPT               -m limit --limit 1/sec -j ACCEPT
print   -A INPUT -m limit --limit 3/m --limit-burst 5 -j ACCEPT     -m limit --limit 3/min -j ACCEPT

case wrong limits
error   -A INPUT -m limit --limit 3/fortnight -j ACCEPT             -       fortnight
error   -A INPUT -m limit --limit 0/second -j ACCEPT                -       0
error   -A INPUT -m statistic --mode nth --packet 1 -j DROP         -       every
error   -A INPUT -m recent --rcheck --set -j DROP                   -       --set
error   -A INPUT -m hashlimit --hashlimit-upto 1/second -j DROP     -       hashlimit-name
error   -A INPUT -m time --timestart 25:00 -j DROP                  -       25:00
