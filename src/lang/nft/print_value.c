/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers as nft writes them: by name where their type has a name for them, marks and unknown Ethernet types in hex,
 * addresses, durations ("1h30m") and the clock ("17:00") in their own forms.
 */
#include <time.h>

#include "lang/nft/names.h"
#include "lang/nft/print.h"
#include "policy/addr.h"

/* Backslashes stay as they are: nft knows no escapes but the one in front of a last '*' of an interface's name. */
void nft_print_quoted(struct buf *b, struct str s)
{
	buf_printf(b, "\"%.*s\"", STR_ARG(s));
}

void nft_print_time(struct buf *b, uint64_t ms)
{
	static const struct {
		uint64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" } };

	if (ms == 0)
		buf_printf(b, "0s");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (ms >= units[i].ms)
			buf_printf(b, "%llu%s", (unsigned long long)(ms / units[i].ms), units[i].unit);
		ms %= units[i].ms;
	}
}

static void print_decimal(struct buf *b, u128 v)
{
	char digit[40];
	unsigned n = 0;

	do
		digit[n++] = (char)('0' + (unsigned)(v % 10));
	while (v /= 10);
	while (n)
		buf_add(b, &digit[--n], 1);
}

static void print_hex(struct buf *b, u128 v)
{
	uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;

	if (high)
		buf_printf(b, "0x%llx%016llx", (unsigned long long)high, (unsigned long long)low);
	else
		buf_printf(b, "0x%llx", (unsigned long long)low);
}

static void print_mac(struct buf *b, u128 v)
{
	for (int at = 40; at >= 0; at -= 8)
		buf_printf(b, "%02x%s", (unsigned)(v >> at) & 0xff, at ? ":" : "");
}

/* hour: seconds since midnight. date: nanoseconds since 1970. Both are UTC, as they are in the kernel. */
static void print_clock(struct buf *b, enum nft_type type, u128 v)
{
	time_t s = (time_t)(v / 1000000000u);
	struct tm tm;
	char text[32];

	if (type == NFT_TYPE_TIME) {
		nft_print_time(b, (uint64_t)v);
	} else if (type == NFT_TYPE_HOUR) {
		unsigned sec = (unsigned)v;

		buf_printf(b, "\"%02u:%02u", sec / 3600, sec / 60 % 60);
		buf_printf(b, sec % 60 ? ":%02u\"" : "\"", sec % 60);
	} else {
		strftime(text, sizeof text, "\"%Y-%m-%d %H:%M:%S\"", gmtime_r(&s, &tm));
		buf_printf(b, "%s", text);
	}
}

void nft_print_bits(struct buf *b, enum nft_type type, u128 v, const char *between)
{
	const char *sep = "";

	if (v == 0)
		buf_printf(b, "0x0");
	for (unsigned bit = 0; bit < 128 && v; bit++) {
		u128 one = (u128)1 << bit;
		const char *name = bit < 64 ? nft_name_of(type, (uint64_t)one) : NULL;

		if (!(v & one))
			continue;
		v &= ~one;
		buf_printf(b, "%s", sep);
		if (name)
			buf_printf(b, "%s", name);
		else if (type == NFT_TYPE_CT_LABEL) /* labels are written as their numbers */
			buf_printf(b, "%u", bit);
		else
			print_hex(b, one);
		sep = between;
	}
}

static void print_plain(struct buf *b, enum nft_type type, u128 v)
{
	switch (type) {
	case NFT_TYPE_MARK:
		buf_printf(b, "0x%08x", (unsigned)v);
		break;
	case NFT_TYPE_ETHER_TYPE:
		buf_printf(b, "0x%04x", (unsigned)v);
		break;
	case NFT_TYPE_DSCP:
		buf_printf(b, "0x%02x", (unsigned)v);
		break;
	case NFT_TYPE_CLASSID:
		if (v == 0)
			buf_printf(b, "none");
		else if (v == UINT32_MAX)
			buf_printf(b, "root");
		else
			buf_printf(b, "%x:%x", (unsigned)v >> 16, (unsigned)v & 0xffff);
		break;
	default:
		print_decimal(b, v);
	}
}

void nft_print_number(struct buf *b, enum nft_type type, u128 v, bool with_names)
{
	const char *name = with_names && v <= UINT64_MAX ? nft_name_of(type, (uint64_t)v) : NULL;

	if (name) {
		buf_printf(b, type == NFT_TYPE_DAY ? "\"%s\"" : "%s", name);
		return;
	}
	switch (nft_type_table[type].kind) {
	case NFT_KIND_ADDR4:
		addr_print(b, FAMILY_IP4, v);
		break;
	case NFT_KIND_ADDR6:
		addr_print(b, FAMILY_IP6, v);
		break;
	case NFT_KIND_MAC:
		print_mac(b, v);
		break;
	case NFT_KIND_TIME:
		print_clock(b, type, v);
		break;
	case NFT_KIND_BITMASK:
		nft_print_bits(b, type, v, " | ");
		break;
	default:
		print_plain(b, type, v);
	}
}
