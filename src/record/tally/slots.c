// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tally/slots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/map.h"
#include "event/select/mount.h"
#include "record/machine.h"
#include "record/object/object.h"

#define QUARANTINE_NS 10000000000u
#define EXPIRED UINT64_MAX /* .released_ns: the slot is given back at the next reading */

static int set_name(struct tap_slots *s, unsigned int nr, const char *name)
{
	s->names[nr] = strdup(name);
	return s->names[nr] ? 0 : -ENOMEM;
}

/* The root cgroup has its slot from the beginning. */
static int add_root(struct tap_slots *s, int ids_fd)
{
	uint32_t slot = TAP_TALLY_ROOT;
	char path[PATH_MAX];
	struct stat st;
	uint64_t id;

	if (!tap_cgroup_mount(path, sizeof(path)) || stat(path, &st))
		return 0; /* tasks of all cgroups get their slots by their ids, without names */
	id = st.st_ino;
	s->v[slot].id = id;
	s->v[slot].state = TAP_TALLY_SLOT_LIVE;
	return bpf_map_update_elem(ids_fd, &id, &slot, BPF_ANY) ?: set_name(s, slot, "/");
}

static int fill(struct tap_slots *s, const struct bpf_object *obj, bool has_command)
{
	int ret = add_root(s, bpf_object__find_map_fd_by_name(obj, "tap_slot_of_id"));

	ret = ret ?: set_name(s, TAP_TALLY_IDLE, "idle");
	ret = ret ?: set_name(s, TAP_TALLY_KERNEL, "kernel threads");
	if (!ret && has_command)
		ret = set_name(s, TAP_TALLY_COMMAND, "the command");
	for (uint32_t i = TAP_TALLY_FIRST_FREE; !ret && i < s->nr; i++)
		ret = bpf_map_update_elem(s->free_fd, NULL, &i, BPF_ANY);
	return ret;
}

int tap_slots_open(struct tap_slots *s, const struct bpf_object *obj, unsigned int nr,
		   bool has_command, struct tap_err *err)
{
	int ret;

	s->nr = nr;
	s->free_fd = bpf_object__find_map_fd_by_name(obj, "tap_free_slots");
	s->v = tap_bpf_map_array(obj, "tap_slots", nr * sizeof(*s->v));
	if (!s->v)
		return tap_err_set(err, -errno, "cannot map the tally's cgroups: %m");
	s->names = calloc(nr, sizeof(*s->names));
	s->released_ns = calloc(nr, sizeof(*s->released_ns));
	if (!s->names || !s->released_ns)
		return tap_err_nomem(err);
	ret = fill(s, obj, has_command);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot set up the tally's cgroups: %m") : 0;
}

void tap_slots_release(struct tap_slots *s)
{
	for (unsigned int i = 0; s->names && i < s->nr; i++)
		free(s->names[i]);
	free(s->names);
	free(s->released_ns);
	if (s->v)
		munmap(s->v, s->nr * sizeof(*s->v));
}

static bool lacks_name(const struct tap_slots *s, unsigned int nr)
{
	return !s->names[nr] &&
	       __atomic_load_n(&s->v[nr].state, __ATOMIC_ACQUIRE) != TAP_TALLY_SLOT_FREE;
}

/* The cgroup was removed before its name was read: its parent's name says where it was. */
static int name_removed(struct tap_slots *s, unsigned int nr, const struct tap_map *cgroups)
{
	const uint64_t *parent = tap_map_get(cgroups, s->v[nr].parent_id);
	char name[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%s/(removed)",
		 parent && strcmp((const char *)(uintptr_t)*parent, "/")
			 ? (const char *)(uintptr_t)*parent
			 : "");
	return set_name(s, nr, name);
}

static int read_names(struct tap_slots *s)
{
	struct tap_map cgroups = { 0 };
	int ret = tap_machine_cgroups(&cgroups, NULL, NULL);

	for (unsigned int i = TAP_TALLY_FIRST_FREE; !ret && i < s->nr; i++) {
		const uint64_t *name;

		if (!lacks_name(s, i))
			continue;
		name = tap_map_get(&cgroups, s->v[i].id);
		ret = name ? set_name(s, i, (const char *)(uintptr_t)*name)
			   : name_removed(s, i, &cgroups);
	}
	tap_machine_release_texts(&cgroups);
	return ret;
}

/*
 * Give the slot of a cgroup back that has been gone for long enough. Not before the second reading
 * after its end was noticed: the first one still reads what its last tasks did.
 */
static int reclaim(struct tap_slots *s, uint32_t nr, uint64_t now_ns)
{
	if (s->v[nr].state != TAP_TALLY_SLOT_RELEASED)
		return 0;
	if (!s->released_ns[nr])
		s->released_ns[nr] = now_ns;
	if (s->released_ns[nr] != EXPIRED) {
		if (now_ns - s->released_ns[nr] >= QUARANTINE_NS)
			s->released_ns[nr] = EXPIRED;
		return 0;
	}
	s->released_ns[nr] = 0;
	free(s->names[nr]);
	s->names[nr] = NULL;
	s->v[nr].state = TAP_TALLY_SLOT_FREE;
	return bpf_map_update_elem(s->free_fd, NULL, &nr, BPF_ANY);
}

int tap_slots_read(struct tap_slots *s, struct tap_err *err)
{
	uint64_t now_ns = tap_now_ns();
	bool is_new = false;
	int ret = 0;

	for (unsigned int i = TAP_TALLY_FIRST_FREE; !ret && i < s->nr; i++) {
		ret = reclaim(s, i, now_ns);
		is_new |= lacks_name(s, i);
	}
	if (!ret && is_new)
		ret = read_names(s);
	for (unsigned int i = s->used; i < s->nr; i++)
		if (s->names[i])
			s->used = i + 1;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read the names of cgroups: %m") : 0;
}
