// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/other.h"

#include <limits.h>

#include "file/text/kind.h"

static bool begins(struct span s, const char *with)
{
	return s.len >= strlen(with) && !memcmp(s.s, with, strlen(with));
}

/* Return what follows @with in @s, or an empty span whose .s is NULL. */
static struct span after(struct span s, const char *with)
{
	const char *at = memmem(s.s, s.len, with, strlen(with));

	if (!at)
		return (struct span){ NULL, 0 };
	at += strlen(with);
	return (struct span){ at, (size_t)(s.s + s.len - at) };
}

/* Read a number, with blanks before it. @s: moved after it. Return: false if there is none. */
static bool take(struct span *s, uint64_t max, uint64_t *v)
{
	const char *end, *p;

	if (!s->s)
		return false;
	end = s->s + s->len;
	p = tap_line_number(tap_line_blanks(s->s, end), end, max, v);
	if (!p)
		return false;
	*s = (struct span){ p, (size_t)(end - p) };
	return true;
}

static void lose(struct tap_other *o, struct tap_made *m, uint64_t cpu, uint64_t count)
{
	o->has_losses = true;
	tap_made_loss(m, (unsigned int)cpu, count ?: TAP_MADE_UNKNOWN);
}

/* "CPU:1 [LOST 12 EVENTS]", "CPU:1 [12 EVENTS DROPPED]", and both without a number. */
static bool read_loss(struct tap_other *o, struct tap_made *m, struct span line)
{
	struct span s = after(line, "CPU:");
	uint64_t cpu, count = 0;

	if (!begins(line, "CPU:") || !take(&s, TAP_DAT_MAX_CPUS - 1, &cpu) || !begins(s, " ["))
		return false;
	if (!after(s, "LOST").s && !after(s, "DROPPED").s)
		return false;
	s = begins(s, " [LOST ") ? after(s, "LOST ") : after(s, "[");
	take(&s, UINT64_MAX - 1, &count);
	lose(o, m, cpu, count);
	return true;
}

/* "##### CPU 1 buffer started ####": what was before has been overwritten. */
static bool read_start(struct tap_other *o, struct tap_made *m, struct span line)
{
	struct span s = after(line, "# CPU ");
	uint64_t cpu;

	if (!begins(line, "##") || !take(&s, TAP_DAT_MAX_CPUS - 1, &cpu) ||
	    !begins(s, " buffer started"))
		return false;
	lose(o, m, cpu, 0);
	return true;
}

static bool take_time(struct span *s, uint64_t *ns)
{
	uint64_t seconds, fraction;

	if (!take(s, INT64_MAX / 1000000000 - 1, &seconds) || !begins(*s, "."))
		return false;
	*s = (struct span){ s->s + 1, s->len - 1 };
	if (!take(s, 999999999, &fraction))
		return false;
	*ns = seconds * 1000000000 + fraction;
	return true;
}

/*
 * schedtap dump's "*** [001] 12 events lost between 1.000000400 and 1.000000500". Events that were
 * switched off are lost here, because the text has no numbers of kinds.
 */
static bool read_gap(struct tap_other *o, struct tap_made *m, struct span line)
{
	struct span s = after(line, "*** [");
	uint64_t cpu = 0, count = 0, first_ns, last_ns;
	const bool has_cpu = begins(line, "*** [") && take(&s, TAP_DAT_MAX_CPUS - 1, &cpu);

	if (!begins(line, "*** ["))
		return false;
	s = after(s, "] ");
	take(&s, UINT64_MAX, &count);
	s = after(s.s ? s : line, " between ");
	if (!s.s || !take_time(&s, &first_ns) || !begins(s, " and "))
		return false;
	s = after(s, " and ");
	if (!take_time(&s, &last_ns))
		return false;
	o->has_losses = true;
	tap_kind_add_gap(m, has_cpu ? (int)cpu : -1, count, first_ns, last_ns);
	return true;
}

/* "# entries-in-buffer/entries-written: 10/30   #P:4", of ftrace. */
static void read_entries(struct tap_other *o, struct tap_made *m, struct span line)
{
	struct span s = after(line, "entries-written:"), cpus = after(line, "#P:");
	uint64_t left, all, nr;

	o->has_tracer |= begins(line, "# tracer:");
	if (take(&s, UINT64_MAX, &left) && begins(s, "/")) {
		s = (struct span){ s.s + 1, s.len - 1 };
		if (take(&s, UINT64_MAX, &all) && all > left)
			o->nr_overwritten = all - left;
	}
	if (take(&cpus, TAP_DAT_MAX_CPUS, &nr) && m->r->info.nr_cpus < nr)
		m->r->info.nr_cpus = (unsigned int)nr;
}

static void read_head(struct tap_other *o, struct tap_made *m, struct span line)
{
	static const char *const keys[] = { "# hostname : ", "# os release : ", "# arch : " };
	struct span *const values[] = { &o->host, &o->release, &o->machine };

	read_entries(o, m, line);
	for (unsigned int i = 0; i < 3; i++)
		if (begins(line, keys[i]))
			*values[i] = trim(after(line, keys[i]));
}

/* "cpus=2", "CPU 0 is empty", "version = 7", of trace-cmd report. */
static bool read_trace_cmd(struct tap_other *o, struct tap_made *m, struct span line)
{
	struct span s = after(line, "cpus=");
	uint64_t nr;

	if (begins(line, "cpus=") && take(&s, TAP_DAT_MAX_CPUS, &nr)) {
		o->has_cpus = true;
		if (m->r->info.nr_cpus < nr)
			m->r->info.nr_cpus = (unsigned int)nr;
		return true;
	}
	return begins(line, "version = ") || (begins(line, "CPU ") && after(line, "is empty").s);
}

void tap_other_read(struct tap_other *o, struct tap_made *m, struct span line)
{
	const struct span s = trim(line);

	if (!s.len || read_loss(o, m, line) || read_start(o, m, line) || read_gap(o, m, line) ||
	    read_trace_cmd(o, m, line))
		return;
	if (*s.s == '#') {
		read_head(o, m, s);
		return;
	}
	o->nr_lines++;
	/* ftrace's and trace-cmd's "=> symbol", perf's "ffffffff8100 symbol" */
	o->nr_frames += begins(s, "=> ") || *line.s == '\t';
}

void tap_other_read_rest(struct tap_other *o, struct tap_made *m, const struct tap_line *l)
{
	struct span s = after(l->body, " lost ");
	uint64_t count;

	if (begins(l->body, "PERF_RECORD_LOST") && take(&s, UINT64_MAX - 1, &count))
		lose(o, m, l->cpu, count);
	else
		o->nr_lines++;
}
