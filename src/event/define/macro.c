// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/macro.h"

static uint64_t hash_name(struct span name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.s[i]) * 0x100000001b3ULL;
	return h;
}

static bool is_same(struct span a, struct span b)
{
	return a.len == b.len && !memcmp(a.s, b.s, a.len);
}

static struct tap_macro *find_macro(const struct tap_macros *m, struct span name)
{
	const uint64_t *first = tap_map_get(&m->by_hash, hash_name(name));
	struct tap_macro *macro = first ? (struct tap_macro *)(uintptr_t)*first : NULL;

	while (macro && !is_same(macro->name, name))
		macro = macro->next;
	return macro;
}

struct tap_macro *tap_macro_find(const struct tap_macros *m, struct span name)
{
	struct tap_macro *macro = find_macro(m, name);

	return macro && macro->is_defined ? macro : NULL;
}

struct tap_macro *tap_macro_get(struct tap_macros *m, struct span name)
{
	struct tap_macro *macro = find_macro(m, name);
	uint64_t *first;

	if (macro)
		return macro;
	macro = tap_arena_get(m->arena, sizeof(*macro));
	first = macro ? tap_map_put(&m->by_hash, hash_name(name)) : NULL;
	if (!first)
		return NULL;
	macro->name = name;
	macro->next = (struct tap_macro *)(uintptr_t)*first;
	*first = (uint64_t)(uintptr_t)macro;
	return macro;
}

unsigned int tap_macro_param(const struct tap_macro *m, const struct tap_token *t)
{
	unsigned int i = 0;

	while (i < m->nr_params && !(t->kind == TOKEN_WORD && is_same(m->params[i].text, t->text)))
		i++;
	return i;
}
