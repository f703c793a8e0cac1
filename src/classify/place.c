/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of places. The other side of it is datapath/parse.h and kernel.h. */
#include "classify/place.h"

#define L4 DP_W_L4
static const struct place places[FIELD_COUNT] = {
	/*                    known  word        high  shift bits has_word  has_mask        feature */
	[FIELD_IIF] =	    { true, DP_W_IIF1, DP_W_IIF0, 0, 128, DP_W_DEV, DP_HAS_IIF, DP_F_IFACE },
	[FIELD_OIF] =	    { true, DP_W_OIF1, DP_W_OIF0, 0, 128, DP_W_DEV, DP_HAS_OIF, DP_F_IFACE },
	[FIELD_IIF_GROUP] = { true, DP_W_GROUP, 0, 0, 32, DP_W_DEV, DP_HAS_IIF, DP_F_GROUP },
	[FIELD_OIF_GROUP] = { true, DP_W_GROUP, 0, 32, 32, DP_W_DEV, DP_HAS_OIF, DP_F_GROUP },
	[FIELD_MARK] =	    { true, DP_W_MARK, 0, 0, 32, 0, 0, 0 },
	[FIELD_PKTTYPE] =   { true, DP_W_DEV, 0, 32, 8, 0, 0, DP_F_PKTTYPE },
	[FIELD_CPU] =	    { true, DP_W_DEV, 0, 0, 32, 0, 0, 0 },
	[FIELD_UID] =	    { true, DP_W_SOCK, 0, 0, 32, DP_W_DEV, DP_HAS_SOCKET, DP_F_SOCKET },
	[FIELD_GID] =	    { true, DP_W_SOCK, 0, 32, 32, DP_W_DEV, DP_HAS_SOCKET, DP_F_SOCKET },
	[FIELD_HAS_SOCKET] = { true, DP_W_DEV, 0, 43, 1, 0, 0, DP_F_SOCKET },
	[FIELD_REALM] =	    { true, DP_W_OFF, 0, 32, 32, DP_W_DEV, DP_HAS_REALM, DP_F_REALM },
	[FIELD_MAC_SRC] =   { true, DP_W_MACS, 0, 0, 48, DP_W_DEV, DP_HAS_ETHER, DP_F_MAC },
	[FIELD_MAC_DST] =   { true, DP_W_MACD, 0, 0, 48, DP_W_DEV, DP_HAS_ETHER, DP_F_MAC },
	[FIELD_ETHERTYPE] = { true, DP_W_MACS, 0, 48, 16, DP_W_DEV, DP_HAS_ETHER, DP_F_MAC },
	[FIELD_CT_STATE] =  { true, DP_W_CT, 0, 32, 8, 0, 0, DP_F_CT },
	[FIELD_CT_STATUS] = { true, DP_W_CT, 0, 0, 32, DP_W_CT, DP_HAS_CT, DP_F_CT },
	[FIELD_CT_MARK] =   { true, DP_W_MARK, 0, 32, 32, DP_W_CT, DP_HAS_CT, DP_F_CT },
	[FIELD_CT_DIR] =    { true, DP_W_CT, 0, 40, 1, DP_W_CT, DP_HAS_CT, DP_F_CT },
	[FIELD_CT_PROTO] =  { true, DP_W_CT, 0, 48, 8, DP_W_CT, DP_HAS_CT, DP_F_CT },
	[FIELD_SRC] =	    { true, DP_W_SRC_LO, DP_W_SRC_HI, 0, 128, 0, 0, 0 },
	[FIELD_DST] =	    { true, DP_W_DST_LO, DP_W_DST_HI, 0, 128, 0, 0, 0 },
	[FIELD_PROTO] =	    { true, L4, 0, 24, 8, 0, 0, 0 },
	[FIELD_LENGTH] =    { true, DP_W_IP, 0, 32, 20, 0, 0, 0 },
	[FIELD_DST_TYPE] =  { true, DP_W_IP, 0, 52, 12, 0, 0, DP_F_ROUTE },
	[FIELD_TTL] =	    { true, DP_W_IP, 0, 24, 8, 0, 0, 0 },
	[FIELD_TOS] =	    { true, DP_W_IP, 0, 16, 8, 0, 0, 0 },
	[FIELD_FRAG] =	    { true, L4, 0, 13, 1, 0, 0, 0 },
	[FIELD_HDRS] =	    { true, DP_W_IP, 0, 0, 16, 0, 0, DP_F_EXT },
	[FIELD_RT_TYPE] =   { true, DP_W_EXT, 0, 0, 8, L4, DP_HAS_RT, DP_F_EXT },
	[FIELD_RT_LEFT] =   { true, DP_W_EXT, 0, 8, 8, L4, DP_HAS_RT, DP_F_EXT },
	[FIELD_RT_LEN] =    { true, DP_W_EXT, 0, 16, 16, L4, DP_HAS_RT, DP_F_EXT },
	[FIELD_HBH_LEN] =   { true, DP_W_EXT, 0, 32, 16, L4, DP_HAS_HBH, DP_F_EXT },
	[FIELD_DST_LEN] =   { true, DP_W_EXT, 0, 48, 16, L4, DP_HAS_DSTOPT, DP_F_EXT },
	[FIELD_FRAG_ID] =   { true, DP_W_FRAG, 0, 0, 32, L4, DP_HAS_FRAG, DP_F_EXT },
	[FIELD_FRAG_RES] =  { true, DP_W_FRAG, 0, 32, 16, L4, DP_HAS_FRAG, DP_F_EXT },
	[FIELD_FRAG_FIRST] = { true, L4, 0, 14, 1, L4, DP_HAS_FRAG, DP_F_EXT },
	[FIELD_FRAG_MORE] = { true, L4, 0, 15, 1, L4, DP_HAS_FRAG, DP_F_EXT },
	[FIELD_AH_SPI] =    { true, DP_W_AH, 0, 0, 32, L4, DP_HAS_AH, DP_F_EXT },
	[FIELD_AH_LEN] =    { true, DP_W_AH, 0, 32, 16, L4, DP_HAS_AH, DP_F_EXT },
	[FIELD_AH_RES] =    { true, DP_W_AH, 0, 48, 16, L4, DP_HAS_AH, DP_F_EXT },
	[FIELD_SPORT] =	    { true, L4, 0, 48, 16, L4, DP_HAS_PORTS, DP_F_PORTS },
	[FIELD_DPORT] =	    { true, L4, 0, 32, 16, L4, DP_HAS_PORTS, DP_F_PORTS },
	[FIELD_TCP_FLAGS] = { true, L4, 0, 16, 8, L4, DP_HAS_TCP, DP_F_PORTS },
	[FIELD_ICMP] =	    { true, DP_W_L4B, 0, 48, 16, L4, DP_HAS_ICMP, DP_F_PORTS },
	[FIELD_ICMP6] =	    { true, DP_W_L4B, 0, 48, 16, L4, DP_HAS_ICMP6, DP_F_PORTS },
	[FIELD_ESP_SPI] =   { true, DP_W_L4B, 0, 0, 32, L4, DP_HAS_ESP, DP_F_PORTS },
	[FIELD_DCCP_TYPE] = { true, DP_W_FRAG, 0, 48, 8, L4, DP_HAS_DCCP, DP_F_PORTS },
};

struct place place_of(enum field f, bool is_ip4)
{
	struct place p = places[f];

	if (is_ip4 && (f == FIELD_SRC || f == FIELD_DST)) {
		p.bits = 32;
		p.high = 0;
	}
	return p;
}
