/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the machine knows about packets, as callers say it: see weir.h. */
#include "api/api.h"

enum { FACTS_MADE = 0x77656972 };

/* What lies in a struct weir_facts. */
struct facts {
	struct native_facts native;
	uint32_t said, made;
};
_Static_assert(sizeof(struct facts) <= sizeof(struct weir_facts), "struct weir_facts is large enough");

static bool set_name(char name[16], bool *is_said, const char *text)
{
	if (!text)
		return true;
	if (strlen(text) > 15)
		return false;
	strcpy(name, text);
	*is_said = true;
	return true;
}

static bool set_socket(struct packet *p, const struct weir_said *said)
{
	if (!(said->facts & WEIR_FACT_SOCKET))
		return true;
	p->uid = said->uid;
	p->gid = said->gid;
	return said->uid == -2 ? said->gid == -2 :
	       said->uid >= 0 && said->uid <= UINT32_MAX && said->gid >= 0 && said->gid <= UINT32_MAX;
}

static bool set_packet(struct packet *p, const struct weir_said *said)
{
	packet_init(p);
	if (said->facts & WEIR_FACT_PKTTYPE)
		p->pkttype = (int)said->pkttype;
	if (said->facts & WEIR_FACT_CPU)
		p->cpu = said->cpu;
	if (said->facts & WEIR_FACT_REALM)
		p->realm = said->realm;
	if (said->vlan)
		p->vlan_meta = said->vlan & 0xffff;
	return set_name(p->iif, &p->has_iif, said->in) && set_name(p->oif, &p->has_oif, said->out) && set_socket(p, said) &&
	       said->pkttype <= 255 && (!said->vlan || said->vlan >> 16 == 1);
}

enum weir_error weir_facts_set(struct weir_facts *facts, const struct weir_said *said)
{
	uint32_t known = WEIR_FACT_SOCKET | WEIR_FACT_PKTTYPE | WEIR_FACT_CPU | WEIR_FACT_REALM;
	struct facts f = { .made = FACTS_MADE };
	struct packet p;

	if (!facts || !said || said->size < sizeof *said || (said->facts & ~known) || !set_packet(&p, said))
		return WEIR_ERROR_USE;
	native_facts_read(&f.native, &p);
	f.native.is_local = p.has_iif && !p.iif[0];
	f.said = said->facts | (p.has_iif ? WEIR_FACT_IN : 0) | (p.has_oif ? WEIR_FACT_OUT : 0);
	memset(facts, 0, sizeof *facts);
	memcpy(facts, &f, sizeof f);
	return WEIR_OK;
}

const struct native_facts *said_read(const struct weir_facts *facts, uint32_t *said)
{
	static const struct facts nothing;
	const struct facts *f = (const struct facts *)(const void *)facts;

	if (!f || f->made != FACTS_MADE)
		f = &nothing;
	*said = f->said;
	return &f->native;
}

uint32_t said_lack(uint32_t asks, uint32_t said, unsigned ct)
{
	if (ct != WEIR_CT_NOT_SAID)
		said |= WEIR_FACT_CT;
	if (ct == WEIR_CT_INVALID || ct == WEIR_CT_UNTRACKED) /* no connection: nothing more to say */
		said |= WEIR_FACT_CT_MARK | WEIR_FACT_CT_MORE;
	return asks & ~said;
}
