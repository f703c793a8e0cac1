/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captures: pcap and pcapng files, packet by packet, through libpcap.
 *
 *     struct capture *c = capture_open(a, "traffic.pcap", &why);
 *     while ((got = capture_next(c, &p)) > 0)
 *             ...
 *     if (got < 0) say(capture_error(c));
 *     capture_close(c);
 *
 * Link types: Ethernet, raw IP, Linux cooked (SLL, SLL2), NFLOG, PPP, BSD null and loop; others are refused by name.
 * Everything but Ethernet is given as an IP packet, with what the pseudo header knew (kind of packet, mark, owner,
 * VLAN tag); what is not IP inside becomes PACKET_LINK_OTHER. Interface names are not in what libpcap gives.
 */
#ifndef WEIR_PACKET_CAPTURE_H
#define WEIR_PACKET_CAPTURE_H

#include "packet/packet.h"

struct capture;

/* path: "-" is standard input. NULL: *why says what is wrong, with the name of the file in it. */
struct capture *capture_open(struct arena *a, const char *path, struct str *why);
/* 1: *out is the next packet, its bytes good until the next call; 0: the end; -1: capture_error(). */
int capture_next(struct capture *c, struct packet *out);
struct str capture_error(const struct capture *c);
const char *capture_link_name(const struct capture *c); /* "EN10MB" */
uint64_t capture_packets(const struct capture *c);	/* given so far */
/* For progress: bytes read so far; the size of the file, or 0 where it has none (a pipe). */
uint64_t capture_bytes_read(const struct capture *c);
uint64_t capture_size(const struct capture *c);
void capture_close(struct capture *c);

#endif
