# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The packet's mark: tests, writes, and its way to and from the connection.

case a mark and a mark under a mask
rules   -A INPUT -m mark --mark 0x1 -j DROP
rules   -A INPUT -m mark --mark 0x10/0xf0 -j DROP
rules   -A INPUT -m mark ! --mark 0x0/0xff00 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 mark=1 udp 192.0.2.1:1 > 192.0.2.2:2        drop    rule 1
packet  in=eth0 mark=0x21 udp 192.0.2.1:1 > 192.0.2.2:2     drop    policy
packet  in=eth0 mark=0x1f udp 192.0.2.1:1 > 192.0.2.2:2     drop    rule 2
packet  in=eth0 mark=0x0100 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 3

case a packet that says no mark has mark 0
rules   -A INPUT -m mark --mark 0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2               drop    rule 1

case the ways to write a mark
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp --dport 1 -j MARK --set-mark 0x5
rules   -A PREROUTING -p udp --dport 2 -j MARK --set-mark 0x5/0xf
rules   -A PREROUTING -p udp --dport 3 -j MARK --set-xmark 0x5/0xf0
rules   -A PREROUTING -p udp --dport 4 -j MARK --or-mark 0x3
rules   -A PREROUTING -p udp --dport 5 -j MARK --and-mark 0x3
rules   -A PREROUTING -p udp --dport 6 -j MARK --xor-mark 0x3
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:1     accept  policy  mark=0x5
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:2     accept  policy  mark=0xf5
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:3     accept  policy  mark=0xf
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:4     accept  policy  mark=0xfb
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:5     accept  policy  mark=0x2
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:6     accept  policy  mark=0xf9
packet  in=eth0 mark=0xfa udp 192.0.2.1:1 > 192.0.2.2:7     accept  policy  mark=0xfa

case a mark written in one table is seen in the next and by later rules
rules   *mangle
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p udp -j MARK --set-mark 7
rules   -A INPUT -m mark --mark 7 -p udp --dport 2 -j MARK --set-mark 8
rules   COMMIT
rules   *filter
rules   :INPUT DROP [0:0]
rules   -A INPUT -m mark --mark 7 -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1               accept  rule 3  mark=7
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2               drop    policy filter/INPUT  mark=8

case from the connection to the packet and back
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j CONNMARK --restore-mark
rules   -A PREROUTING -m mark --mark 0x9 -j ACCEPT
rules   -A PREROUTING -j MARK --set-mark 0x3
rules   -A PREROUTING -j CONNMARK --save-mark
rules   -A PREROUTING -m connmark --mark 0x3 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1 ct=established ctmark=9     accept  rule 2  mark=9
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1 ct=established ctmark=8     drop    rule 5

case masks of the way to and from the connection
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp --dport 1 -j CONNMARK --restore-mark --nfmask 0xff --ctmask 0xf0
rules   -A PREROUTING -p udp --dport 2 -j CONNMARK --save-mark --nfmask 0xf --ctmask 0xff
rules   -A PREROUTING -p udp --dport 2 -m connmark --mark 0x1204 -j DROP
packet  in=eth0 mark=0x1234 udp 192.0.2.1:1 > 192.0.2.2:1 ct=established ctmark=0xabcd    accept  policy  mark=0x12c0
packet  in=eth0 mark=0x1234 udp 192.0.2.1:1 > 192.0.2.2:2 ct=established ctmark=0x12ff    drop    rule 3

case writing the connection's mark
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j CONNMARK --set-mark 0x5/0xf
rules   -A PREROUTING -m connmark --mark 0xa5 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1 ct=established ctmark=0xaf    drop    rule 2

case a connection's mark that nobody says
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j CONNMARK --restore-mark
rules   -A PREROUTING -m mark --mark 1 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1 ct=established            unknown

case a new connection's mark is 0
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -m connmark --mark 0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1 ct=new                    drop    rule 1

case spelling of marks
print   *mangle\n-A PREROUTING -j MARK --set-mark 1\nCOMMIT             -j MARK --set-xmark 0x1/0xffffffff
print   *mangle\n-A PREROUTING -j MARK --or-mark 0x3\nCOMMIT            -j MARK --set-xmark 0x3/0x3
print   *mangle\n-A PREROUTING -j MARK --and-mark 0x3\nCOMMIT           -j MARK --set-xmark 0x0/0xfffffffc
print   -A INPUT -m mark --mark 1/2 -j DROP                             -m mark --mark 0x1/0x2 -j DROP

case wrong marks
error   -A INPUT -m mark --mark 0x1ffffffff -j DROP                     -       0x1ffffffff
error   *mangle\n-A INPUT -j MARK\nCOMMIT                               -       MARK
