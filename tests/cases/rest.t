# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Matches and targets that are rarely met: read, printed back, and unknown where nobody here can decide them.

case connections of one source, counted as the packets make them
track
rules   -A INPUT -p tcp --syn --dport 80 -m connlimit --connlimit-above 2 --connlimit-mask 32 -j DROP
packet  in=eth0 t=1 tcp 192.0.2.1:1001 > 192.0.2.9:80 flags=S       accept  policy
packet  in=eth0 t=2 tcp 192.0.2.1:1002 > 192.0.2.9:80 flags=S       accept  policy
packet  in=eth0 t=3 tcp 192.0.2.1:1003 > 192.0.2.9:80 flags=S       drop    rule 1
packet  in=eth0 t=4 tcp 192.0.2.2:1001 > 192.0.2.9:80 flags=S       accept  policy

case connections of a network
track
rules   -A INPUT -p tcp --syn -m connlimit --connlimit-upto 1 --connlimit-mask 24 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 t=1 tcp 192.0.2.1:1001 > 203.0.113.9:80 flags=S     accept  rule 1
packet  in=eth0 t=2 tcp 192.0.2.99:1001 > 203.0.113.9:80 flags=S    drop    policy
packet  in=eth0 t=3 tcp 192.0.3.1:1001 > 203.0.113.9:80 flags=S     accept  rule 1

case what only the kernel knows of a connection
rules   -A INPUT -p tcp --dport 1 -m connbytes --connbytes 100: --connbytes-dir both --connbytes-mode bytes -j DROP
rules   -A INPUT -p tcp --dport 2 -m connlabel --label 3 -j DROP
rules   -A INPUT -p tcp --dport 3 -m helper --helper ftp -j DROP
rules   -A INPUT -p tcp --dport 4 -m conntrack --ctstatus ASSURED -j DROP
rules   -A INPUT -p tcp --dport 5 -m conntrack --ctexpire 1:9 -j DROP
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:1 flags=A ct=established    unknown
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:2 flags=A ct=established    unknown
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:3 flags=A ct=established    unknown
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:4 flags=A ct=established    unknown
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:5 flags=A ct=established    unknown
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:6 flags=A ct=established    accept  policy

case a packet that nothing tracks is no packet of a connection
rules   -A INPUT -m conntrack --ctstatus ASSURED -j DROP
rules   -A INPUT -m conntrack --ctproto 6 -j DROP
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:4 flags=A ct=invalid        accept  policy

case what only the machine knows
rules   -A OUTPUT -p udp --dport 1 -m cgroup --cgroup 5 -j DROP
rules   -A OUTPUT -p udp --dport 2 -m policy --dir out --pol ipsec --mode tunnel -j DROP
packet  out=eth0 udp 192.0.2.1:9 > 192.0.2.9:1                unknown
packet  out=eth0 udp 192.0.2.1:9 > 192.0.2.9:2                unknown
packet  out=eth0 udp 192.0.2.1:9 > 192.0.2.9:3                accept  policy

case lengths of extension headers
lang    ip6tables
rules   -A INPUT -m hbh --hbh-len 16 -j DROP
rules   -A INPUT -m dst ! --dst-len 8 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh(len=16) udp 1 > 2    drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh(len=8) udp 1 > 2     accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=dst(len=16) udp 1 > 2    drop    rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=dst(len=8) udp 1 > 2     accept  policy

case targets of nat and mangle, read and printed
print   *nat\n-A POSTROUTING -o eth0 -j MASQUERADE --random\nCOMMIT                 -o eth0 -j MASQUERADE --random
print   *nat\n-A PREROUTING -d 192.0.2.0/24 -j NETMAP --to 198.51.100.0/24\nCOMMIT  -d 192.0.2.0/24 -j NETMAP --to 198.51.100.0/24
print   *nat\n-A PREROUTING -p tcp -j REDIRECT --to-ports 8080\nCOMMIT              -p tcp -j REDIRECT --to-ports 8080
print   *mangle\n-A PREROUTING -p tcp -j TPROXY --on-port 50080 --tproxy-mark 0x1/0x1\nCOMMIT    -p tcp -j TPROXY --on-port 50080 --on-ip 0.0.0.0 --tproxy-mark 0x1/0x1
print   *mangle\n-A POSTROUTING -j CLASSIFY --set-class 1:a\nCOMMIT                 -j CLASSIFY --set-class 0001:000a
print   *mangle\n-A FORWARD -p tcp --syn -j TCPMSS --clamp-mss-to-pmtu\nCOMMIT      -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j TCPMSS --clamp-mss-to-pmtu
print   *raw\n-A PREROUTING -p udp --dport 53 -j CT --notrack\nCOMMIT               -p udp -m udp --dport 53 -j CT --notrack
print   *raw\n-A PREROUTING -j CT --zone 5\nCOMMIT                                  -j CT --zone 5
print   -A INPUT -p tcp -j NFQUEUE --queue-balance 0:3 --queue-bypass               -p tcp -j NFQUEUE --queue-balance 0:3 --queue-bypass
print   -A INPUT -j TEE --gateway 192.0.2.7                                         -j TEE --gateway 192.0.2.7
print   -A INPUT -j NFLOG --nflog-prefix "a b" --nflog-group 5                      -j NFLOG --nflog-prefix "a b" --nflog-group 5

case TPROXY takes the packet another way
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp -j TPROXY --on-port 50080 --tproxy-mark 0x1/0x1
rules   COMMIT
rules   *filter
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -m mark --mark 1 -j DROP
packet  in=eth0 tcp 192.0.2.1:9 > 192.0.2.9:1 flags=S         accept  policy filter/INPUT
