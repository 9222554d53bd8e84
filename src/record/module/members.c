// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/members.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/object/object.h"

/* Members that only the module reads. */
static const struct {
	const char *of, *member;
} extras[] = {
	{ "rq", "cfs" }, /* the CPU's only CFS queue if there is no group scheduling */
};

/* Return the length of a name without its flavor: "rq___before_6_7" is a variant of rq. */
static size_t base_len(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

/*
 * Return true for structs of the BPF programs themselves, and for types of their contexts, which
 * the module does not need.
 */
static bool is_own(const char *name)
{
	return !*name || !strncmp(name, "tap_", 4) || !strncmp(name, "raw_", 4) ||
	       !strncmp(name, "bpf_iter_", 9) || !strcmp(name, "trace_entry") ||
	       !strcmp(name, "pt_regs");
}

static int add_member(struct tap_members *w, const char *of, size_t of_len, const char *member)
{
	struct tap_member *m;

	for (size_t i = 0; i < w->nr; i++)
		if (strlen(w->v[i].of) == of_len && !memcmp(w->v[i].of, of, of_len) &&
		    !strcmp(w->v[i].member, member))
			return 0;
	if (tap_array_grow(&w->v, w->nr, &w->cap, sizeof(*w->v)))
		return -ENOMEM;
	m = &w->v[w->nr++];
	*m = (struct tap_member){ strndup(of, of_len), strdup(member) };
	return m->of && m->member ? 0 : -ENOMEM;
}

static int add_struct(struct tap_members *w, const struct btf *btf, const struct btf_type *t)
{
	const char *of = btf__name_by_offset(btf, t->name_off);
	int ret = 0;

	if (!btf_is_struct(t) || is_own(of))
		return 0;
	for (unsigned int i = 0; !ret && i < btf_vlen(t); i++)
		ret = add_member(w, of, base_len(of),
				 btf__name_by_offset(btf, btf_members(t)[i].name_off));
	return ret;
}

int tap_members_init(struct tap_members *w, struct tap_err *err)
{
	struct bpf_object *obj = tap_bpf_open();
	const struct btf *btf = obj ? bpf_object__btf(obj) : NULL;
	int ret = 0;

	*w = (struct tap_members){ 0 };
	if (!btf)
		return tap_err_set(err, -EINVAL,
				   "the embedded BPF object contains no type information (BTF)");
	for (uint32_t id = 1; !ret && id < btf__type_cnt(btf); id++)
		ret = add_struct(w, btf, btf__type_by_id(btf, id));
	for (size_t i = 0; !ret && i < sizeof(extras) / sizeof(*extras); i++)
		ret = add_member(w, extras[i].of, strlen(extras[i].of), extras[i].member);
	bpf_object__close(obj);
	if (ret) {
		tap_members_release(w);
		return tap_err_set(err, ret, "out of memory");
	}
	return 0;
}

void tap_members_release(struct tap_members *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		free(w->v[i].of);
		free(w->v[i].member);
	}
	free(w->v);
	*w = (struct tap_members){ 0 };
}
