// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/cgroup_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/cgroup_label.h"

/* ---- groups ---- */

/* Return: the length of the path's first @depth levels; of the whole path if @depth is 0. */
static size_t depth_length(const char *path, int64_t depth)
{
	const char *at = path;

	if (!depth)
		return strlen(path);
	for (; depth && *at; depth--) {
		at += strspn(at, "/");
		at += strcspn(at, "/");
	}
	return (size_t)(at - path);
}

/*
 * Return: the map entry of the group with this path, which is its index + 1, or 0 for a new group;
 * NULL if out of memory.
 */
static uint64_t *place_of(struct tap_cgroup_groups *g, const char *path, size_t len)
{
	uint64_t key = tap_map_key(path, len), *place;

	/* on a hash collision with another path, try the next key */
	while ((place = tap_map_put(&g->by_path, key)) && *place) {
		const char *is = g->v[*place - 1].path;

		if (!strncmp(is, path, len) && !is[len])
			return place;
		key++;
	}
	return place;
}

static int add_cgroup(struct tap_cgroup_groups *g, uint64_t id, const char *path, int64_t depth)
{
	size_t len = depth_length(path, depth);
	uint64_t none = 0, *place = depth ? place_of(g, path, len) : &none;
	char *copy;

	if (!place)
		return -ENOMEM;
	if (*place)
		return tap_map_set(&g->of_id, id, *place);
	copy = strndup(path, len);
	if (!copy || tap_array_grow(&g->v, g->nr, &g->cap, sizeof(*g->v))) {
		free(copy);
		return -ENOMEM;
	}
	g->v[g->nr++] = (struct tap_cgroup_group){ .id = id, .path = copy };
	*place = g->nr;
	return tap_map_set(&g->of_id, id, g->nr);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int tap_cgroup_groups_init(struct tap_cgroup_groups *g, const struct tap_cgroups *cgroups,
			   int64_t depth)
{
	uint64_t *ids = calloc(cgroups->paths.nr + 1, sizeof(*ids));
	size_t nr = 0;
	int ret = ids ? 0 : -ENOMEM;

	if (ids) {
		tap_map_for_each(&cgroups->paths, s)
			ids[nr++] = s->key;
		qsort(ids, nr, sizeof(*ids), by_number);
	}
	for (size_t i = 0; !ret && i < nr; i++)
		ret = add_cgroup(g, ids[i], tap_cgroups_path(cgroups, ids[i]), depth);
	free(ids);
	return ret;
}

void tap_cgroup_groups_release(struct tap_cgroup_groups *g)
{
	for (unsigned int i = 0; i < g->nr; i++) {
		free(g->v[i].path);
		free(g->v[i].label);
	}
	free(g->v);
	free(g->common);
	tap_map_release(&g->of_id);
	tap_map_release(&g->by_path);
	*g = (struct tap_cgroup_groups){ 0 };
}

static struct tap_cgroup_group *find_group(const struct tap_cgroup_groups *g, uint64_t id)
{
	const uint64_t *at = tap_map_get(&g->of_id, id);

	return at ? &g->v[*at - 1] : NULL;
}

uint64_t tap_cgroup_group_of(const struct tap_cgroup_groups *g, uint64_t id)
{
	const struct tap_cgroup_group *group = find_group(g, id);

	return group ? group->id : id;
}

/* ---- labels ---- */

void tap_cgroup_show(struct tap_cgroup_groups *g, uint64_t id)
{
	struct tap_cgroup_group *group = find_group(g, id);

	if (group)
		group->is_shown = true;
}

/*
 * Find the common prefix of those shown paths that are too long for their column and name no pod,
 * container or unit.
 */
static int find_common(struct tap_cgroup_groups *g)
{
	const char *first = NULL;
	unsigned int nr = 0;
	size_t len = 0;

	for (unsigned int i = 0; i < g->nr; i++) {
		if (!g->v[i].is_shown || g->v[i].label || strlen(g->v[i].path) <= TAP_CGROUP_WIDTH)
			continue;
		len = first ? tap_cgroup_common(first, len, g->v[i].path) : strlen(g->v[i].path);
		first = first ?: g->v[i].path;
		nr++;
	}
	if (nr < 2 || !len)
		return 0;
	g->common = strndup(first, len);
	return g->common ? 0 : -ENOMEM;
}

/*
 * Return: the path below the common prefix, after a "."; or else the path's end after "..."; NULL
 * if out of memory.
 */
static char *short_path(const struct tap_cgroup_groups *g, const char *path)
{
	size_t common = g->common ? strlen(g->common) : 0, len = strlen(path);
	bool is_below = common && !strncmp(path, g->common, common) && path[common] == '/';
	char *label = NULL;

	if (is_below && len - common < TAP_CGROUP_WIDTH)
		return asprintf(&label, ".%s", path + common) < 0 ? NULL : label;
	path += len - (TAP_CGROUP_WIDTH - strlen("..."));
	while ((*path & 0xc0) == 0x80) /* do not begin within a UTF-8 character */
		path++;
	return asprintf(&label, "...%s", path) < 0 ? NULL : label;
}

static int add_label(struct tap_cgroup_group *group)
{
	struct tap_buf b = { 0 };
	int ret;

	if (group->is_shown && strlen(group->path) > TAP_CGROUP_WIDTH &&
	    tap_cgroup_label(group->path, &b))
		group->label = strdup(tap_buf_str(&b));
	ret = b.err;
	tap_buf_release(&b);
	return ret;
}

static const char *label_of(const struct tap_cgroup_group *group)
{
	return group->label ?: group->path;
}

static int by_label(const void *a, const void *b)
{
	return strcmp(label_of(*(struct tap_cgroup_group *const *)a),
		      label_of(*(struct tap_cgroup_group *const *)b));
}

/* Remove labels that several groups with different paths share: these groups show their paths. */
static int drop_ambiguous(struct tap_cgroup_groups *g)
{
	struct tap_cgroup_group **by = calloc(g->nr + 1, sizeof(struct tap_cgroup_group *));
	unsigned int nr = 0;

	if (!by)
		return -ENOMEM;
	for (unsigned int i = 0; i < g->nr; i++)
		if (g->v[i].is_shown)
			by[nr++] = &g->v[i];
	qsort(by, nr, sizeof(struct tap_cgroup_group *), by_label);
	for (unsigned int i = 0, same; i < nr; i += same) {
		bool differ = false;

		for (same = 1; i + same < nr && !by_label(&by[i], &by[i + same]); same++)
			differ |= strcmp(by[i]->path, by[i + same]->path) != 0;
		for (unsigned int k = i; differ && k < i + same; k++) {
			free(by[k]->label);
			by[k]->label = NULL;
		}
	}
	free(by);
	return 0;
}

int tap_cgroup_make_labels(struct tap_cgroup_groups *g)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < g->nr; i++)
		ret = add_label(&g->v[i]);
	ret = ret ?: find_common(g);
	for (unsigned int i = 0; !ret && i < g->nr; i++) {
		struct tap_cgroup_group *group = &g->v[i];

		if (!group->is_shown || group->label || strlen(group->path) <= TAP_CGROUP_WIDTH)
			continue;
		group->label = short_path(g, group->path);
		ret = group->label ? 0 : -ENOMEM;
	}
	return ret ?: drop_ambiguous(g);
}

void tap_cgroup_common_sentence(const struct tap_cgroup_groups *g, struct tap_page *p)
{
	struct tap_buf b = { 0 };

	if (!g->common)
		return;
	tap_buf_puts(&b, "cgroups that begin with ./ are below ");
	tap_text_escape(&b, g->common, strlen(g->common));
	tap_page_sentence(p, b.data, b.len);
	tap_buf_release(&b);
}

void tap_cgroup_cell(const struct tap_cgroup_groups *g, struct tap_table *t, uint64_t id)
{
	const struct tap_cgroup_group *group = find_group(g, id);

	tap_table_puts(t, !group				     ? NULL
			  : tap_page_is_for(t->page, TAP_FOR_PEOPLE) ? label_of(group)
								     : group->path);
}
