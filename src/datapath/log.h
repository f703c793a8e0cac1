/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Log: an event for the ring. A full ring loses events, never packets; the lost are counted. The reader polls: waking
 * it up from here would cost every packet. The includer's dp_ifindex() fills in the devices.
 */
#ifndef WEIR_DATAPATH_LOG_H
#define WEIR_DATAPATH_LOG_H

DP_GLOBAL int dp_log_event(DP_CTX *ctx, const struct dp_key *k, u32 counter)
{
	const u64 *gen = dp_map(&dp_generation);
	struct dp_log_event *e;
	u64 len, off;

	if (!k || !gen)
		return -1;
	e = bpf_ringbuf_reserve(&dp_log, sizeof *e, 0);
	if (!e) {
		dp_count_add(k, DP_COUNTER_LOG_LOST);
		return -1;
	}
	off = k->w[DP_W_OFF] >> 24 & 0xff;
	e->time_ns = bpf_ktime_get_ns();
	e->counter = counter;
	e->mark = (u32)k->w[DP_W_MARK];
	dp_ifindex(ctx, e);
	e->length = (u32)k->bytes;
	e->point = (u8)dp_c.point;
	e->slot = (u8)dp_c.slot;
	e->generation = (u32)(*gen >> DP_GEN_SERIAL_SHIFT & DP_GEN_SERIAL_MASK);
	e->pad = 0;
	len = k->bytes < DP_LOG_HEAD ? k->bytes : DP_LOG_HEAD;
	e->head_len = (u16)len;
	if (len == 0 || dp_copy(ctx, (u32)off, (u32)len, e->head))
		e->head_len = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
