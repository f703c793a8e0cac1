/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differential test of large sets, and of sets that change while packets ask them.
 *
 * 1. Published lists ($WEIR_SHARED/blocklists), dense ones, random networks with exceptions: 100,000 look-ups by the
 *    datapath's own code equal those in a sorted array.
 * 2. A writer changes a set in batches and one by one, while other threads ask: an element that stays is always found,
 *    two that come and go together are never seen apart.
 * 3. A writer that is killed anywhere leaves sets in which the trie says what the elements say, and whole batches.
 *
 * Prints TAP. WEIR_SEED=N: where to begin. TIMEOUT 300
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "classify/tables.h"
#include "datapath/native.h"
#include "lang/lang.h"
#include "sets/setmem.h"
#include "tables/format.h"

enum { LOOKUPS = 100000, LOG2 = 22, COUNTERS = 32, FRAME = 48 };

static unsigned n_tests, n_failed;
static uint64_t seed = 1;

static void result(bool ok, const char *what, const char *detail)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", ++n_tests, what);
	if (detail && *detail)
		printf("# %s\n", detail);
	n_failed += !ok;
	fflush(stdout);
}

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * n >> 31);
}

static u128 dice128(void)
{
	u128 v = 0;

	for (unsigned i = 0; i < 8; i++)
		v = v << 16 | dice(1 << 16);
	return v;
}

/* ---------- one rule that asks one set ---------- */

struct asking {
	struct arena *a;
	struct tables *t;
	struct set *set;
	bool is_ip6;
	uint64_t *word;
	struct setmem m;
	uint32_t id;
};

static bool asking_open(struct asking *k, struct arena *a, const char *type, bool is_ip6, uint64_t *word)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .test_run = true, .sets_apart = true };
	struct ruleset *rs = policy_create(a);
	struct lang_file f;
	struct str create = arena_printf(a, "create s %s family %s maxelem 1000000\n", type, is_ip6 ? "inet6" : "inet");

	lang_read(rs, &d, source_add(&src, "sets", create), LANG_IPSET, &f);
	lang_read(rs, &d, source_add(&src, "rules", STR("*filter\n-A INPUT -m set --match-set s src -j DROP\nCOMMIT\n")),
		  is_ip6 ? LANG_IP6TABLES : LANG_IPTABLES, &f);
	policy_number(rs);
	*k = (struct asking){ .a = a, .is_ip6 = is_ip6, .word = word, .set = policy_set_find(rs, STR("s")) };
	k->t = tables_build(a, rs, &opt, &d);
	return k->t != NULL;
}

static int asking_fill(struct asking *k)
{
	int err;

	setmem_create(&k->m, k->word, LOG2);
	err = setmem_build(&k->m, k->set, NULL, &k->id, NULL);
	if (!err)
		sets_number(&k->t->sets, k->t->word, &k->id); /* the one set's own id is 0 */
	return err;
}

static struct native *make_native(const struct asking *k, struct arena *a)
{
	return native_create(a, &(struct native_tables){ .word = k->t->word, .n_words = k->t->n_words, .n_counters = COUNTERS,
							 .sets = k->word });
}

static bool asks(struct native *n, bool is_ip6, u128 addr)
{
	uint8_t b[FRAME] = { 0 };
	unsigned at = is_ip6 ? 8 : 12, bytes = is_ip6 ? 16 : 4, head = is_ip6 ? 40 : 20;
	struct native_result r;
	struct packet p;

	packet_init(&p);
	b[0] = is_ip6 ? 0x60 : 0x45;
	b[is_ip6 ? 5 : 3] = (uint8_t)(is_ip6 ? 8 : head + 8);
	b[is_ip6 ? 6 : 9] = 17;
	b[is_ip6 ? 7 : 8] = 64;
	for (unsigned i = 0; i < bytes; i++)
		b[at + i] = (uint8_t)(addr >> 8 * (bytes - 1 - i));
	b[head + 5] = 8;
	p.bytes = b;
	p.len = p.wire_len = head + 8;
	p.link = PACKET_LINK_IP;
	native_run(n, DP_POSITION_INPUT_FILTER, &p, 0, 0, &r);
	return r.verdict == NATIVE_DROP;
}

/* ---------- 1. the sorted array ---------- */

struct net {
	u128 lo;
	unsigned plen;
	bool nomatch;
};

static u128 mask_of(bool is_ip6, unsigned plen)
{
	unsigned bits = is_ip6 ? 128 : 32;
	u128 all = is_ip6 ? ~(u128)0 : UINT32_MAX;

	return plen ? all & ~(plen >= bits ? 0 : (((u128)1 << (bits - plen)) - 1)) : 0;
}

static int net_compare(const void *x, const void *y)
{
	const struct net *a = x, *b = y;

	if (a->plen != b->plen)
		return a->plen < b->plen ? -1 : 1;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static bool sorted_says(const struct net *v, size_t n, bool is_ip6, u128 addr)
{
	for (unsigned plen = is_ip6 ? 129 : 33; plen-- > 0;) {
		struct net key = { .lo = addr & mask_of(is_ip6, plen), .plen = plen };
		const struct net *found = bsearch(&key, v, n, sizeof *v, net_compare);

		if (found)
			return !found->nomatch;
	}
	return false;
}

/* Look-ups at elements, at their edges, and anywhere. */
static size_t wrong_answers(struct asking *k, const struct net *v, size_t n)
{
	struct native *nat = make_native(k, k->a);
	size_t wrong = 0;

	for (size_t i = 0; i < LOOKUPS; i++) {
		const struct net *x = &v[dice((uint32_t)n)];
		u128 last = x->lo | (mask_of(k->is_ip6, k->is_ip6 ? 128 : 32) & ~mask_of(k->is_ip6, x->plen));
		u128 at = (u128[]){ x->lo, last, last + 1, x->lo - 1, x->lo ^ (u128)1 << dice(k->is_ip6 ? 128 : 32), dice128() }[i % 6];

		at &= mask_of(k->is_ip6, k->is_ip6 ? 128 : 32);
		wrong += asks(nat, k->is_ip6, at) != sorted_says(v, n, k->is_ip6, at);
	}
	return wrong;
}

static void check(uint64_t *word, const char *what, const char *type, bool is_ip6, struct net *v, size_t n)
{
	struct arena *a = arena_create();
	struct asking k;
	size_t m = 0, wrong;
	char text[200];
	int err;

	qsort(v, n, sizeof *v, net_compare);
	for (size_t i = 0; i < n; i++)
		if (!m || net_compare(&v[m - 1], &v[i]) != 0)
			v[m++] = v[i];
	if (!asking_open(&k, a, type, is_ip6, word)) {
		result(false, what, "the rule is not taken");
		return;
	}
	for (size_t i = 0; i < m; i++) {
		struct set_elem *el = vec_add(a, &k.set->elems);

		el->v[0] = v[i].lo;
		el->plen[0] = (uint8_t)v[i].plen;
		el->nomatch = v[i].nomatch;
	}
	err = asking_fill(&k);
	wrong = err ? 1 : wrong_answers(&k, v, m);
	snprintf(text, sizeof text, "%zu elements; %s, %zu of %d look-ups wrong", m, err ? strerror(-err) : "made", wrong, LOOKUPS);
	result(!err && !wrong, what, text);
	if (!err)
		setmem_close(&k.m);
	arena_destroy(a);
}

/* The addresses of a list; every third /24 with several of them also as a network. */
static size_t read_list(struct net *v, size_t most, const char *name, bool has_nets)
{
	const char *dir = getenv("WEIR_SHARED");
	char path[512], line[64];
	unsigned b[4];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/blocklists/%s", dir ? dir : "../shared", name);
	f = fopen(path, "r");
	while (f && n + 2 < most && fgets(line, sizeof line, f))
		if (sscanf(line, "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]) == 4) {
			uint32_t addr = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];

			v[n++] = (struct net){ .lo = addr, .plen = 32, .nomatch = has_nets && addr % 7 == 0 };
			if (has_nets && (addr >> 8) % 3 == 0)
				v[n++] = (struct net){ .lo = addr & 0xffffff00, .plen = 24 };
		}
	if (f)
		fclose(f);
	return n;
}

static void random_nets(struct net *v, size_t n, bool is_ip6, unsigned low, unsigned high)
{
	for (size_t i = 0; i < n; i++) {
		unsigned plen = low + dice(high - low + 1);
		u128 near = i && dice(2) ? v[dice((uint32_t)i)].lo : dice128();

		v[i] = (struct net){ .lo = (near ^ (u128)dice(256) << dice(24)) & mask_of(is_ip6, plen), .plen = plen,
				     .nomatch = dice(5) == 0 };
	}
}

static void lists_equal_a_sorted_array(uint64_t *word)
{
	enum { MOST = 300000 };
	static const char *const names[] = { "the published list ipsum-level1", "the published list ipsum-level3",
					     "ipsum-level1 with networks and exceptions",
					     "ipsum-level3 with networks and exceptions" };
	struct net *v = malloc(MOST * sizeof *v);
	size_t n;

	for (unsigned i = 0; i < 4; i++) {
		n = read_list(v, MOST, i & 1 ? "ipsum-level3.txt" : "ipsum-level1.txt", i >= 2);
		if (n)
			check(word, names[i], "hash:net", false, v, n);
		else
			printf("ok %u - published list # SKIP WEIR_SHARED has no blocklists\n", ++n_tests);
	}
	n = read_list(v, MOST, "ipsum-level1.txt", false);
	if (n)
		check(word, "the same as addresses", "hash:ip", false, v, n);
	for (n = 0; n < 1 << 17; n++)
		v[n] = (struct net){ .lo = 0x0a000000 + 2 * n, .plen = 32 };
	check(word, "every other address of 10.0.0.0/14", "hash:net", false, v, n);
	for (n = 0; n < 1 << 17; n++)
		v[n] = (struct net){ .lo = 0x0a000000 + n, .plen = 32, .nomatch = n % 3 == 0 };
	check(word, "two of three", "hash:net", false, v, n);
	for (n = 0; n <= 32; n++)
		v[n] = (struct net){ .lo = 0xc0000201 & mask_of(false, (unsigned)n), .plen = (unsigned)n, .nomatch = n & 1 };
	check(word, "one in the other", "hash:net", false, v, n);
	random_nets(v, 100000, false, 1, 32);
	check(word, "random networks", "hash:net", false, v, 100000);
	random_nets(v, 50000, true, 1, 128);
	check(word, "random networks of IPv6", "hash:net", true, v, 50000);
	random_nets(v, 50000, true, 60, 68);
	check(word, "those around /64", "hash:net", true, v, 50000);
	free(v);
}

/* ---------- 2. readers ---------- */

enum { READERS = 2, STAYS = 0x0a010203, COMES = 0x0a020304, WITH = 0xc0000205, NEVER = 0xc6336401 };

struct reading {
	const struct asking *k;
	volatile bool is_over;
	volatile uint64_t rounds[READERS]; /* a grace period: each has begun another one, and another */
	volatile uint64_t missed, apart, strange, asked;
	unsigned me;
};
struct reader {
	struct reading *r;
	unsigned me;
};

/* Apart: between two looks at one, the other was there without it, both times. */
static void *read_all(void *arg)
{
	struct reader *me = arg;
	struct reading *r = me->r;
	struct arena *a = arena_create();
	struct native *n = make_native(r->k, a);

	while (!r->is_over) {
		bool before = asks(n, false, COMES), with = asks(n, false, WITH), after = asks(n, false, COMES);
		bool with_again = asks(n, false, WITH);

		__atomic_add_fetch(&r->missed, !asks(n, false, STAYS), __ATOMIC_RELAXED);
		__atomic_add_fetch(&r->strange, asks(n, false, NEVER), __ATOMIC_RELAXED);
		/* They come together, and go WITH first: COMES may be there alone, WITH never is. */
		__atomic_add_fetch(&r->apart, !before && with && !after && with_again, __ATOMIC_RELAXED);
		__atomic_add_fetch(&r->asked, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&r->rounds[me->me], 1, __ATOMIC_SEQ_CST);
	}
	arena_destroy(a);
	return NULL;
}

static void grace(struct reading *r, struct setmem *m)
{
	for (unsigned i = 0; i < READERS; i++) {
		uint64_t from = r->rounds[i];

		while (r->rounds[i] < from + 2)
			sched_yield();
	}
	setmem_grace(m);
}

static struct set_elem host(uint32_t addr)
{
	return (struct set_elem){ .v = { addr }, .plen = { 32 } };
}

/* Something near the elements that are looked at, so that their nodes are written anew again and again. */
static void stir(struct setmem *m, uint32_t id)
{
	static const uint32_t at[] = { STAYS, COMES, WITH };

	for (unsigned i = dice(40); i--;) {
		unsigned plen = 25 + dice(8);
		struct set_elem el = { .plen = { (uint8_t)plen } };

		el.v[0] = (at[dice(3)] ^ (1u << dice(12)) ^ dice(64)) & mask_of(false, plen);
		if (((el.v[0] ^ STAYS) & mask_of(false, plen)) == 0 || ((el.v[0] ^ COMES) & mask_of(false, plen)) == 0 ||
		    ((el.v[0] ^ WITH) & mask_of(false, plen)) == 0)
			continue;
		if (dice(2))
			setmem_add(m, id, &el);
		else
			setmem_del(m, id, &el);
	}
}

static unsigned write_all(struct reading *r, struct setmem *m, uint32_t id, double seconds)
{
	struct set_elem comes = host(COMES), with = host(WITH);
	struct timespec from, now;
	unsigned n = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		stir(m, id);
		grace(r, m);
		if (setmem_begin(m))
			return 0;
		stir(m, id);
		if (n & 1) {
			setmem_del(m, id, &with);
			setmem_del(m, id, &comes);
		} else {
			setmem_add(m, id, &with);
			setmem_add(m, id, &comes);
		}
		setmem_commit(m);
		stir(m, id);
		grace(r, m);
		n++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (n < 20 || (double)(now.tv_sec - from.tv_sec) + (double)(now.tv_nsec - from.tv_nsec) / 1e9 < seconds);
	return n;
}

static void readers_see_whole_changes(uint64_t *word, const char *type)
{
	struct arena *a = arena_create();
	struct reader reader[READERS];
	pthread_t thread[READERS];
	struct reading r = { 0 };
	struct asking k;
	char text[200];
	unsigned n = 0;

	asking_open(&k, a, type, false, word);
	*vec_add(a, &k.set->elems) = host(STAYS);
	asking_fill(&k);
	r.k = &k;
	for (unsigned i = 0; i < READERS; i++) {
		reader[i] = (struct reader){ &r, i };
		pthread_create(&thread[i], NULL, read_all, &reader[i]);
	}
	n = write_all(&r, &k.m, k.id, 1.5);
	r.is_over = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	snprintf(text, sizeof text, "%s: %u batches, %llu rounds of readers: %llu missed, %llu apart, %llu found what is not there",
		 type, n, (unsigned long long)r.asked, (unsigned long long)r.missed, (unsigned long long)r.apart,
		 (unsigned long long)r.strange);
	result(n > 10 && r.asked > 100 && !r.missed && !r.apart && !r.strange, "readers see whole changes", text);
	setmem_close(&k.m);
	arena_destroy(a);
}

/* ---------- 3. killed ---------- */

static void write_for_ever(uint64_t *word)
{
	struct set_elem comes = host(COMES), with = host(WITH);
	struct setmem m;
	uint32_t id;

	setmem_open(&m, word, 1ul << LOG2);
	id = setmem_find(&m, STR("s"));
	for (bool is_there = setmem_has(&m, id, &comes, NULL);; is_there = !is_there) {
		stir(&m, id);
		setmem_grace(&m);
		setmem_begin(&m);
		if (is_there)
			setmem_del(&m, id, &comes);
		stir(&m, id);
		if (is_there)
			setmem_del(&m, id, &with);
		else if (setmem_add(&m, id, &with) == 0)
			setmem_add(&m, id, &comes);
		setmem_commit(&m);
		setmem_grace(&m);
	}
}

/* The trie says what the elements say, and the two are there together. */
static bool is_whole(const struct asking *k, uint64_t *word, const char **why)
{
	struct set_elem comes = host(COMES), with = host(WITH), el;
	struct net v[20000];
	size_t n = 0;
	uint64_t at = 0;
	struct setmem m;
	uint32_t id;

	*why = "the image cannot be opened";
	if (setmem_open(&m, word, 1ul << LOG2))
		return false;
	setmem_grace(&m);
	id = setmem_find(&m, STR("s"));
	while (n < sizeof v / sizeof *v && setmem_elem(&m, id, &at, &el))
		v[n++] = (struct net){ .lo = el.v[0], .plen = el.plen[0], .nomatch = el.nomatch };
	qsort(v, n, sizeof *v, net_compare);
	*why = "half of a batch is there";
	if (setmem_has(&m, id, &comes, NULL) == setmem_has(&m, id, &with, NULL))
		*why = NULL;
	for (size_t i = 0; i < 3000 && !*why; i++) {
		u128 addr = v[dice((uint32_t)n)].lo ^ dice(16);

		el = host((uint32_t)addr);
		if ((setmem_match(&m, id, &el) == SETMEM_IN) != sorted_says(v, n, false, addr))
			*why = "the trie says something else than the elements";
	}
	(void)k;
	setmem_close(&m);
	return !*why;
}

static void killed_writers_leave_whole_sets(void)
{
	enum { KILLS = 60 };
	uint64_t *word = mmap(NULL, sizeof *word << LOG2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct arena *a = arena_create();
	const char *why = NULL;
	struct asking k;
	unsigned i;

	asking_open(&k, a, "hash:net", false, word);
	*vec_add(a, &k.set->elems) = host(STAYS);
	asking_fill(&k);
	for (i = 0; i < KILLS && !why; i++) {
		struct timespec t = { 0, 1000000 + dice(8000000) };
		pid_t pid = fork();

		if (pid == 0) {
			seed += i;
			write_for_ever(word);
		}
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		is_whole(&k, word, &why);
	}
	result(i == KILLS && !why, "killed writers leave whole sets", why);
	setmem_close(&k.m);
	munmap(word, sizeof *word << LOG2);
	arena_destroy(a);
}

int main(void)
{
	uint64_t *word = calloc((1ul << LOG2) + DP_TABLE_PAD, sizeof *word);

	if (getenv("WEIR_SEED"))
		seed = strtoull(getenv("WEIR_SEED"), NULL, 0);
	printf("# WEIR_SEED=%llu\n", (unsigned long long)seed);
	lists_equal_a_sorted_array(word);
	readers_see_whole_changes(word, "hash:net");
	readers_see_whole_changes(word, "hash:ip");
	killed_writers_leave_whole_sets();
	free(word);
	printf("1..%u\n", n_tests);
	return n_failed != 0;
}
