// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/dwarf.h"

#include <bpf/btf.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/defs.h"
#include "record/module/members.h"

#define MAX_DEPTH 32u /* nesting depth of types */
#define MAX_UNNAMED 8u /* nesting depth of anonymous structs, as in layout.c */
#define MAX_DIMENSIONS 8u
#define MAX_PARAMS 64u
/* limit of members examined: a few bytes can describe any number of them */
#define MAX_LOOKS (1u << 17)
#define MAX_OFFSET_BITS 0xffffffu /* largest member offset in a struct with bitfields (BTF) */
#define BEING_MADE (-1) /* type in progress; if found again inside itself, the DWARF is damaged */

/* A struct or function that is needed; its first definition is used. */
struct want {
	char name[64];
	int tag; /* DW_TAG_structure_type, DW_TAG_subprogram */
	int id; /* BTF id; 0: not found yet; BEING_MADE */
};

/* A member of a struct; .name is NULL if the struct does not have it. */
struct field {
	const char *name;
	int type; /* BTF id; 0: a type that BTF cannot express */
	uint64_t offset_bits, size_bits; /* size_bits: width of a bitfield, otherwise 0 */
};

struct source {
	struct btf *btf;
	bool is_big_endian;
	struct tap_members wanted;
	struct field *fields; /* one per element of .wanted */
	struct want *wants;
	size_t nr, nr_missing;
	unsigned int looks;
};

/* ---- DWARF ---- */

/* Return the DIE's own name, not that of an abstract origin. NULL: it has none. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, DW_AT_name, &attr));
}

static bool number_of(Dwarf_Die *die, unsigned int what, uint64_t *value)
{
	Dwarf_Attribute attr;

	return !dwarf_formudata(dwarf_attr(die, what, &attr), value);
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attr), type);
}

/* Get the size of a struct, union, enum or base type. Return: false: only a declaration. */
static bool size_of(Dwarf_Die *die, uint32_t *bytes)
{
	uint64_t size;

	if (!number_of(die, DW_AT_byte_size, &size) || size > INT32_MAX)
		return false;
	*bytes = (uint32_t)size;
	return true;
}

/*
 * Get a member's place in its struct as BTF has it: bits from the struct's start. DWARF before
 * version 5 counts a bitfield's offset from the most significant bit of a word of its type.
 */
static bool place_of(const struct source *s, Dwarf_Die *member, struct field *f)
{
	uint64_t bytes = 0, bits, word_bytes;
	Dwarf_Die type;

	f->size_bits = 0;
	number_of(member, DW_AT_bit_size, &f->size_bits);
	if (number_of(member, DW_AT_data_bit_offset, &f->offset_bits))
		return true;
	if (dwarf_hasattr(member, DW_AT_data_member_location) &&
	    (!number_of(member, DW_AT_data_member_location, &bytes) || bytes > INT32_MAX))
		return false;
	f->offset_bits = bytes * 8;
	if (!number_of(member, DW_AT_bit_offset, &bits))
		return true;
	if (!number_of(member, DW_AT_byte_size, &word_bytes) &&
	    (!type_of(member, &type) || dwarf_peel_type(&type, &type) ||
	     !number_of(&type, DW_AT_byte_size, &word_bytes)))
		return false;
	f->offset_bits += s->is_big_endian ? bits : word_bytes * 8 - bits - f->size_bits;
	return true;
}

/* Find a member of @of, or of an anonymous struct or union inside. */
static bool find_member(struct source *s, Dwarf_Die *of, const char *name, uint64_t base_bits,
			unsigned int depth, Dwarf_Die *member, struct field *f)
{
	bool more = !dwarf_child(of, member);

	for (; more && s->looks < MAX_LOOKS; more = !dwarf_siblingof(member, member)) {
		const char *its = name_of(member);
		Dwarf_Die type, inner;

		s->looks++;
		if (dwarf_tag(member) != DW_TAG_member || (its && strcmp(its, name)) ||
		    !place_of(s, member, f))
			continue;
		f->offset_bits += base_bits;
		if (its)
			return true;
		if (depth < MAX_UNNAMED && type_of(member, &type) &&
		    find_member(s, &type, name, f->offset_bits, depth + 1, &inner, f)) {
			*member = inner;
			return true;
		}
	}
	return false;
}

/* ---- from DWARF to BTF ---- */

/* needed because types have members, which have types */
static int add_type(struct source *s, Dwarf_Die *from, unsigned int depth);

static struct want *find_want(struct source *s, int tag, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->wants[i].tag == tag && !strcmp(s->wants[i].name, name))
			return &s->wants[i];
	return NULL;
}

/* libbpf adds members to the type that was added last, so add the types of all members first. */
static int add_struct(struct source *s, struct want *w, Dwarf_Die *die, unsigned int depth)
{
	uint32_t bytes;
	int id, ret = 0;

	if (!size_of(die, &bytes))
		return 0;
	w->id = BEING_MADE;
	s->nr_missing--;
	for (size_t i = 0; i < s->wanted.nr; i++) {
		const struct tap_member *m = &s->wanted.v[i];
		struct field f = { .name = m->member };
		Dwarf_Die member;

		if (strcmp(m->of, w->name) || !find_member(s, die, m->member, 0, 0, &member, &f))
			continue;
		f.type = add_type(s, &member, depth + 1);
		if (f.type == -ENOMEM)
			return f.type;
		s->fields[i] = f;
	}
	id = w->id = btf__add_struct(s->btf, w->name, bytes);
	for (size_t i = 0; id > 0 && !ret && i < s->wanted.nr; i++) {
		const struct field *f = &s->fields[i];

		if (f->name && !strcmp(s->wanted.v[i].of, w->name) &&
		    f->offset_bits <= MAX_OFFSET_BITS)
			ret = btf__add_field(s->btf, f->name, f->type > 0 ? f->type : 0,
					     (uint32_t)f->offset_bits, (uint32_t)f->size_bits);
	}
	return ret == -ENOMEM ? ret : id;
}

/* Add a union, or a struct that may not be in .wants: then only its name and size. */
static int add_struct_or_union(struct source *s, Dwarf_Die *die, unsigned int depth)
{
	const char *name = name_of(die);
	bool is_struct = dwarf_tag(die) == DW_TAG_structure_type;
	struct want *w = name && is_struct ? find_want(s, DW_TAG_structure_type, name) : NULL;
	uint32_t bytes;

	if (w)
		return w->id ? w->id : add_struct(s, w, die, depth);
	if (!size_of(die, &bytes))
		return -EINVAL;
	return is_struct ? btf__add_struct(s->btf, name, bytes)
			 : btf__add_union(s->btf, name, bytes);
}

/*
 * Add a pointer. A struct that it points to is only declared, because it may be the one in
 * progress.
 */
static int add_pointer(struct source *s, Dwarf_Die *die)
{
	Dwarf_Die to;
	const char *name;
	int id = 0;

	if (type_of(die, &to) && dwarf_tag(&to) == DW_TAG_structure_type && (name = name_of(&to)))
		id = btf__add_fwd(s->btf, name, BTF_FWD_STRUCT);
	return id < 0 ? id : btf__add_ptr(s->btf, id);
}

/* Add an array. Several dimensions become arrays of arrays, as in C. */
static int add_array(struct source *s, Dwarf_Die *die, unsigned int depth)
{
	uint64_t nr[MAX_DIMENSIONS];
	unsigned int dims = 0;
	Dwarf_Die dim;
	bool more = !dwarf_child(die, &dim);
	int id;

	for (; more; more = !dwarf_siblingof(&dim, &dim)) {
		if (dwarf_tag(&dim) != DW_TAG_subrange_type)
			continue;
		if (dims == MAX_DIMENSIONS)
			return -EINVAL;
		/* [] has neither attribute; the upper bound of [0] is -1 */
		if (number_of(&dim, DW_AT_upper_bound, &nr[dims]))
			nr[dims]++;
		else if (!number_of(&dim, DW_AT_count, &nr[dims]))
			nr[dims] = 0;
		if (nr[dims++] > UINT32_MAX)
			return -EINVAL;
	}
	id = add_type(s, die, depth + 1);
	while (id > 0 && dims)
		id = btf__add_array(s->btf, 0, id, (uint32_t)nr[--dims]);
	return id;
}

/*
 * Add the type of @from, a member, array or typedef. Return: its BTF id; 0: void; -EINVAL; -ENOMEM.
 */
static int add_type(struct source *s, Dwarf_Die *from, unsigned int depth)
{
	Dwarf_Die die;
	uint32_t bytes;
	const char *name;
	int id;

	if (depth > MAX_DEPTH)
		return -EINVAL;
	if (!type_of(from, &die))
		return 0;
	name = name_of(&die);
	switch (dwarf_tag(&die)) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return add_struct_or_union(s, &die, depth);
	case DW_TAG_pointer_type:
		return add_pointer(s, &die);
	case DW_TAG_array_type:
		return add_array(s, &die, depth);
	case DW_TAG_base_type: /* signedness is not needed */
		return size_of(&die, &bytes) ? btf__add_int(s->btf, name, bytes, 0) : -EINVAL;
	case DW_TAG_enumeration_type:
		return size_of(&die, &bytes) ? btf__add_enum(s->btf, name, bytes) : -EINVAL;
	}
	id = add_type(s, &die, depth + 1);
	if (id < 0)
		return id;
	switch (dwarf_tag(&die)) {
	case DW_TAG_typedef:
		return btf__add_typedef(s->btf, name, id);
	case DW_TAG_const_type:
		return btf__add_const(s->btf, id);
	case DW_TAG_volatile_type:
		return btf__add_volatile(s->btf, id);
	case DW_TAG_restrict_type:
		return btf__add_restrict(s->btf, id);
	}
	return -EINVAL;
}

/* Add a function; only the number of its parameters is used. */
static int add_function(struct source *s, struct want *w, Dwarf_Die *die)
{
	int proto = btf__add_func_proto(s->btf, 0), ret = proto < 0 ? proto : 0;
	unsigned int nr = 0;
	Dwarf_Die child;
	bool more = !dwarf_child(die, &child);

	for (; more && !ret && nr < MAX_PARAMS; more = !dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
			ret = btf__add_func_param(s->btf, NULL, 0);
			nr++;
		}
	if (!ret)
		w->id = btf__add_func(s->btf, w->name, BTF_FUNC_GLOBAL, proto);
	s->nr_missing--;
	return ret ? ret : w->id;
}

/* ---- the search ---- */

static int look_at(struct source *s, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	const char *name;
	struct want *w;

	if (tag != DW_TAG_structure_type && tag != DW_TAG_subprogram)
		return 0;
	name = name_of(die);
	w = name ? find_want(s, tag, name) : NULL;
	if (!w || w->id)
		return 0;
	return tag == DW_TAG_subprogram ? add_function(s, w, die) : add_struct(s, w, die, 0);
}

static int search_units(struct source *s, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die top, die;
	int ret = 0;

	while (ret >= 0 && s->nr_missing &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &top, NULL)) {
		bool more = !dwarf_child(&top, &die);

		for (; more && ret >= 0 && s->nr_missing; more = !dwarf_siblingof(&die, &die))
			ret = look_at(s, &die);
	}
	return ret < 0 ? ret : 0;
}

static void add_want(struct source *s, int tag, const char *prefix, const char *name)
{
	struct want *w = &s->wants[s->nr];

	w->tag = tag;
	snprintf(w->name, sizeof(w->name), "%s%s", prefix, name);
	if (find_want(s, tag, w->name))
		return;
	s->nr++;
	s->nr_missing++;
}

static int init_source(struct source *s, struct tap_err *err)
{
	const struct tap_def *def;
	unsigned int nr_hooks = 0;
	int ret = tap_members_init(&s->wanted, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		nr_hooks += def->nr_hooks;
	s->wants = calloc(s->wanted.nr + nr_hooks + 1, sizeof(*s->wants));
	s->fields = calloc(s->wanted.nr, sizeof(*s->fields));
	s->btf = btf__new_empty();
	if (!s->wants || !s->fields || !s->btf)
		return tap_err_nomem(err);
	for (size_t i = 0; i < s->wanted.nr; i++)
		add_want(s, DW_TAG_structure_type, "", s->wanted.v[i].of);
	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		for (unsigned int k = 0; k < def->nr_hooks; k++)
			add_want(s, DW_TAG_subprogram, TAP_TRACEITER, def->hooks[k].tracepoint);
	add_want(s, DW_TAG_subprogram, "", TAP_CGROUP_FROM_ID);
	return 0;
}

static int search_elf(struct source *s, Dwarf *dwarf, struct tap_err *err)
{
	GElf_Ehdr head;
	int ret;

	if (!gelf_getehdr(dwarf_getelf(dwarf), &head))
		return tap_err_set(err, -ENODATA, "not an ELF file");
	s->is_big_endian = head.e_ident[EI_DATA] == ELFDATA2MSB;
	btf__set_pointer_size(s->btf, head.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8);
	ret = search_units(s, dwarf);
	if (ret)
		return tap_err_set(err, ret, "cannot read the types from DWARF: %s",
				   strerror(-ret));
	for (size_t i = 0; i < s->nr; i++)
		if (s->wants[i].tag == DW_TAG_structure_type && s->wants[i].id)
			return 0;
	return tap_err_set(err, -ENODATA, "the DWARF debug information contains no kernel structs");
}

int tap_dwarf_types(int fd, struct btf **out, struct tap_err *err)
{
	struct source s = { 0 };
	Dwarf *dwarf;
	int ret;

	*out = NULL;
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!dwarf)
		return tap_err_set(err, -ENODATA, "no DWARF: %s", dwarf_errmsg(-1));
	ret = init_source(&s, err) ?: search_elf(&s, dwarf, err);
	if (!ret) {
		*out = s.btf;
		s.btf = NULL;
	}
	btf__free(s.btf);
	free(s.fields);
	free(s.wants);
	tap_members_release(&s.wanted);
	dwarf_end(dwarf);
	return ret;
}
