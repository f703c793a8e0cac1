# Tests of the rules of a host: weir test host.t

case the host's front door
set     create admins hash:net family inet
set     add admins 198.51.100.0/28
rules   :INPUT DROP [0:0]
rules   :services - [0:0]
rules   -A INPUT -i lo -j ACCEPT
rules   -A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
rules   -A INPUT -j services
rules   -A INPUT -p tcp -j REJECT --reject-with tcp-reset
rules   -A services -p tcp --dport 22 -m set --match-set admins src -j ACCEPT
rules   -A services -p tcp -m multiport --dports 80,443 -j ACCEPT
packet  in=eth0 tcp 198.51.100.15:40000 > 192.0.2.1:22 flags=S ct=new     accept  rule 5
packet  in=eth0 tcp 198.51.100.16:40000 > 192.0.2.1:22 flags=S ct=new     reject  rule 4
packet  in=eth0 tcp 203.0.113.5:40000 > 192.0.2.1:443 flags=S ct=new      accept  rule 6
packet  in=eth0 udp 203.0.113.5:40000 > 192.0.2.1:53 ct=new               drop    policy INPUT
packet  in=eth0 udp 203.0.113.5:53 > 192.0.2.1:40000 ct=established       accept  rule 2
packet  in=lo udp 127.0.0.1:53 > 127.0.0.1:40000 ct=new                   accept  rule 1
