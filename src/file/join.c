// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int refuse_file(const struct tap_join_file *f, const struct tap_join_file *first,
		       const char *what, struct tap_err *err)
{
	return tap_err_set(err, -EINVAL, "'%.300s' cannot be read together with '%.300s': %s",
			   f->path, first->path, what);
}

static bool is_alike(const struct tap_reader *a, const struct tap_reader *b)
{
	return !a->perf && !b->perf && a->info.big_endian == b->info.big_endian &&
	       a->info.long_size == b->info.long_size && a->data_offset == b->data_offset &&
	       a->commit_size == b->commit_size && a->tsc.mult == b->tsc.mult &&
	       a->tsc.shift == b->tsc.shift && a->offset_ns == b->offset_ns;
}

/*
 * Add formats that only this file has, of events that programs registered while the recorder ran.
 */
static int add_formats(struct tap_reader *r, const struct tap_join_file *f,
		       const struct tap_join_file *first, struct tap_err *err)
{
	for (unsigned int i = 0; i < f->reader->nr_formats; i++) {
		const struct tap_format *fmt = f->reader->formats[i],
					*known = r->decoder.slots[fmt->id].fmt;
		struct tap_abi abi = { .big_endian = fmt->big_endian, .long_size = fmt->long_size };
		int ret = 0;

		if (known && (strcmp(known->system, fmt->system) || strcmp(known->text, fmt->text)))
			return refuse_file(f, first, "their events differ", err);
		if (!known)
			ret = tap_dat_add_format(r, fmt->system, fmt->text, strlen(fmt->text), abi,
						 err);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_comms(struct tap_reader *r, const struct tap_reader *other, struct tap_err *err)
{
	tap_map_for_each(&other->comms, comm)
		if (!tap_map_get(&r->comms, comm->key) &&
		    tap_map_set(&r->comms, comm->key, comm->value))
			return tap_dat_nomem(err);
	return 0;
}

/*
 * Return the index of the buffer of @r that is like @b; it is added if missing. -EINVAL; -ENOMEM.
 */
static int find_buffer(struct tap_reader *r, const struct tap_buffer_info *b, struct tap_err *err)
{
	for (unsigned int i = 0; i < r->info.nr_buffers; i++)
		if (!strcmp(r->buffers[i].name, b->name) &&
		    !strcmp(r->buffers[i].clock, b->clock) &&
		    r->buffers[i].page_size == b->page_size)
			return (int)i;
	return tap_dat_add_buffer(r, b->name, b->clock, b->page_size, err);
}

/* Find the stream of that buffer and CPU, or add it. Return: 0 with *@out set; -errno. */
static int find_stream(struct tap_reader *r, unsigned int buffer, unsigned int cpu,
		       unsigned int nr_files, struct tap_stream **out, struct tap_err *err)
{
	int ret;

	for (unsigned int i = 0; i < r->nr_streams; i++) {
		*out = &r->streams[i];
		if ((*out)->buffer == buffer && (*out)->cpu == (int)cpu)
			return 0;
	}
	ret = tap_budget_add(&r->budget, TAP_COST_STREAMS, nr_files * sizeof(struct tap_part), err)
		      ?: tap_dat_add_stream(r, buffer, cpu, out, err);
	if (ret)
		return ret;
	(*out)->parts = calloc(nr_files, sizeof(*(*out)->parts));
	return (*out)->parts ? 0 : tap_dat_nomem(err);
}

/*
 * Return a part without data for the file @f. If its window overlaps the one of the file @before,
 * the part skips events that are in both. If it starts later, events in between may be missing.
 */
static struct tap_part empty_part(const struct tap_join_file *f, const struct tap_join_file *before,
				  bool is_of_marks)
{
	struct tap_part p = { .fd = -1, .gap_from = UINT64_MAX };

	if (!before || f->continues)
		return p;
	if (f->from_ns <= before->to_ns)
		p.from = before->to_ns + 1;
	else if (!is_of_marks)
		p.gap_from = before->to_ns;
	return p;
}

static int add_stream(struct tap_reader *r, struct tap_join_file *files, unsigned int file,
		      unsigned int nr, const struct tap_stream *s, struct tap_err *err)
{
	int buffer = find_buffer(r, &files[file].reader->buffers[s->buffer], err), ret;
	struct tap_stream *to;
	struct tap_part *p;

	if (buffer < 0)
		return buffer;
	ret = find_stream(r, (unsigned int)buffer, (unsigned int)s->cpu, nr, &to, err);
	if (ret)
		return ret;
	for (unsigned int i = to->nr_parts; i < nr; i++)
		to->parts[i] = empty_part(&files[i], i ? &files[i - 1] : NULL,
					  tap_dat_is_of_marks(r, (unsigned int)buffer));
	to->nr_parts = nr;
	p = &to->parts[file];
	p->whole = s->whole;
	p->fd = s->file.fd;
	p->has_holes = s->file.has_holes;
	p->mapped = s->file.mapped;
	p->of_blocks = s->sums.of_blocks;
	p->block = s->sums.block;
	p->size = s->sums.size;
	return 0;
}

static int add_file(struct tap_reader *r, struct tap_join_file *files, unsigned int file,
		    unsigned int nr, struct tap_err *err)
{
	const struct tap_reader *other = files[file].reader;
	int ret;

	r->budget.file_bytes += other->budget.file_bytes;
	if (!is_alike(r, other))
		return refuse_file(&files[file], &files[0], "they are of different machines", err);
	ret = add_formats(r, &files[file], &files[0], err) ?: add_comms(r, other, err);
	for (unsigned int k = 0; !ret && k < other->nr_streams; k++)
		ret = add_stream(r, files, file, nr, &other->streams[k], err);
	return ret;
}

int tap_join(struct tap_join_file *files, unsigned int nr, struct tap_err *err)
{
	struct tap_reader *r = files[0].reader;
	struct tap_stream *first = r->streams;
	unsigned int nr_first = r->nr_streams;
	int ret = 0;

	r->streams = NULL;
	r->nr_streams = r->cap_streams = 0;
	for (unsigned int i = 0; i < r->info.nr_buffers; i++)
		r->buffers[i].nr_cpus = 0;
	for (unsigned int k = 0; !ret && k < nr_first; k++)
		ret = add_stream(r, files, 0, nr, &first[k], err);
	for (unsigned int i = 1; !ret && i < nr; i++)
		ret = add_file(r, files, i, nr, err);
	free(first);
	return ret;
}
