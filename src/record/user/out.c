// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/out.h"

#include <errno.h>
#include <stdlib.h>

int tap_user_out_init(struct tap_user_out *out, struct tap_page_writer *writer,
		      unsigned int nr_cpus, struct tap_err *err)
{
	*out = (struct tap_user_out){ .writer = writer, .nr_cpus = nr_cpus, .late = -1 };
	out->lanes = calloc(2 * nr_cpus, sizeof(*out->lanes));
	if (!out->lanes)
		return tap_err_nomem(err);
	out->buffer =
		tap_page_writer_add_buffer(writer, "user", "mono", TAP_PAGE_SIZE, nr_cpus, err);
	return out->buffer < 0 ? out->buffer : 0;
}

void tap_user_out_release(struct tap_user_out *out)
{
	for (unsigned int i = 0; out->lanes && i < 2 * out->nr_cpus; i++)
		tap_lane_release(&out->lanes[i].lane);
	free(out->lanes);
	out->lanes = NULL;
}

/* Return a CPU's lane; it is made on first use. Return: NULL on error, with @ret set. */
static struct tap_user_lane *get_lane(struct tap_user_out *out, bool late, unsigned int cpu,
				      int *ret, struct tap_err *err)
{
	struct tap_user_lane *l = &out->lanes[(late ? out->nr_cpus : 0) + cpu];

	*ret = 0;
	if (l->lane.pages)
		return l;
	if (late && out->late < 0)
		out->late = tap_page_writer_add_buffer(out->writer, "user-late", "mono",
						       TAP_PAGE_SIZE, out->nr_cpus, err);
	if (late && out->late < 0)
		*ret = out->late;
	else if (tap_lane_init(&l->lane))
		*ret = tap_err_nomem(err);
	l->lane.cpu = cpu;
	l->lane.lost_id = (uint16_t)tap_def_find("schedtap", "events_lost")->id;
	l->lane.buffer = (unsigned int)(late ? out->late : out->buffer);
	return *ret ? NULL : l;
}

struct tap_user_lane *tap_user_out_lane(struct tap_user_out *out, unsigned int cpu)
{
	return out->lanes[cpu].lane.pages ? &out->lanes[cpu] : NULL;
}

int tap_user_out_add(struct tap_user_out *out, unsigned int cpu, uint64_t ts_ns,
		     const void *payload, uint32_t len, uint64_t *raised, struct tap_err *err)
{
	bool late = ts_ns < out->lanes[cpu].last_ns;
	int ret;
	struct tap_user_lane *l = get_lane(out, late, cpu, &ret, err);

	if (!l)
		return ret;
	if (ts_ns < l->last_ns) {
		ts_ns = l->last_ns;
		(*raised)++;
	}
	l->last_ns = ts_ns;
	tap_lane_add(&l->lane, out->writer, ts_ns, payload, len);
	return 0;
}

int tap_user_out_lost(struct tap_user_out *out, int cpu, uint64_t count, uint64_t first_ns,
		      uint64_t last_ns, struct tap_err *err)
{
	struct tap_lane_hole hole = {
		.count = count,
		.first_ns = first_ns,
		.last_ns = last_ns,
		.cpu = cpu,
	};
	int ret;
	struct tap_user_lane *l = get_lane(out, false, cpu < 0 ? 0 : (unsigned int)cpu, &ret, err);

	if (!l)
		return ret;
	if (last_ns > l->last_ns)
		l->last_ns = last_ns;
	tap_lane_add_lost(&l->lane, out->writer, l->last_ns, &hole);
	return 0;
}

void tap_user_out_flush(struct tap_user_out *out, bool all)
{
	for (unsigned int i = 0; i < 2 * out->nr_cpus; i++)
		if (out->lanes[i].lane.pages)
			tap_lane_flush(&out->lanes[i].lane, out->writer, all);
}
