// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/refusal.h"
#include "event/span.h"
#include "record/machine.h"
#include "record/program/attach.h"

/* name prefix of the typedef of a tracepoint's probe; its first argument is void *data */
#define TRACEPOINT_PREFIX "btf_trace_"
#define CAST "bpf_rdonly_cast"

struct tap_kernel {
	/* hash of a name -> number of arguments of a tracepoint; 1: of "struct.member" or CAST */
	struct tap_map names;
	struct btf *btf;
};

/* FNV-1a: the names come from the kernel, so collisions are not provoked */
#define HASH_START 0xcbf29ce484222325ULL

static uint64_t hash_bytes(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash_name(const char *prefix, const char *name)
{
	return hash_bytes(hash_bytes(HASH_START, prefix, strlen(prefix)), name, strlen(name));
}

static int add_tracepoint(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t,
			  const char *name)
{
	const struct btf_type *ptr = btf__type_by_id(btf, t->type), *proto;

	proto = ptr && btf_is_ptr(ptr) ? btf__type_by_id(btf, ptr->type) : NULL;
	if (!proto || !btf_is_func_proto(proto) || !btf_vlen(proto))
		return 0;
	return tap_map_set(&k->names, hash_name("", name), btf_vlen(proto) - 1u);
}

/* Members of anonymous structs and unions belong to the struct that contains them. */
static int add_members(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t,
		       const char *prefix, unsigned int depth)
{
	const struct btf_member *m = btf_members(t);
	int ret = 0;

	for (unsigned int i = 0; !ret && i < btf_vlen(t); i++, m++) {
		const char *name = btf__name_by_offset(btf, m->name_off);
		const struct btf_type *inner = btf__type_by_id(btf, m->type);

		if (name && *name)
			ret = tap_map_set(&k->names, hash_name(prefix, name), 1);
		else if (inner && btf_is_composite(inner) && depth < 8)
			ret = add_members(k, btf, inner, prefix, depth + 1);
	}
	return ret;
}

/*
 * Take the next alternative of a TRACE_NEEDS() and return its struct: "rq" of
 * "rq.avg_hw|rq.avg_thermal". "": no alternative is left.
 */
static struct span next_struct(const char **spec)
{
	struct span of = { *spec, strcspn(*spec, ".|") };

	*spec = strchrnul(*spec, '|');
	*spec += **spec == '|';
	return of;
}

/* Return: whether a built-in definition needs a member of this struct. */
static bool is_needed(const char *name)
{
	const struct tap_def *def;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		for (unsigned int k = 0; k < def->nr_needs; k++)
			for (const char *spec = def->needs[k].spec; *spec;)
				if (span_is(next_struct(&spec), name))
					return true;
	return false;
}

static int add_struct(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t,
		      const char *name)
{
	char prefix[128];

	if (strlen(name) >= sizeof(prefix) - 2)
		return 0;
	snprintf(prefix, sizeof(prefix), "%s.", name);
	return add_members(k, btf, t, prefix, 0);
}

static int add_type(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	if (!name || !*name)
		return 0;
	if (btf_is_func(t) && !strcmp(name, CAST))
		return tap_map_set(&k->names, hash_name("", name), 1);
	if (btf_is_typedef(t) && !strncmp(name, TRACEPOINT_PREFIX, strlen(TRACEPOINT_PREFIX)))
		return add_tracepoint(k, btf, t, name + strlen(TRACEPOINT_PREFIX));
	return btf_is_struct(t) && is_needed(name) ? add_struct(k, btf, t, name) : 0;
}

int tap_kernel_new(struct tap_kernel **out, struct tap_err *err)
{
	/* libbpf would print the failure to stderr */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__load_vmlinux_btf();
	struct tap_kernel *k;
	int ret;

	libbpf_set_print(print);
	*out = NULL;
	if (!btf)
		return tap_err_set(err, -EOPNOTSUPP,
				   "the kernel has no BTF (/sys/kernel/btf/vmlinux): boot a kernel "
				   "built with CONFIG_DEBUG_INFO_BTF=y");
	k = calloc(1, sizeof(*k));
	ret = k ? 0 : -ENOMEM;
	if (k && tap_machine_capacity(0) >= 0)
		ret = tap_map_set(&k->names, hash_name("", "sys.cpu_capacity"), 1);
	for (unsigned int id = 1; !ret && id < btf__type_cnt(btf); id++)
		ret = add_type(k, btf, btf__type_by_id(btf, id));
	if (k)
		k->btf = btf;
	else
		btf__free(btf);
	if (ret) {
		tap_kernel_free(k);
		return tap_err_set(err, ret, "out of memory");
	}
	*out = k;
	return 0;
}

int tap_kernel_learn(struct tap_kernel *k, const struct tap_def *def)
{
	int ret = 0;

	for (unsigned int i = 0; i < def->nr_needs; i++)
		for (const char *spec = def->needs[i].spec; !ret && *spec;) {
			struct span of = next_struct(&spec);
			char name[128];
			int id;

			snprintf(name, sizeof(name), "%.*s", (int)of.len, of.s);
			id = btf__find_by_name_kind(k->btf, name, BTF_KIND_STRUCT);
			if (id > 0)
				ret = add_struct(k, k->btf, btf__type_by_id(k->btf, (uint32_t)id),
						 name);
		}
	return ret;
}

void tap_kernel_free(struct tap_kernel *k)
{
	if (!k)
		return;
	tap_map_release(&k->names);
	tap_kernel_drop_btf(k);
	free(k);
}

const struct btf *tap_kernel_btf(const struct tap_kernel *k)
{
	return k->btf;
}

void tap_kernel_drop_btf(struct tap_kernel *k)
{
	btf__free(k->btf);
	k->btf = NULL;
}

bool tap_kernel_has_cast(const struct tap_kernel *k)
{
	return tap_map_get(&k->names, hash_name("", CAST));
}

/* Return: the number of arguments that the tracepoint passes, or -ENOENT. */
static int tracepoint_args(const struct tap_kernel *k, const char *name)
{
	const uint64_t *nr = tap_map_get(&k->names, hash_name("", name));

	return nr ? (int)*nr : -ENOENT;
}

/* Return: whether the kernel has one of the alternatives of a TRACE_NEEDS(). */
static bool has_any(const struct tap_kernel *k, const char *spec)
{
	const char *end;

	for (;; spec = end + 1) {
		end = strchrnul(spec, '|');
		if (tap_map_get(&k->names, hash_bytes(HASH_START, spec, (size_t)(end - spec))))
			return true;
		if (!*end)
			return false;
	}
}

static const struct tap_need *missing_need(const struct tap_kernel *k, const struct tap_def *def,
					   const char *field)
{
	for (unsigned int i = 0; i < def->nr_needs; i++)
		if (!strcmp(def->needs[i].field, field) && !has_any(k, def->needs[i].spec))
			return &def->needs[i];
	return NULL;
}

/*
 * Return: whether BPF must not use the tracepoint. With CONFIG_PREEMPT_RCU (task_struct then has
 * the member), rcu_read_unlock() may set need_resched, whose tracepoint fires before the flag is
 * set. The rcu_read_unlock() after a BPF program then does this again, until the stack overflows:
 * seen as a panic on v7.2. The recursion is outside of the program, so the program cannot prevent
 * it.
 */
static bool is_dangerous(const struct tap_kernel *k, const struct tap_hook *hook)
{
	return !strcmp(hook->tracepoint, "sched_set_need_resched_tp") &&
	       has_any(k, "task_struct.rcu_read_unlock_special");
}

const struct tap_hook *tap_kernel_hook(const struct tap_kernel *k, const struct tap_def *def,
				       struct tap_buf *why)
{
	const struct tap_need *need = missing_need(k, def, "");
	const struct tap_hook *h = NULL, *last = NULL;

	for (unsigned int i = 0; !h && i < def->nr_hooks; i++) {
		last = &def->hooks[i];
		if (tap_hook_is_probe(last)
			    ? tap_attach_knows_probes()
			    : tracepoint_args(k, last->tracepoint) >= (int)last->nr_args)
			h = last;
	}
	if (h && !need && !is_dangerous(k, h))
		return h;
	if (!last)
		tap_buf_puts(why, "written by the recorder itself");
	else if (!h && tap_hook_is_probe(last))
		tap_buf_puts(why, tap_refusal_why(TAP_STEP_UPROBE, ENOENT));
	else if (!h && tracepoint_args(k, last->tracepoint) >= 0)
		tap_buf_printf(why, "the kernel's %s passes fewer arguments", last->tracepoint);
	else if (!h)
		tap_buf_printf(why, "the kernel's BTF has no tracepoint %s", last->tracepoint);
	else if (need)
		tap_buf_printf(why, "the kernel is built without %s", need->spec);
	else
		tap_buf_puts(why, "with CONFIG_PREEMPT_RCU a BPF program on this tracepoint can "
				  "recurse and panic the kernel");
	return NULL;
}

void tap_kernel_absent(const struct tap_kernel *k, const struct tap_def *def, bool *absent)
{
	for (unsigned int i = 0; i < def->nr_fields; i++)
		absent[i] = missing_need(k, def, def->fields[i].name);
}
