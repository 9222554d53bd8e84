// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/scx_watch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define LOOK_NS 100000000u

/* Read a file's first line. Return: false if there is no such file. */
static bool read_line(const struct tap_scx_watch *w, const char *name, struct tap_buf *line)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", w->root, name);
	tap_buf_clear(line);
	if (tap_buf_read_file(line, path))
		return false;
	line->data[strcspn(line->data, "\n")] = '\0';
	return true;
}

/* Return: [ns, name or null, number of loads since boot]; NULL: the kernel has no sched_ext. */
static json_t *read_row(const struct tap_scx_watch *w, uint64_t now_ns)
{
	struct tap_buf line = { .max = 4096 };
	json_t *row = NULL, *name = NULL;

	/*
	 * A scheduler has a name before it is enabled. Read the number of loads last: if a
	 * scheduler is loaded in between, the next row differs.
	 */
	if (read_line(w, "state", &line) && strcmp(line.data, "enabling") &&
	    read_line(w, "root/ops", &line))
		name = json_string(line.data);
	if (read_line(w, "enable_seq", &line))
		row = json_pack("[I, o, I]", (json_int_t)now_ns, name ?: json_null(),
				(json_int_t)strtoull(line.data, NULL, 10));
	else
		json_decref(name);
	tap_buf_release(&line);
	return row;
}

static bool is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_array_get(a, 1), json_array_get(b, 1)) &&
	       json_equal(json_array_get(a, 2), json_array_get(b, 2));
}

static void add_row(json_t *meta, json_t *row)
{
	json_t *rows = json_object_get(meta, "schedulers");

	if (!rows) {
		rows = json_array();
		json_object_set_new(meta, "schedulers", rows);
	}
	if (json_array_size(rows) >= TAP_SCX_MAX_ROWS)
		json_array_remove(rows, 0);
	json_array_append(rows, row);
}

bool tap_scx_watch_look(struct tap_scx_watch *w, uint64_t now_ns, json_t *meta)
{
	json_t *row;

	if (w->looked_ns && now_ns - w->looked_ns < LOOK_NS)
		return false;
	w->looked_ns = now_ns;
	row = read_row(w, now_ns);
	if (!row || (w->row && is_same(w->row, row))) {
		json_decref(row);
		return false;
	}
	json_decref(w->row);
	w->row = row;
	add_row(meta, row);
	return true;
}

void tap_scx_watch_release(struct tap_scx_watch *w)
{
	json_decref(w->row);
	w->row = NULL;
}
