// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/layout.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "event/defs.h"
#include "record/module/members.h"

#define MAX_DEPTH 8u /* nesting depth of anonymous structs */
/* Limit of members examined in search of one: damaged structs may contain each other. */
#define MAX_LOOKS (1u << 16)

/*
 * Structs of kernel/sched/, which no header declares for modules; each follows the structs that it
 * contains. All other structs come from the kernel's headers and are only checked.
 */
static const char *const private_structs[] = {
	"uclamp_rq",  "cfs_bandwidth", "rt_rq", "autogroup",
	"task_group", "cfs_rq",	       "rq",	"root_domain"
};

/* A member of a kernel struct. */
struct member {
	const char *of, *name;
	bool exists;
	uint32_t offset, type; /* in bytes; BTF id */
	bool is_bitfield;
};

struct layout {
	const struct btf *kernel;
	struct member *members; /* sorted by struct, then offset */
	size_t nr;
	struct tap_buf *out;
	struct tap_err *err;
};

/* ---- members ---- */

static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

static bool find_in(const struct btf *btf, const struct btf_type *t, const char *name,
		    uint32_t base_bits, unsigned int depth, unsigned int *looks, struct member *out)
{
	const struct btf_member *m = btf_members(t);

	for (unsigned int i = 0; i < btf_vlen(t) && (*looks)++ < MAX_LOOKS; i++, m++) {
		const char *its = btf__name_by_offset(btf, m->name_off);
		uint32_t bits = base_bits + btf_member_bit_offset(t, i);
		const struct btf_type *inner = btf__type_by_id(btf, m->type);

		if (its && !strcmp(its, name)) {
			out->exists = true;
			out->offset = bits / 8;
			out->type = m->type;
			out->is_bitfield = btf_member_bitfield_size(t, i) || bits % 8;
			return true;
		}
		if ((!its || !*its) && inner && btf_is_composite(inner) && depth < MAX_DEPTH &&
		    find_in(btf, inner, name, bits, depth + 1, looks, out))
			return true;
	}
	return false;
}

/* Find a type; BTF_KIND_STRUCT finds definitions only, not declarations. Return: NULL: none. */
static const struct btf_type *find_type(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

static int find_members(struct layout *l, const struct tap_members *wanted)
{
	l->members = calloc(wanted->nr, sizeof(*l->members));
	if (!l->members)
		return tap_err_nomem(l->err);
	for (l->nr = 0; l->nr < wanted->nr; l->nr++) {
		struct member *m = &l->members[l->nr];
		const struct btf_type *t =
			find_type(l->kernel, wanted->v[l->nr].of, BTF_KIND_STRUCT);
		unsigned int looks = 0;

		*m = (struct member){ .of = wanted->v[l->nr].of, .name = wanted->v[l->nr].member };
		if (t)
			find_in(l->kernel, t, m->name, 0, 0, &looks, m);
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->of, y->of);

	if (!order)
		order = (x->offset > y->offset) - (x->offset < y->offset);
	return order ? order : strcmp(x->name, y->name);
}

/* ---- the header ---- */

/* Write a member's declaration in C. Return: false: its type has no name. */
static bool declare_member(struct layout *l, uint32_t id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(l->kernel, id);
	const struct btf_type *to;
	struct tap_buf suffix = { 0 };
	bool ok = true;

	while (t && btf_is_mod(t) && !btf_is_typedef(t))
		t = btf__type_by_id(l->kernel, t->type);
	if (t && btf_is_array(t)) {
		tap_buf_printf(&suffix, "%s[%u]", name, btf_array(t)->nelems);
		ok = declare_member(l, btf_array(t)->type, tap_buf_str(&suffix));
		tap_buf_release(&suffix);
		return ok;
	}
	if (!t || (!*name_of(l->kernel, t) && !btf_is_ptr(t)))
		return false;
	if (btf_is_ptr(t)) {
		to = btf__type_by_id(l->kernel, t->type);
		if (to && (btf_is_struct(to) || (btf_is_fwd(to) && !btf_kflag(to))) &&
		    *name_of(l->kernel, to))
			tap_buf_printf(l->out, "struct %s *%s", name_of(l->kernel, to), name);
		else
			tap_buf_printf(l->out, "void *%s", name);
		return true;
	}
	tap_buf_printf(l->out, "%s%s %s",
		       btf_is_struct(t)	    ? "struct "
		       : btf_is_union(t)    ? "union "
		       : btf_is_any_enum(t) ? "enum "
					    : "",
		       name_of(l->kernel, t), name);
	return true;
}

static bool is_wanted(const struct layout *l, size_t i, const char *of)
{
	return i < l->nr && !strcmp(l->members[i].of, of) && l->members[i].exists &&
	       !l->members[i].is_bitfield;
}

/* Return true if the next member has the same offset, as in a union. */
static bool is_shared(const struct layout *l, size_t i, const char *of)
{
	return is_wanted(l, i + 1, of) && l->members[i + 1].offset == l->members[i].offset;
}

static int define_struct(struct layout *l, const char *name)
{
	const struct btf_type *t = find_type(l->kernel, name, BTF_KIND_STRUCT);
	uint32_t at = 0, end = 0, pads = 0;
	bool in_union = false;

	if (!t)
		return 0;
	tap_buf_printf(l->out, "\nstruct %s {\n", name);
	for (size_t i = 0; i < l->nr; i++) {
		const struct member *m = &l->members[i];
		int64_t size;

		if (!is_wanted(l, i, name))
			continue;
		if (m->offset > at)
			tap_buf_printf(l->out, "\tunsigned char tap_pad%u[%u];\n", pads++,
				       m->offset - at);
		if (!in_union && is_shared(l, i, name))
			tap_buf_puts(l->out, "\tunion {\n");
		in_union |= is_shared(l, i, name);
		tap_buf_puts(l->out, "\t");
		size = btf__resolve_size(l->kernel, m->type);
		if (size < 0 || m->offset < at || !declare_member(l, m->type, m->name))
			return tap_err_set(l->err, -ENODATA,
					   "cannot declare member %s.%s of the kernel's types in C",
					   name, m->name);
		tap_buf_puts(l->out, ";\n");
		if (m->offset + (uint32_t)size > end)
			end = m->offset + (uint32_t)size;
		at = m->offset;
		if (is_shared(l, i, name))
			continue;
		at = end;
		if (in_union)
			tap_buf_puts(l->out, "\t};\n");
		in_union = false;
	}
	if (t->size > at)
		tap_buf_printf(l->out, "\tunsigned char tap_pad%u[%u];\n", pads, t->size - at);
	tap_buf_printf(l->out, "};\n_Static_assert(sizeof(struct %s) == %u, \"struct %s\");\n",
		       name, t->size, name);
	return 0;
}

static void say_what_exists(struct layout *l)
{
	tap_buf_puts(l->out, "\n");
	for (size_t i = 0; i < l->nr; i++)
		tap_buf_printf(l->out, "#define TAP_HAS_%s_%s %d\n", l->members[i].of,
			       l->members[i].name, l->members[i].exists);
	tap_buf_printf(l->out, "#define TAP_HAS_" TAP_CGROUP_FROM_ID " %d\n",
		       find_type(l->kernel, TAP_CGROUP_FROM_ID, BTF_KIND_FUNC) != NULL);
}

/* ---- events ---- */

/* Return: number of arguments that the kernel passes at a tracepoint, or -ENOENT. */
static int tracepoint_args(struct layout *l, const char *tracepoint)
{
	struct tap_buf name = { 0 };
	const struct btf_type *t;

	tap_buf_printf(&name, TAP_TRACEITER "%s", tracepoint);
	t = find_type(l->kernel, tap_buf_str(&name), BTF_KIND_FUNC);
	tap_buf_release(&name);
	t = t ? btf__type_by_id(l->kernel, t->type) : NULL;
	return t && btf_vlen(t) ? btf_vlen(t) - 1 : -ENOENT; /* the first parameter is void *data */
}

/* Return true if a member of @spec, "rq.avg_hw|rq.avg_thermal", exists. */
static bool has_any(const struct layout *l, const char *spec)
{
	for (size_t len; *spec; spec += len + (spec[len] == '|')) {
		size_t of_len = strcspn(spec, ".");

		len = strcspn(spec, "|");
		for (size_t i = 0; i < l->nr; i++) {
			const struct member *m = &l->members[i];

			if (m->exists && strlen(m->of) == of_len && !memcmp(spec, m->of, of_len) &&
			    strlen(m->name) == len - of_len - 1 &&
			    !memcmp(spec + of_len + 1, m->name, len - of_len - 1))
				return true;
		}
	}
	return false;
}

/*
 * Return true if the kernel has one of the event's tracepoints, and it passes the arguments that
 * the probe takes; else @why says why not. Events without hooks do not belong to the module: true.
 */
static bool is_fed(struct layout *l, const struct tap_def *def, struct tap_buf *why)
{
	bool is_fed = false;

	for (unsigned int i = 0; i < def->nr_hooks; i++) {
		const struct tap_hook *h = &def->hooks[i];
		int nr_args = tracepoint_args(l, h->tracepoint);

		if (nr_args >= 0 && (unsigned int)nr_args != h->nr_args) {
			tap_buf_release(why);
			tap_buf_printf(why, "the tracepoint %s passes %d arguments, not %u",
				       h->tracepoint, nr_args, h->nr_args);
			return false;
		}
		tap_buf_printf(why, "%s %s", i ? " or" : "this kernel has no tracepoint",
			       h->tracepoint);
		is_fed |= nr_args >= 0;
	}
	if (is_fed)
		tap_buf_release(why);
	return is_fed || !def->nr_hooks;
}

static bool has_members(const struct layout *l, const struct tap_def *def, struct tap_buf *why)
{
	for (unsigned int i = 0; i < def->nr_needs; i++)
		if (!*def->needs[i].field && !has_any(l, def->needs[i].spec)) {
			tap_buf_printf(why, "this kernel has no member %s", def->needs[i].spec);
			return false;
		}
	return true;
}

static void say_what_is_absent(struct layout *l)
{
	struct tap_buf list = { 0 };
	const struct tap_def *def;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		struct tap_buf why = { 0 };

		if (!strcmp(def->system, "schedtap") &&
		    (!is_fed(l, def, &why) || !has_members(l, def, &why))) {
			tap_buf_printf(&list, " \\\n\t{ \"%s\", \"%s\" },", def->name,
				       tap_buf_str(&why));
			tap_buf_printf(l->out, "#define __event_%s TAP_NO_EVENT(%s)\n", def->name,
				       def->name);
		}
		tap_buf_release(&why);
	}
	tap_buf_printf(l->out, "#define TAP_ABSENT%s\n", tap_buf_str(&list));
	if (list.err)
		l->out->err = list.err;
	tap_buf_release(&list);
}

/*
 * sched_ext's events do not belong to the module, and the kernel's headers show varying parts of
 * its structs.
 */
static bool is_of_sched_ext(const struct member *m)
{
	return !strncmp(m->of, "scx_", strlen("scx_")) ||
	       !strncmp(m->of, "sched_ext_", strlen("sched_ext_"));
}

static void assert_places(struct layout *l)
{
	tap_buf_puts(l->out, "\n");
	for (size_t i = 0; i < l->nr; i++) {
		const struct member *m = &l->members[i];

		if (m->exists && !m->is_bitfield && !is_of_sched_ext(m))
			tap_buf_printf(l->out,
				       "_Static_assert(offsetof(struct %s, %s) == %u, \"%s.%s is "
				       "elsewhere in the running kernel's types\");\n",
				       m->of, m->name, m->offset, m->of, m->name);
	}
}

static int write_header(struct layout *l, const char *from)
{
	int ret = 0;

	/* a // comment, because the path may contain the end of a block comment */
	tap_buf_puts(l->out, "// Made by `schedtap module layout` from ");
	tap_text_escape(l->out, from, strlen(from));
	tap_buf_puts(l->out, ": for this kernel alone.\n"
			     "#ifndef TAP_KMOD_LAYOUT_H\n#define TAP_KMOD_LAYOUT_H\n\n"
			     "#include <linux/binfmts.h>\n#include <linux/cgroup.h>\n"
			     "#include <linux/interrupt.h>\n#include <linux/kernfs.h>\n"
			     "#include <linux/sched.h>\n#include <linux/sched/signal.h>\n"
			     "#include <linux/stddef.h>\n");
	for (size_t i = 0; !ret && i < sizeof(private_structs) / sizeof(*private_structs); i++)
		ret = define_struct(l, private_structs[i]);
	say_what_exists(l);
	say_what_is_absent(l);
	assert_places(l);
	tap_buf_puts(l->out, "\n#endif\n");
	return ret || !l->out->err ? ret : tap_err_nomem(l->err);
}

int tap_layout_write(const struct btf *kernel, const char *from, struct tap_buf *out,
		     struct tap_err *err)
{
	struct layout l = { .kernel = kernel, .out = out, .err = err };
	struct tap_members wanted;
	int ret = tap_members_init(&wanted, err);

	ret = ret ?: find_members(&l, &wanted);
	if (!ret) {
		qsort(l.members, l.nr, sizeof(*l.members), by_place);
		ret = write_header(&l, from);
	}
	free(l.members);
	tap_members_release(&wanted);
	return ret;
}
