// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/object/object.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define EMBED(name, path)                                                                          \
	__asm__(".section .rodata." #name ",\"a\"\n"                                               \
		".balign 8\n" #name "_start:\n"                                                    \
		".incbin \"" path "\"\n" #name "_end:\n"                                           \
		".previous\n");                                                                    \
	extern const char name##_start[] __attribute__((visibility("hidden")));                    \
	extern const char name##_end[] __attribute__((visibility("hidden")))

EMBED(tap_bpf_object, TAP_BPF_OBJECT);
EMBED(tap_bpf_tally, TAP_BPF_TALLY);

static struct bpf_object *open_embedded(const char *start, const char *end)
{
	return bpf_object__open_mem(start, (size_t)(end - start), NULL);
}

struct bpf_object *tap_bpf_open(void)
{
	struct bpf_object *obj = open_embedded(tap_bpf_object_start, tap_bpf_object_end);
	struct bpf_map *map;

	if (obj)
		bpf_object__for_each_map(map,
					 obj) if (!strncmp(bpf_map__name(map), "tap_chain_", 10))
			bpf_map__set_autocreate(map, false);
	return obj;
}

struct bpf_object *tap_bpf_open_tally(void)
{
	return open_embedded(tap_bpf_tally_start, tap_bpf_tally_end);
}

enum tap_bpf_kind tap_bpf_kind(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);

	if (!strcmp(name, "tap_each_task"))
		return TAP_BPF_LISTS_TASKS;
	if (!strcmp(name, "tap_own_functions"))
		return TAP_BPF_HAS_FUNCTIONS;
	if (!strcmp(name, "tap_cgroup_goes"))
		return TAP_BPF_KEEPS_CGROUPS;
	return strncmp(name, "tap_task_", 9) ? TAP_BPF_RECORDS : TAP_BPF_KEEPS_TASKS;
}

int tap_bpf_set(struct bpf_object *obj, const char *name, const void *value, size_t len)
{
	const struct btf *btf = bpf_object__btf(obj);
	int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata");
	const struct btf_type *sec = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;
	const struct btf_var_secinfo *var = sec ? btf_var_secinfos(sec) : NULL;
	size_t size;
	char *data = map ? (char *)(uintptr_t)bpf_map__initial_value(map, &size) : NULL;

	for (unsigned int i = 0; data && var && i < btf_vlen(sec); i++, var++) {
		const struct btf_type *t = btf__type_by_id(btf, var->type);

		if (strcmp(btf__name_by_offset(btf, t->name_off), name))
			continue;
		if (var->size < len || var->offset + len > size)
			return -EINVAL;
		memcpy(data + var->offset, value, len);
		return 0;
	}
	return -ENOENT;
}

void *tap_bpf_map_array(const struct bpf_object *obj, const char *name, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_object__find_map_fd_by_name(obj, name), 0);

	return at == MAP_FAILED ? NULL : at;
}
