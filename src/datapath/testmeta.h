/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a test says in place of the kernel: a frozen constant, so programs that are not for tests have nothing of it. */
#ifndef WEIR_DATAPATH_TESTMETA_H
#define WEIR_DATAPATH_TESTMETA_H

/* A test run has no devices, no connection, no socket: the test's map stands for them. */
static __always_inline void dp_meta_test(struct dp_key *k)
{
	const struct dp_test_meta *m = dp_map(&dp_meta);

	if (!m)
		return;
	k->w[DP_W_IIF0] = m->iif[0];
	k->w[DP_W_IIF1] = m->iif[1];
	k->w[DP_W_OIF0] = m->oif[0];
	k->w[DP_W_OIF1] = m->oif[1];
	k->w[DP_W_GROUP] = m->iif_group | (u64)m->oif_group << 32;
	k->w[DP_W_MARK] = m->mark | (u64)m->ct_mark << 32;
	k->w[DP_W_CT] = m->ct_status | (u64)m->ct_state << DP_CT_STATE_SHIFT | (m->has_ct ? DP_HAS_CT : 0) |
			(m->ct_dir ? DP_CT_DIR : 0) | (u64)m->ct_proto << 48;
	k->w[DP_W_SOCK] = m->uid | (u64)m->gid << 32;
	k->w[DP_W_DEV] = (k->w[DP_W_DEV] & (DP_HAS_VLAN | 0xfffull << 48)) | m->cpu | (u64)m->pkttype << 32 | (m->iif[0] ? DP_HAS_IIF : 0) | (m->oif[0] ? DP_HAS_OIF : 0) |
			 (m->has_socket ? DP_HAS_SOCKET | DP_IS_SOCKET : 0) | (m->has_mac ? DP_HAS_ETHER : 0) |
			 (m->has_realm ? DP_HAS_REALM : 0);
	k->w[DP_W_MACS] = m->mac_src;
	k->w[DP_W_MACD] = m->mac_dst;
	k->w[DP_W_OFF] |= (u64)m->realm << 32;
}

/* Test runs have linear packets: part of them as if they were not. */
static __always_inline u64 dp_linear_test(u64 linear)
{
	const struct dp_test_meta *m;

	if (!dp_c.test_meta)
		return linear;
	m = dp_map(&dp_meta);
	return m && m->linear && m->linear < linear ? m->linear : linear;
}

static __always_inline void dp_mark_test(const struct dp_key *k)
{
	struct dp_test_meta *m;

	if (!dp_c.test_meta)
		return;
	m = dp_map(&dp_meta);
	if (m)
		m->mark_out = (u32)k->w[DP_W_MARK];
}

#endif
