/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A packet about which nothing is known yet. See packet.h. */
#include "packet/packet.h"

void packet_init(struct packet *p)
{
	*p = (struct packet){
		.link = PACKET_LINK_IP,
		.vlan_meta = -1,
		.ct = -1,
		.pkttype = -1,
		.uid = -1,
		.gid = -1,
		.cpu = -1,
		.realm = -1,
	};
}
