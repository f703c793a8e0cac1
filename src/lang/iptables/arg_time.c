/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rates, times of day, dates, days.
 *
 * iptables gives the kernel the cost of a packet in ticks and prints back what the ticks amount to, so 60/minute comes
 * back as 1/sec and 7000/second as 10000/sec. Here the written rate is turned into that one at once. A rate in bytes is
 * kept in steps of 16 bytes: 1000b/s is 992b/s.
 */
#include <strings.h>
#include <time.h>

#include "lang/iptables/arg.h"

enum { TICKS_LIMIT = 10000, TICKS_HASHLIMIT = 1000000, DAY_S = 24 * 60 * 60, CHUNK_SHIFT = 4 };

static const struct unit {
	const char *full, *printed;
	uint32_t seconds;
} units[] = {
	{ "day", "day", DAY_S },
	{ "hour", "hour", 60 * 60 },
	{ "minute", "min", 60 },
	{ "second", "sec", 1 },
};
enum { N_UNITS = sizeof(units) / sizeof(*units) };

static struct ipt_value range_value(uint64_t n)
{
	struct ipt_value v = { .kind = IPT_VALUE_RANGE, .range = { n, n } };

	return v;
}

/* ---------- rates in packets ---------- */

/* A unit may be cut short: "s", "sec", "second". 0: none. */
static uint32_t unit_seconds(struct str s)
{
	for (size_t i = 0; i < N_UNITS; i++) {
		if (s.n && s.n <= strlen(units[i].full) && strncasecmp(s.p, units[i].full, s.n) == 0)
			return units[i].seconds;
	}
	return 0;
}

static bool bad_rate(const struct ipt_arg_in *in, struct str s)
{
	struct diag *g = diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is not a rate for --%s", STR_ARG(s), in->row->name);

	diag_hint(in->d, g, "a rate is a whole number and a unit, second, minute, hour or day: 5/minute");
	return false;
}

/* Packets in a unit that cost so many ticks each, as iptables prints it: the smallest unit that loses little. */
static void rate_from_ticks(struct ipt_rate *r, uint64_t ticks, uint64_t ticks_per_s)
{
	size_t i;

	for (i = 1; i < N_UNITS; i++) {
		uint64_t all = units[i].seconds * ticks_per_s;

		if (ticks > all || all / ticks < all % ticks)
			break;
	}
	/* Where even that would be read back as another number of ticks, a larger unit. */
	for (i--; i > 0; i--) {
		uint64_t n = units[i].seconds * ticks_per_s / ticks;

		if (n && units[i].seconds * ticks_per_s / n == ticks)
			break;
	}
	*r = (struct ipt_rate){
		.units = units[i].seconds * ticks_per_s / ticks,
		.per_s = units[i].seconds,
		.ticks = ticks,
	};
}

static bool parse_packet_rate(const struct ipt_arg_in *in, struct ipt_value *v, uint64_t ticks_per_s)
{
	struct str s = in->w->text, unit;
	bool has_unit;
	struct str number = str_cut(s, '/', &unit, &has_unit);
	uint32_t seconds = has_unit ? unit_seconds(unit) : 1;
	uint64_t n, ticks;

	if (!seconds || !str_u64(number, 10, UINT32_MAX, &n) || n == 0)
		return bad_rate(in, s);
	ticks = ticks_per_s * seconds / n;
	if (n / seconds > ticks_per_s || ticks == 0) {
		diag_error(in->d, ipt_arg_at(in, s), "rate too fast: '%.*s'; the kernel counts up to %llu in a second", STR_ARG(s),
			   (unsigned long long)ticks_per_s);
		return false;
	}
	v->kind = IPT_VALUE_RATE;
	rate_from_ticks(&v->rate, ticks, ticks_per_s);
	v->rate.written = n;
	v->rate.written_s = seconds;
	return true;
}

static void print_packet_rate(struct buf *b, const struct ipt_rate *r)
{
	for (size_t i = 0; i < N_UNITS; i++) {
		if (units[i].seconds == r->per_s)
			buf_printf(b, "%llu/%s", (unsigned long long)r->units, units[i].printed);
	}
}

bool ipt_parse_rate(const struct ipt_arg_in *in, struct ipt_value *v)
{
	return parse_packet_rate(in, v, TICKS_LIMIT);
}

void ipt_print_rate(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	print_packet_rate(b, &o->v.rate);
}

/* ---------- rates in bytes ---------- */

/* 512kb -> 524288. false: no number with such a suffix. */
static bool bytes_with_suffix(struct str s, uint64_t *bytes)
{
	uint64_t factor = 1;

	if (s.n == 0 || (s.p[s.n - 1] != 'b' && s.p[s.n - 1] != 'B'))
		return false;
	s.n--;
	if (s.n && (s.p[s.n - 1] == 'k' || s.p[s.n - 1] == 'K'))
		factor = 1024;
	else if (s.n && (s.p[s.n - 1] == 'm' || s.p[s.n - 1] == 'M'))
		factor = 1024 * 1024;
	if (factor > 1)
		s.n--;
	if (!str_u64(s, 10, UINT32_MAX, bytes))
		return false;
	*bytes *= factor;
	return true;
}

/* What the kernel is given for a rate in bytes, and the rate that it stands for. */
static uint64_t byte_cost(uint64_t bytes)
{
	return UINT32_MAX / ((bytes >> CHUNK_SHIFT) + 1);
}

static uint64_t bytes_of_cost(uint64_t cost)
{
	return (UINT32_MAX / cost - 1) << CHUNK_SHIFT;
}

/* That rate in the largest unit that is read back as the same cost. */
static uint64_t bytes_printed(uint64_t cost)
{
	uint64_t bytes = bytes_of_cost(cost);

	for (uint64_t unit = 1024 * 1024; unit > 1; unit /= 1024) {
		uint64_t whole = bytes / unit * unit;

		if (whole && byte_cost(whole) == cost)
			return whole;
	}
	return bytes;
}

static bool parse_byte_rate(const struct ipt_arg_in *in, struct ipt_value *v, uint64_t bytes, struct str unit)
{
	struct str s = in->w->text;
	uint64_t cost;

	if (unit_seconds(unit) != 1) {
		struct diag *g = diag_error(in->d, ipt_arg_at(in, s), "a rate in bytes is per second: '%.*s'", STR_ARG(s));

		diag_hint(in->d, g, "iptables would take it for that many packets; write it as 512kb/s");
		return false;
	}
	if (bytes < 1 << CHUNK_SHIFT || bytes > UINT32_MAX) {
		diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is out of range: 16 bytes to 4095 megabytes in a second", STR_ARG(s));
		return false;
	}
	cost = byte_cost(bytes);
	v->kind = IPT_VALUE_RATE;
	v->rate = (struct ipt_rate){
		.units = bytes_printed(cost),
		.per_s = 1,
		.ticks = cost,
		.by_bytes = true,
		.written = bytes,
		.written_s = 1,
	};
	return true;
}

bool ipt_parse_hashrate(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str unit;
	bool has_unit;
	struct str number = str_cut(in->w->text, '/', &unit, &has_unit);
	uint64_t bytes;

	if (bytes_with_suffix(number, &bytes))
		return parse_byte_rate(in, v, bytes, unit);
	return parse_packet_rate(in, v, TICKS_HASHLIMIT);
}

static void print_bytes(struct buf *b, uint64_t bytes)
{
	unsigned long long n = bytes;

	if (n >= 1024 * 1024 && n % (1024 * 1024) == 0)
		buf_printf(b, "%llumb", n / (1024 * 1024));
	else if (n >= 1024 && n % 1024 == 0)
		buf_printf(b, "%llukb", n / 1024);
	else
		buf_printf(b, "%llub", n);
}

void ipt_print_hashrate(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	if (!o->v.rate.by_bytes) {
		print_packet_rate(b, &o->v.rate);
		return;
	}
	print_bytes(b, o->v.rate.units);
	buf_printf(b, "/s");
}

/* Packets, or bytes with a suffix: the fold (fold.c) makes one number of both, seeing the rate. */
bool ipt_parse_burst(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	uint64_t n;

	if (bytes_with_suffix(s, &n)) {
		v->kind = IPT_VALUE_RATE;
		v->rate = (struct ipt_rate){ .units = n, .by_bytes = true };
		return true;
	}
	if (!ipt_arg_number(in, s, UINT32_MAX, &n))
		return false;
	*v = range_value(n);
	return true;
}

uint64_t ipt_arg_burst_seconds(const struct ipt_rate *rate, uint64_t bytes)
{
	uint64_t second = bytes_of_cost(rate->ticks);

	return (bytes + second - 1) / second;
}

void ipt_arg_print_byte_burst(struct buf *b, const struct ipt_rate *rate, uint64_t burst)
{
	uint64_t n = burst / rate->units, bytes = n * bytes_of_cost(rate->ticks);

	for (uint64_t unit = 1024 * 1024; unit > 1; unit /= 1024) {
		uint64_t whole = bytes / unit * unit;

		if (whole && ipt_arg_burst_seconds(rate, whole) == n) {
			buf_printf(b, "%llu%cb", (unsigned long long)(whole / unit), unit == 1024 ? 'k' : 'm');
			return;
		}
	}
	buf_printf(b, "%llub", (unsigned long long)bytes);
}

void ipt_print_burst(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_num(b, f, o);
}

/* ---------- clock, calendar ---------- */

/* Reads digits of s from *i, at most n of them. */
static bool digits(struct str s, size_t *i, size_t n, unsigned *out)
{
	size_t start = *i;

	*out = 0;
	while (*i < s.n && *i < start + n && s.p[*i] >= '0' && s.p[*i] <= '9')
		*out = *out * 10 + (unsigned)(s.p[(*i)++] - '0');
	return *i > start;
}

static bool separator(struct str s, size_t *i, char c)
{
	if (*i >= s.n || s.p[*i] != c)
		return false;
	(*i)++;
	return true;
}

/* hh:mm[:ss] */
bool ipt_parse_clock(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	unsigned h = 0, m = 0, sec = 0;
	size_t i = 0;
	bool ok = digits(s, &i, 2, &h) && separator(s, &i, ':') && digits(s, &i, 2, &m);

	if (ok && i < s.n)
		ok = separator(s, &i, ':') && digits(s, &i, 2, &sec);
	if (!ok || i != s.n || h > 23 || m > 59 || sec > 59) {
		diag_error(in->d, in->w->at, "'%.*s' is not a time of day: hh:mm or hh:mm:ss, up to 23:59:59", STR_ARG(s));
		return false;
	}
	*v = range_value(h * 3600 + m * 60 + sec);
	return true;
}

void ipt_print_clock(struct buf *b, enum family f, const struct ipt_opt *o)
{
	unsigned t = (unsigned)o->v.range.lo;

	(void)f;
	buf_printf(b, "%02u:%02u:%02u", t / 3600, t / 60 % 60, t % 60);
}

/* YYYY[-MM[-DD[Thh[:mm[:ss]]]]] */
static bool date_parts(struct str s, struct tm *tm)
{
	static const char sep[] = { 0, '-', '-', 'T', ':', ':' };
	unsigned part[6] = { 0, 1, 1, 0, 0, 0 };
	size_t i = 0;

	for (size_t k = 0; k < 6 && (k == 0 || i < s.n); k++) {
		if ((k && !separator(s, &i, sep[k])) || !digits(s, &i, k ? 2 : 4, &part[k]))
			return false;
	}
	*tm = (struct tm){
		.tm_year = (int)part[0] - 1900, .tm_mon = (int)part[1] - 1, .tm_mday = (int)part[2],
		.tm_hour = (int)part[3],	.tm_min = (int)part[4],	    .tm_sec = (int)part[5],
	};
	return i == s.n && part[0] >= 1970 && part[0] <= 2038 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 &&
	       part[2] <= 31 && part[3] <= 23 && part[4] <= 59 && part[5] <= 59;
}

bool ipt_parse_date(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	struct tm tm;
	int day;

	if (!date_parts(s, &tm)) {
		struct diag *g = diag_error(in->d, in->w->at, "'%.*s' is not a date from 1970 to 2038", STR_ARG(s));

		diag_hint(in->d, g, "write YYYY[-MM[-DD[Thh[:mm[:ss]]]]], like 2024-05-31T18:00");
		return false;
	}
	day = tm.tm_mday;
	*v = range_value((uint64_t)timegm(&tm));
	if (tm.tm_mday != day)
		diag_warn(in->d, in->w->at, "odd-date", "there is no such day; it is read as %04d-%02d-%02d", tm.tm_year + 1900,
			  tm.tm_mon + 1, tm.tm_mday);
	return true;
}

void ipt_print_date(struct buf *b, enum family f, const struct ipt_opt *o)
{
	time_t t = (time_t)o->v.range.lo;
	struct tm tm;

	(void)f;
	gmtime_r(&t, &tm);
	buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		   tm.tm_sec);
}

/* ---------- days ---------- */

bool ipt_parse_monthdays(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str rest = in->w->text;
	bool more = true;

	v->kind = IPT_VALUE_BITS;
	v->bits = 0;
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		uint64_t day;

		if (!str_u64(one, 10, 31, &day) || day == 0) {
			diag_error(in->d, ipt_arg_at(in, one), "'%.*s' is not a day of the month: 1 to 31", STR_ARG(one));
			return false;
		}
		v->bits |= (uint64_t)1 << day;
	}
	return true;
}

void ipt_print_monthdays(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const char *sep = "";

	(void)f;
	for (unsigned day = 1; day <= 31; day++) {
		if (!(o->v.bits >> day & 1))
			continue;
		buf_printf(b, "%s%u", sep, day);
		sep = ",";
	}
}

/* 1 (Monday) to 7, or a name of two letters and more: "Mo", "mon", "Monday". 0: none. */
static unsigned weekday(struct str s)
{
	static const char *const names[] = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday" };
	uint64_t n;

	if (str_u64(s, 10, 7, &n))
		return (unsigned)n;
	for (unsigned i = 0; i < 7; i++) {
		if (s.n >= 2 && s.n <= strlen(names[i]) && strncasecmp(s.p, names[i], s.n) == 0)
			return i + 1;
	}
	return 0;
}

bool ipt_parse_weekdays(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str rest = in->w->text;
	bool more = true;

	v->kind = IPT_VALUE_BITS;
	v->bits = 0;
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		unsigned day = weekday(one);

		if (!day) {
			diag_error(in->d, ipt_arg_at(in, one), "'%.*s' is not a day of the week: Mon to Sun, or 1 (Monday) to 7",
				   STR_ARG(one));
			return false;
		}
		v->bits |= (uint64_t)1 << day;
	}
	return true;
}

void ipt_print_weekdays(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const char *sep = "";

	(void)f;
	for (const struct ipt_name *r = ipt_names_weekday; r->name; r++) {
		if (!(o->v.bits >> r->value & 1))
			continue;
		buf_printf(b, "%s%s", sep, r->name);
		sep = ",";
	}
}
