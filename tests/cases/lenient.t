# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Spellings that the stock tools refuse or no longer know: read where the meaning is sure, with a warning.

case negation behind the option
rules   -A INPUT -s ! 192.0.2.0/24 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      accept  policy
packet  in=eth0 udp 198.51.100.1:1 > 192.0.2.1:2      drop    rule 1
warn    -A INPUT -s ! 192.0.2.0/24 -j DROP            -       !
print   -A INPUT -s ! 192.0.2.0/24 -j DROP            ! -s 192.0.2.0/24 -j DROP

case a blank before COMMIT
warn    *filter\n-A INPUT -p tcp -j DROP\n COMMIT\n   -       COMMIT

case CRLF line ends
warn    *filter\r\n:INPUT DROP [0:0]\r\nCOMMIT\r\n    -       CR

case old names of options
print   -A INPUT -m state --state NEW -p tcp --destination-port 22 --jump DROP    -p tcp -m state --state NEW -m tcp --dport 22 -j DROP
