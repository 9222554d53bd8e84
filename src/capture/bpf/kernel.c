// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/bpf/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/machine.h"

#define TRACEPOINT_PREFIX "btf_trace_" /* typedef of the probe's prototype, void *data first */

struct tap_kernel {
	/* hash of a name -> arguments of a tracepoint; 1 for "struct.member" */
	struct tap_map tracepoints, things;
};

/* FNV-1a: the names are the kernel's, nobody chooses them to collide */
static uint64_t hash_bytes(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash_name(const char *prefix, const char *name)
{
	return hash_bytes(hash_bytes(0xcbf29ce484222325ULL, prefix, strlen(prefix)), name,
			  strlen(name));
}

static bool put(struct tap_map *m, uint64_t key, uint64_t value)
{
	uint64_t *slot = tap_map_put(m, key);

	if (slot)
		*slot = value;
	return slot;
}

static bool add_tracepoint(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t,
			   const char *name)
{
	const struct btf_type *ptr = btf__type_by_id(btf, t->type), *proto;

	if (!ptr || !btf_is_ptr(ptr))
		return true;
	proto = btf__type_by_id(btf, ptr->type);
	if (!proto || !btf_is_func_proto(proto) || !btf_vlen(proto))
		return true;
	return put(&k->tracepoints, hash_name("", name + strlen(TRACEPOINT_PREFIX)),
		   btf_vlen(proto) - 1u);
}

/* Members of anonymous structs and unions inside belong to the struct as well. */
static bool add_members(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t,
			const char *prefix, unsigned int depth)
{
	const struct btf_member *m = btf_members(t);

	for (unsigned int i = 0; i < btf_vlen(t); i++, m++) {
		const char *name = btf__name_by_offset(btf, m->name_off);
		const struct btf_type *inner;

		if (name && *name) {
			if (!put(&k->things, hash_name(prefix, name), 1))
				return false;
			continue;
		}
		inner = btf__type_by_id(btf, m->type);
		if (inner && btf_is_composite(inner) && depth < 8 &&
		    !add_members(k, btf, inner, prefix, depth + 1))
			return false;
	}
	return true;
}

/* Whether a TRACE_NEEDS() names a member of this struct: "rq" in "rq.avg_hw|rq.avg_thermal". */
static bool is_needed(const char *name)
{
	const struct tap_need *need;
	size_t len = strlen(name);

	for (unsigned int i = 0; (need = tap_need_at(i)); i++)
		for (const char *p = need->spec; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
			if (!strncmp(p, name, len) && p[len] == '.')
				return true;
	return false;
}

static bool add_type(struct tap_kernel *k, const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);
	char prefix[128];

	if (!name || !*name)
		return true;
	if (btf_is_typedef(t) && !strncmp(name, TRACEPOINT_PREFIX, strlen(TRACEPOINT_PREFIX)))
		return add_tracepoint(k, btf, t, name);
	if (btf_is_struct(t) && strlen(name) < sizeof(prefix) - 2 && is_needed(name)) {
		snprintf(prefix, sizeof(prefix), "%s.", name);
		return add_members(k, btf, t, prefix, 0);
	}
	return true;
}

int tap_kernel_new(struct tap_kernel **out, struct tap_err *err)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* it would tell stderr as well */
	struct btf *btf = btf__load_vmlinux_btf();
	struct tap_kernel *k;
	int ret = 0;

	libbpf_set_print(print);
	*out = NULL;
	if (!btf)
		return tap_err_set(err, -EOPNOTSUPP,
				   "the kernel has no BTF (/sys/kernel/btf/vmlinux): "
				   "boot one with CONFIG_DEBUG_INFO_BTF=y");
	k = calloc(1, sizeof(*k));
	if (k && tap_machine_capacity(0) >= 0 && !put(&k->things, hash_name("", "sys.cpu_capacity"), 1))
		ret = -ENOMEM;
	for (unsigned int id = 1; k && id < btf__type_cnt(btf) && !ret; id++)
		if (!add_type(k, btf, btf__type_by_id(btf, id)))
			ret = -ENOMEM;
	btf__free(btf);
	if (!k || ret) {
		tap_kernel_free(k);
		return tap_err_set(err, -ENOMEM, "out of memory");
	}
	*out = k;
	return 0;
}

void tap_kernel_free(struct tap_kernel *k)
{
	if (!k)
		return;
	tap_map_release(&k->tracepoints);
	tap_map_release(&k->things);
	free(k);
}

int tap_kernel_tracepoint(const struct tap_kernel *k, const char *name)
{
	const uint64_t *nr = tap_map_get(&k->tracepoints, hash_name("", name));

	return nr ? (int)*nr : -ENOENT;
}

bool tap_kernel_has(const struct tap_kernel *k, const char *spec)
{
	const char *end;

	for (;; spec = end + 1) {
		end = strchrnul(spec, '|');
		if (tap_map_get(&k->things, hash_bytes(0xcbf29ce484222325ULL, spec,
						       (size_t)(end - spec))))
			return true;
		if (!*end)
			return false;
	}
}

static const struct tap_need *missing_need(const struct tap_kernel *k, const struct tap_def *def,
					   const char *field)
{
	const struct tap_need *need;

	for (unsigned int i = 0; (need = tap_need_at(i)); i++)
		if (!strcmp(need->event, def->name) && !strcmp(need->field, field) &&
		    !tap_kernel_has(k, need->spec))
			return need;
	return NULL;
}

/*
 * What BPF must not touch although it could. Under CONFIG_PREEMPT_RCU (which gives task_struct the
 * member) rcu_read_unlock() may set need_resched, whose tracepoint fires before the flag is set;
 * the rcu_read_unlock() behind a BPF program then does so again, until the stack is full: seen as a
 * panic on v7.2. The recursion is outside of the program, so that no check in it can help.
 */
static const char *danger(const struct tap_kernel *k, const struct tap_hook *hook)
{
	if (!strcmp(hook->tracepoint, "sched_set_need_resched_tp") &&
	    tap_kernel_has(k, "task_struct.rcu_read_unlock_special"))
		return "with CONFIG_PREEMPT_RCU a BPF program on it can recurse and panic the kernel";
	return NULL;
}

bool tap_kernel_can(const struct tap_kernel *k, const struct tap_def *def,
		    const struct tap_hook **hook, struct tap_buf *why)
{
	const struct tap_hook *h, *last = NULL;
	const struct tap_need *need;

	*hook = NULL;
	for (unsigned int i = 0; (h = tap_hook_at(i)); i++) {
		if (strcmp(h->event, def->name))
			continue;
		last = h;
		if (tap_kernel_tracepoint(k, h->tracepoint) >= (int)h->nr_args)
			break;
	}
	if (!h && !last)
		tap_buf_puts(why, "written by the recorder itself");
	else if (!h && tap_kernel_tracepoint(k, last->tracepoint) >= 0)
		tap_buf_printf(why, "the kernel's %s passes fewer arguments", last->tracepoint);
	else if (!h)
		tap_buf_printf(why, "the kernel's BTF has no tracepoint %s", last->tracepoint);
	if (!h)
		return false;
	need = missing_need(k, def, "");
	if (need)
		tap_buf_printf(why, "the kernel is built without %s", need->spec);
	else if (danger(k, h))
		tap_buf_puts(why, danger(k, h));
	if (why->len)
		return false;
	*hook = h;
	return true;
}

void tap_kernel_absent(const struct tap_kernel *k, const struct tap_def *def, bool *absent)
{
	for (unsigned int i = 0; i < def->nr_fields; i++)
		absent[i] = missing_need(k, def, def->fields[i].name);
}
