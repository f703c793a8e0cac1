/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and numbers of the nft front end. See names.h. */
#include "lang/nft/names.h"

#include <strings.h>

static const struct fixed_name {
	enum nft_type type;
	const char *name;
	uint64_t value;
} fixed_names[] = {
#define X(type, name, value) { NFT_TYPE_##type, name, value },
#include "lang/nft/names.def"
#undef X
};
enum { N_FIXED = sizeof fixed_names / sizeof *fixed_names };

static const struct service {
	const char *name;
	uint16_t port;
} services[] = {
#define S(name, port) { name, port },
#include "base/services.def"
#undef S
};

/* How a line of a system file is read: which field is the name, which the number, what parts them. */
static const struct names_file {
	const char *path;
	bool by_colon, value_first, has_aliases;
	uint8_t value_field;
} files[NFT_NAMES_FILES] = {
	[NFT_NAMES_SERVICES] = { "/etc/services", false, false, true, 1 },
	[NFT_NAMES_PROTOCOLS] = { "/etc/protocols", false, false, true, 1 },
	[NFT_NAMES_USERS] = { "/etc/passwd", true, false, false, 2 },
	[NFT_NAMES_GROUPS] = { "/etc/group", true, false, false, 2 },
	[NFT_NAMES_MARKS] = { "/etc/iproute2/rt_marks", false, true, false, 0 },
	[NFT_NAMES_REALMS] = { "/etc/iproute2/rt_realms", false, true, false, 0 },
	[NFT_NAMES_DEVGROUPS] = { "/etc/iproute2/group", false, true, false, 0 },
	[NFT_NAMES_LABELS] = { "/etc/xtables/connlabel.conf", false, true, false, 0 },
};

static int file_of(enum nft_type type)
{
	switch (type) {
	case NFT_TYPE_INET_SERVICE: return NFT_NAMES_SERVICES;
	case NFT_TYPE_INET_PROTO: return NFT_NAMES_PROTOCOLS;
	case NFT_TYPE_UID: return NFT_NAMES_USERS;
	case NFT_TYPE_GID: return NFT_NAMES_GROUPS;
	case NFT_TYPE_MARK: return NFT_NAMES_MARKS;
	case NFT_TYPE_REALM: return NFT_NAMES_REALMS;
	case NFT_TYPE_DEVGROUP: return NFT_NAMES_DEVGROUPS;
	case NFT_TYPE_CT_LABEL: return NFT_NAMES_LABELS;
	default: return -1;
	}
}

/* The first one to say a name has it. */
static void add_name(struct nft_names *n, struct strmap *m, struct str name, uint64_t value)
{
	struct nft_name_value **slot = (struct nft_name_value **)strmap_slot(n->a, m, name);

	if (*slot)
		return;
	*slot = arena_new(n->a, struct nft_name_value, 1);
	(*slot)->value = value;
}

static size_t cut_fields(struct str line, bool by_colon, struct str *field, size_t most)
{
	size_t n = 0, i = 0;

	while (i < line.n && n < most) {
		size_t from = i;

		while (i < line.n && (by_colon ? line.p[i] != ':' : line.p[i] != ' ' && line.p[i] != '\t'))
			i++;
		if (i > from || by_colon)
			field[n++] = str_slice(line, from, i);
		i++;
	}
	return n;
}

static void read_line(struct nft_names *n, enum nft_names_file which, struct str line)
{
	const struct names_file *f = &files[which];
	struct str field[12], rest;
	size_t n_fields;
	uint64_t v;

	line = str_trim(f->by_colon ? line : str_cut(line, '#', &rest, NULL));
	n_fields = cut_fields(line, f->by_colon, field, sizeof field / sizeof *field);
	if (n_fields < 2 || n_fields <= f->value_field)
		return;
	if (!str_u64(str_cut(field[f->value_field], '/', &rest, NULL), f->value_first ? 0 : 10, UINT32_MAX, &v))
		return;
	add_name(n, &n->of_file[which], field[f->value_first ? 1 : 0], v);
	for (size_t i = 2; f->has_aliases && i < n_fields; i++)
		add_name(n, &n->of_file[which], field[i], v);
}

static void read_file(struct nft_names *n, enum nft_names_file which)
{
	struct sources s = { .a = n->a };
	uint32_t id;

	n->is_read[which] = true;
	if (!source_open(&s, files[which].path, &id)) {
		const struct source *src = source_get(&s, id);

		for (uint32_t i = 1; i <= src->n_lines; i++)
			read_line(n, which, source_line(src, i));
	}
	for (size_t i = 0; which == NFT_NAMES_SERVICES && i < sizeof services / sizeof *services; i++)
		add_name(n, &n->of_file[which], str_from(services[i].name), services[i].port);
}

static void fill_fixed(struct nft_names *n)
{
	n->has_fixed = true;
	for (size_t i = 0; i < N_FIXED; i++)
		add_name(n, &n->fixed[fixed_names[i].type], str_from(fixed_names[i].name), fixed_names[i].value);
}

static bool find_day(struct str name, uint64_t *value)
{
	for (size_t i = 0; i < N_FIXED; i++)
		if (fixed_names[i].type == NFT_TYPE_DAY && name.n >= 3 && name.n <= strlen(fixed_names[i].name) &&
		    str_is_nocase(name, fixed_names[i].name)) {
			*value = fixed_names[i].value;
			return true;
		}
	for (size_t i = 0; i < N_FIXED; i++)
		if (fixed_names[i].type == NFT_TYPE_DAY && name.n >= 3 && strncasecmp(name.p, fixed_names[i].name, name.n) == 0) {
			*value = fixed_names[i].value;
			return true;
		}
	return false;
}

bool nft_name_find(struct nft_names *n, enum nft_type type, struct str name, uint64_t *value)
{
	const struct nft_name_value *v;
	int file = file_of(type);

	if (type == NFT_TYPE_DAY)
		return find_day(name, value);
	if (!n->has_fixed)
		fill_fixed(n);
	v = strmap_get(&n->fixed[type], name);
	if (!v && file >= 0) {
		if (!n->is_read[file])
			read_file(n, (enum nft_names_file)file);
		v = strmap_get(&n->of_file[file], name);
	}
	if (v)
		*value = v->value;
	return v != NULL;
}

const char *nft_name_nearest(struct nft_names *n, enum nft_type type, struct str name)
{
	VEC(const char *) all = { 0 };
	int file = file_of(type);

	for (size_t i = 0; i < N_FIXED; i++)
		if (fixed_names[i].type == type)
			*vec_add(n->a, &all) = fixed_names[i].name;
	for (size_t i = 0; file >= 0 && i < n->of_file[file].cap; i++)
		if (n->of_file[file].entry[i].is_used)
			*vec_add(n->a, &all) = arena_cstr(n->a, n->of_file[file].entry[i].key);
	return str_nearest(name, all.v, all.n);
}

bool nft_name_has(enum nft_type type)
{
	if (file_of(type) >= 0)
		return true;
	for (size_t i = 0; i < N_FIXED; i++)
		if (fixed_names[i].type == type)
			return true;
	return false;
}

const char *nft_name_of(enum nft_type type, uint64_t value)
{
	for (size_t i = 0; i < N_FIXED; i++)
		if (fixed_names[i].type == type && fixed_names[i].value == value)
			return fixed_names[i].name;
	return NULL;
}
