// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/btf.h>
#include <errno.h>

#include "capture/bpf/load.h"

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
