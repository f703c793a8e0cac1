# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Address translation: what later chains see of it.

case DNAT: later chains see the new destination
rules   *nat
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p tcp --dport 8080 -j DNAT --to-destination 198.51.100.7:80
rules   COMMIT
rules   *filter
rules   :FORWARD DROP [0:0]
rules   -A FORWARD -d 198.51.100.7 -p tcp --dport 80 -j ACCEPT
packet  in=eth0 out=eth1 tcp 192.0.2.1:1 > 203.0.113.1:8080 flags=S ct=new     accept  rule 2
packet  in=eth0 out=eth1 tcp 192.0.2.1:1 > 198.51.100.7:8080 flags=A ct=invalid        drop    policy FORWARD
packet  in=eth0 out=eth1 tcp 192.0.2.1:1 > 198.51.100.7:8080 flags=A ct=established    unknown   # that connection may have met the rule

case a packet of a connection that may be masqueraded
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -s 10.0.0.0/8 -o eth0 -p tcp -j MASQUERADE
rules   COMMIT
rules   *filter
rules   :FORWARD DROP [0:0]
rules   -A FORWARD -d 10.0.0.0/8 -m state --state ESTABLISHED -j ACCEPT
env     interface eth0 address 192.0.2.1/24
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.1:40000 ct=established     unknown
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.1:40000 ct=new             drop
packet  in=eth0 out=eth1 udp 198.51.100.7:443 > 192.0.2.1:40000 ct=established     drop
packet  in=eth2 out=eth1 tcp 198.51.100.7:443 > 192.0.2.1:40000 ct=established     drop
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.9:40000 ct=established     drop
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 10.0.0.9:40000 ct=established      accept

case a packet of a connection that may have another source address
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -j SNAT --to-source 192.0.2.8-192.0.2.15
rules   COMMIT
rules   *filter
rules   :FORWARD DROP [0:0]
rules   -A FORWARD -d 10.0.0.0/8 -m state --state ESTABLISHED -j ACCEPT
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.7:40000 ct=established     drop
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.8:40000 ct=established     unknown
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.15:40000 ct=established    unknown
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.16:40000 ct=established    drop
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.8:40000                    unknown
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.16:40000                   drop

case how a packet looks at a hook can be said
hook    forward
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -j MASQUERADE
rules   COMMIT
rules   *filter
rules   :FORWARD DROP [0:0]
rules   -A FORWARD -d 10.0.0.0/8 -m state --state ESTABLISHED -j ACCEPT
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 10.0.0.9:40000 ct=established      accept
packet  in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.1:40000 ct=established     drop

case REDIRECT: the port changes
rules   *nat
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp --dport 53 -j REDIRECT --to-ports 5353
rules   COMMIT
rules   *filter
rules   :INPUT DROP [0:0]
rules   -A INPUT -p udp --dport 5353 -j ACCEPT
env     interface eth0 address 203.0.113.1/24
packet  in=eth0 udp 192.0.2.1:1 > 203.0.113.1:53 ct=new        accept  rule 2

case in table nat there is no drop by a filter's hand, but accept ends it
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -s 192.0.2.0/24 -d 192.0.2.0/24 -j ACCEPT
rules   -A POSTROUTING -s 192.0.2.0/24 -o eth1 -j MASQUERADE
packet  in=eth0 out=eth1 udp 192.0.2.1:1 > 192.0.2.9:2 ct=new       accept
hits    1 0
packet  in=eth0 out=eth1 udp 192.0.2.1:1 > 198.51.100.9:2 ct=new    accept
hits    1 1

case spelling of translations
print   *nat\n-A POSTROUTING -p udp -j SNAT --to-source 192.0.2.1-192.0.2.9:1000-2000\nCOMMIT    -p udp -j SNAT --to-source 192.0.2.1-192.0.2.9:1000-2000
error   *nat\n-A PREROUTING -j DNAT --to-destination 192.0.2.300\nCOMMIT                  -    192.0.2.300
error   *nat\n-A PREROUTING -j SNAT --to-source 192.0.2.3\nCOMMIT                         -    PREROUTING
error   *nat\n-A PREROUTING -j REDIRECT --to-ports 80\nCOMMIT                             -    -p

case brackets
lang    ip6tables
warn    *nat\n-A PREROUTING -p tcp --dport 443 -j DNAT --to-destination 2001:db8::10:443\nCOMMIT    -    is read as an address

case an ICMP error goes the other way than what it quotes, and is translated back
track
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -o eth1 -j SNAT --to-source 198.51.100.1
rules   COMMIT
rules   *filter
rules   :FORWARD ACCEPT [0:0]
rules   -A FORWARD -d 192.0.2.10 -m conntrack --ctstate RELATED --ctdir REPLY -j ACCEPT
rules   -A FORWARD -m conntrack --ctstate RELATED -j DROP
rules   -A FORWARD -m conntrack --ctstate INVALID -j DROP
packet  in=eth0 out=eth1 ip 192.0.2.10 > 198.51.100.20 udp 40000 > 53      accept
packet  in=eth1 out=eth0 ip 198.51.100.9 > 198.51.100.1 icmp type=3/3 payload=hex:4500001c0000000040118e95c6336401c63364149c40003500080000    accept  rule 2
packet  in=eth1 out=eth0 ip 198.51.100.9 > 198.51.100.1 icmp type=3/3 payload=hex:4500001c0000000040118e95c6336401c63364149c41003500080000    drop    rule 4

case a translation to what was there already is none
track
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -o eth0 -j MASQUERADE
rules   COMMIT
rules   *filter
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -m conntrack --ctstate SNAT -j DROP
env     interface eth0 address 192.0.2.1/24
packet  out=eth0 ip 192.0.2.1 > 192.0.2.9 udp 40000 > 53    accept
packet  in=eth0 ip 192.0.2.9 > 192.0.2.1 udp 53 > 40000     accept

case whether a translation to one of several addresses changes anything is not known
track
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -o eth1 -j SNAT --to-source 192.0.2.1-192.0.2.2
rules   COMMIT
rules   *filter
rules   :FORWARD ACCEPT [0:0]
rules   -A FORWARD -m conntrack --ctstate SNAT -j DROP
packet  in=eth0 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53    accept
packet  in=eth0 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53    unknown
packet  in=eth0 out=eth1 ip 192.0.2.3 > 198.51.100.9 udp 40000 > 53    accept
packet  in=eth0 out=eth1 ip 192.0.2.3 > 198.51.100.9 udp 40000 > 53    drop    rule 2

case two connections whose replies would look alike: one gets another source port
track
rules   *nat
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -d 203.0.113.0/24 -j DNAT --to-destination 198.51.100.9
rules   COMMIT
rules   *filter
rules   :FORWARD ACCEPT [0:0]
rules   -A FORWARD -m conntrack --ctrepldstport 40000 -j DROP
packet  in=eth0 out=eth1 ip 192.0.2.3 > 203.0.113.1 udp 40000 > 53    drop    rule 2
packet  in=eth0 out=eth1 ip 192.0.2.3 > 203.0.113.2 udp 40001 > 53    accept
packet  in=eth0 out=eth1 ip 192.0.2.3 > 198.51.100.9 udp 40001 > 53   accept
packet  in=eth0 out=eth1 ip 192.0.2.3 > 198.51.100.9 udp 40001 > 53   unknown

case a connection whose replies nobody can tell may have been answered
track
rules   *nat
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -o eth1 -j MASQUERADE
rules   COMMIT
rules   *filter
rules   :FORWARD ACCEPT [0:0]
rules   -A FORWARD -i eth0 -m conntrack --ctstate NEW -j DROP
rules   -A FORWARD -i eth1 -m conntrack --ctstate NEW -j ACCEPT
packet  in=eth1 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53     accept
packet  in=eth0 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53     drop    rule 2
packet  in=eth1 out=eth0 ip 198.51.100.8 > 203.0.113.1 udp 53 > 40000   accept
packet  in=eth0 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53     drop    rule 2
packet  in=eth1 out=eth0 ip 198.51.100.9 > 203.0.113.1 udp 53 > 40000   accept
packet  in=eth0 out=eth1 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53     unknown

case a packet that may have begun a connection makes both its directions unknown
track
rules   :INPUT DROP [0:0]
rules   -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
rules   :OUTPUT ACCEPT [0:0]
packet  out=eth0 ip 192.0.2.1 > 198.51.100.9 tcp 40000 > 80 flags=S cut=30    accept
packet  in=eth0 ip 198.51.100.9 > 192.0.2.1 tcp 80 > 40000 flags=SA           unknown
packet  in=eth0 ip 198.51.100.9 > 192.0.2.1 tcp 80 > 40001 flags=SA           drop
packet  out=eth0 ip 192.0.2.1 > 198.51.100.7 udp 40000 > 53 cut=21            accept
packet  in=eth0 ip 198.51.100.9 > 192.0.2.1 tcp 80 > 40001 flags=SA           drop
packet  in=eth0 ip 198.51.100.9 > 192.0.2.1 udp 53 > 40001                    unknown

case a queued packet may or may not begin a connection
track
rules   :INPUT DROP [0:0]
rules   -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
rules   :OUTPUT ACCEPT [0:0]
rules   -A OUTPUT -j NFQUEUE
packet  out=eth0 ip 192.0.2.1 > 198.51.100.9 udp 40000 > 53    queue
packet  in=eth0 ip 198.51.100.9 > 192.0.2.1 udp 53 > 40000     unknown

case table nat does not drop
error   *nat\n-A PREROUTING -p tcp -j DROP\nCOMMIT    -    works in table
