// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/tally/waits.h"
#include "show/top/json.h"

#define MAX_CULPRITS 8u

static const char *const why[TAP_TALLY_KINDS] = { "after a wakeup", "after a preemption",
						  "because its CPU quota was used up" };

static void add_command(struct tap_buf *out, char *const *command)
{
	for (unsigned int i = 0; command[i]; i++) {
		if (i)
			tap_buf_char(out, ' ');
		tap_text_escape(out, command[i], strlen(command[i]));
	}
}

/* Append a line's first column: a time. */
static void begin_line(struct tap_buf *out, uint64_t ns)
{
	struct tap_buf text = { 0 };

	tap_text_time(&text, ns);
	tap_buf_printf(out, "  %10s  ", tap_buf_str(&text));
	tap_buf_release(&text);
}

static void add_waits(struct tap_buf *out, const struct tap_tally_row *row,
		      enum tap_tally_kind kind)
{
	struct tap_waits w = { 0 };

	tap_waits_add(&w, row, kind);
	if (!w.count)
		return;
	begin_line(out, w.sum_ns);
	tap_buf_printf(out, "waited %s, %llu times: p50 ", why[kind], (unsigned long long)w.count);
	tap_text_time(out, tap_waits_quantile(&w, 0.5));
	tap_buf_puts(out, ", p99 ");
	tap_text_time(out, tap_waits_quantile(&w, 0.99));
	tap_buf_char(out, '\n');
}

static void add_culprits(struct tap_buf *out, const struct tap_tally_view *view,
			 const struct tap_tally_row *row)
{
	struct tap_top_culprit *list;
	unsigned int nr = tap_top_culprits(view, row, &list);

	if (nr)
		tap_buf_puts(out, "\nwhat ran while it waited:\n");
	for (unsigned int i = 0; i < nr && i < MAX_CULPRITS; i++) {
		const char *name =
			strcmp(list[i].name, "own cgroup") ? list[i].name : "the command itself";

		begin_line(out, list[i].ns);
		tap_text_escape(out, name, strlen(name));
		tap_buf_char(out, '\n');
	}
	free(list);
}

/* Append the lines that each command has. */
static void begin(struct tap_buf *out, char *const *command, uint64_t elapsed_ns, uint64_t ran_ns)
{
	add_command(out, command);
	tap_buf_puts(out, ":\n");
	begin_line(out, elapsed_ns);
	tap_buf_puts(out, "elapsed\n");
	begin_line(out, ran_ns);
	tap_buf_printf(out, "ran, on %.2f CPUs\n", (double)ran_ns / (double)elapsed_ns);
}

void tap_top_stat(struct tap_buf *out, const struct tap_top_stat *s)
{
	const struct tap_tally_view *v = s->view;
	const struct tap_tally_row *row = &v->rows[TAP_TALLY_COMMAND];
	uint64_t censored = 0;

	for (unsigned int i = 0; i < TAP_TALLY_REASONS; i++)
		censored += row->censored[i];
	begin(out, s->command, v->to_ns - v->from_ns, v->run_ns[TAP_TALLY_COMMAND]);
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		add_waits(out, row, k);
	tap_buf_printf(out, "  %10llu  migrations\n", (unsigned long long)v->command_migrations);
	if (censored)
		tap_buf_printf(out, "  %10llu  waits of unknown length\n",
			       (unsigned long long)censored);
	if (v->missed)
		tap_buf_printf(out, "  %10llu  switches of the machine were lost\n",
			       (unsigned long long)v->missed);
	add_culprits(out, v, row);
}

void tap_top_usage(struct tap_buf *out, const struct tap_top_usage *u)
{
	begin(out, u->command, u->elapsed_ns, u->run_ns);
	if (u->main_thread_err) {
		tap_buf_puts(out, "           -  waited\n");
	} else {
		begin_line(out, u->main_thread.wait_ns);
		tap_buf_printf(
			out, "waited, %llu times, in the main thread; of others this is unknown\n",
			(unsigned long long)u->main_thread.slices);
	}
	tap_buf_printf(out, "  %10llu  voluntary switches\n  %10llu  involuntary switches\n",
		       (unsigned long long)u->voluntary, (unsigned long long)u->involuntary);
	tap_buf_puts(out, "           -  migrations\n");
}

/* Append the members that each command has. */
static void begin_json(struct tap_buf *out, const char *source, char *const *command, int exit_code,
		       uint64_t elapsed_ns)
{
	tap_buf_printf(out, "{\"schema\":1,\"source\":\"%s\",\"command\":[", source);
	for (unsigned int i = 0; command[i]; i++) {
		if (i)
			tap_buf_char(out, ',');
		tap_text_json(out, command[i], strlen(command[i]));
	}
	tap_buf_printf(out, "],\"exit_code\":%d,", exit_code);
	tap_top_json_u64(out, "elapsed_ns", elapsed_ns);
}

void tap_top_stat_json(struct tap_buf *out, const struct tap_top_stat *s)
{
	const struct tap_tally_view *v = s->view;

	begin_json(out, "tally", s->command, s->exit_code, v->to_ns - v->from_ns);
	tap_buf_printf(out, ",\"waits_begin\":\"%s\",", v->from_waking ? "waking" : "queued");
	tap_top_json_row(out, v, TAP_TALLY_COMMAND);
	tap_buf_puts(out, ",\"migrations\":");
	tap_buf_u64(out, v->command_migrations);
	tap_buf_puts(out, ",\"lost\":");
	tap_buf_u64(out, v->missed);
	tap_buf_puts(out, "}\n");
}

void tap_top_usage_json(struct tap_buf *out, const struct tap_top_usage *u)
{
	static const char *const keys[] = { "waits", "culprits", "censored", "migrations", "lost" };

	begin_json(out, "proc", u->command, u->exit_code, u->elapsed_ns);
	tap_buf_puts(out, ",\"waits_begin\":\"queued\",");
	tap_top_json_u64(out, "run_ns", u->run_ns);
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		tap_buf_printf(out, ",\"%s\":null", keys[i]);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "voluntary_switches", u->voluntary);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "involuntary_switches", u->involuntary);
	tap_buf_puts(out, ",\"main_thread\":");
	if (u->main_thread_err)
		tap_buf_puts(out, "null");
	else
		tap_buf_printf(out, "{\"run_ns\":%llu,\"wait_ns\":%llu,\"waits\":%llu}",
			       (unsigned long long)u->main_thread.run_ns,
			       (unsigned long long)u->main_thread.wait_ns,
			       (unsigned long long)u->main_thread.slices);
	tap_buf_puts(out, ",\"unknown\":[");
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		tap_top_json_unknown(out, keys[i], u->why);
	if (u->main_thread_err)
		tap_top_json_unknown(out, "main_thread", "cannot read /proc/PID/schedstat");
	tap_buf_puts(out, "]}\n");
}
