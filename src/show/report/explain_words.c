// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/explain_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "analysis/cgroup_label.h"
#include "show/report/stack_cells.h"
#include "show/report/task_cells.h"

#define SHOWN_PIECES 5u /* components listed in a wait's sentence */

/* ---- waits ---- */

static void put_ms(struct tap_buf *b, uint64_t ns)
{
	tap_buf_printf(b, "%ju.%03u ms", (uintmax_t)(ns / 1000000),
		       (unsigned int)(ns / 1000 % 1000));
}

static void put_label(struct tap_run *run, struct tap_buf *b, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_run_label(run, task, &len);

	tap_buf_add(b, label, len);
}

/*
 * Append the group of the task that ran. A group number from sched_pick is negative for an
 * autogroup; a positive one numbers a cgroup of the cpu controller and appears in no file, so the
 * task's cgroup path is shown if it is known.
 */
static void put_group(struct tap_run *run, struct tap_buf *b, const struct tap_piece *p)
{
	const char *path = tap_cgroups_path(&run->rec.ids.cgroups, p->task->cgroup);

	tap_buf_puts(b, " of ");
	if (p->group < 0)
		tap_buf_printf(b, "autogroup %d", -p->group);
	else if (!path)
		tap_buf_printf(b, "group %d", p->group);
	else if (!tap_cgroup_label(path, b))
		tap_buf_puts(b, path);
}

/* What a component was, after its length: "cc1 [12] of autogroup 3 ran". */
static void put_kind(struct tap_run *run, struct tap_buf *b, const struct tap_piece *p)
{
	if (p->task)
		put_label(run, b, p->task);
	if (p->task && p->group)
		put_group(run, b, p);
	tap_buf_puts(b, tap_piece_text(p->kind));
}

static int longest_first(const void *a, const void *b)
{
	const struct tap_piece *x = *(const struct tap_piece *const *)a,
			       *y = *(const struct tap_piece *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

void tap_explain_pieces_words(struct tap_run *run, const struct tap_piece *v, unsigned int nr,
			      struct tap_buf *b)
{
	const struct tap_piece **pieces = malloc((nr + 1) * sizeof(struct tap_piece *));
	unsigned int shown = nr > SHOWN_PIECES + 1 ? SHOWN_PIECES : nr;
	uint64_t rest_ns = 0;

	if (!pieces)
		return;
	for (unsigned int i = 0; i < nr; i++)
		pieces[i] = &v[i];
	qsort(pieces, nr, sizeof(struct tap_piece *), longest_first);
	for (unsigned int i = 0; i < nr; i++) {
		if (i >= shown) {
			rest_ns += pieces[i]->ns;
			continue;
		}
		tap_buf_puts(b, i ? ", " : ": ");
		put_ms(b, pieces[i]->ns);
		tap_buf_puts(b, " ");
		put_kind(run, b, pieces[i]);
	}
	if (shown < nr) {
		tap_buf_puts(b, ", ");
		put_ms(b, rest_ns);
		tap_buf_printf(b, " %u others", nr - shown);
	}
	free(pieces);
}

void tap_explain_piece_members(struct tap_run *run, const struct tap_piece *piece,
			       struct tap_page *p)
{
	tap_page_object(p, NULL);
	tap_page_puts(p, "kind", tap_piece_name(piece->kind));
	tap_page_u64(p, "ns", piece->ns);
	tap_page_at(p, "from_ns", piece->from_ns);
	if (piece->task) {
		tap_task_members(p, piece->task);
		tap_page_puts(p, "cgroup",
			      tap_cgroups_path(&run->rec.ids.cgroups, piece->task->cgroup));
		if (piece->group)
			tap_page_s64(p, "group", piece->group);
		else
			tap_page_null(p, "group");
	}
	tap_page_object_end(p);
}

/*
 * Append ". CPU 1 could have run it, idle for 0.500 ms. CPU 2 was idle for 0.300 ms, but the task
 * may not run there"
 */
static void put_idle(struct tap_buf *b, const struct tap_avoidable_idle *idle)
{
	if (idle->ns) {
		tap_buf_puts(b, ". CPU ");
		tap_cpus_text(&idle->cpus, b);
		tap_buf_puts(b, " could have run it, idle for ");
		put_ms(b, idle->ns);
	}
	if (idle->barred_ns) {
		tap_buf_puts(b, ". CPU ");
		tap_cpus_text(&idle->barred, b);
		tap_buf_puts(b, " was idle for ");
		put_ms(b, idle->barred_ns);
		tap_buf_puts(b, idle->ns ? " beside that, but the task may not run there"
					 : ", but the task may not run there");
	}
}

void tap_explain_wait_words(struct tap_run *run, const struct tap_explained_wait *w,
			    struct tap_buf *b)
{
	put_label(run, b, w->task);
	tap_buf_puts(b, w->whole ? " waited " : " waited at most ");
	put_ms(b, w->to_ns - w->from_ns);
	tap_buf_puts(b, " until ");
	tap_wall_add(&run->rec.wall, b, w->to_ns);
	tap_buf_printf(b, " on CPU %d, %s", w->cpu, tap_state_name(w->state));
	tap_explain_pieces_words(run, w->pieces, w->nr_pieces, b);
	put_idle(b, &w->idle);
	tap_buf_printf(b, ". Verdict: %s.", tap_verdict_text(w->verdict));
}

/* ---- states other than waits ---- */

static void put_stack(struct tap_buf *b, const struct tap_event_stacks *stacks,
		      struct tap_stack_pair stack)
{
	if (tap_stack_pair_is_none(stack))
		return;
	tap_buf_puts(b, ": ");
	tap_stack_add(b, stacks, stack, true);
}

void tap_explain_sleep_words(struct tap_run *run, const struct tap_sleep *s,
			     const struct tap_event_stacks *stacks, struct tap_buf *b)
{
	put_label(run, b, s->task);
	tap_buf_puts(b, s->key.state == TAP_STATE_SLEEPING  ? " slept"
			: s->key.state == TAP_STATE_BLOCKED ? " was blocked"
							    : " was stopped");
	tap_buf_printf(b, " %ju time%s for ", (uintmax_t)s->sleeps, s->sleeps == 1 ? "" : "s");
	put_ms(b, s->ns);
	tap_buf_puts(b, s->sleeps == 1 ? "" : ", at most ");
	if (s->sleeps > 1)
		put_ms(b, s->max_ns);
	tap_buf_puts(b, " from ");
	tap_wall_add(&run->rec.wall, b, s->max_from_ns);
	tap_buf_puts(b, " on");
	put_stack(b, stacks, s->key.stack);
	tap_buf_puts(b, ". Verdict: not the scheduler.");
}

static void put_at(struct tap_run *run, struct tap_buf *b, uint64_t at_ns)
{
	tap_buf_puts(b, "At ");
	tap_wall_add(&run->rec.wall, b, at_ns);
	tap_buf_puts(b, " ");
}

void tap_explain_waits_words(struct tap_run *run, const struct tap_explained_wait *longest,
			     unsigned int nr, uint64_t at_ns, struct tap_buf *b)
{
	put_at(run, b, at_ns);
	tap_buf_printf(b, "%u tasks waited for a CPU, %s, verdict %s. The longest wait: ", nr,
		       tap_state_name(longest->state), tap_verdict_text(longest->verdict));
}

/* Append "nginx [812] was blocked, " or "40 tasks were blocked, the longest nginx [812] ". */
static void put_apart(struct tap_run *run, const struct tap_explained_apart *a, unsigned int nr,
		      struct tap_buf *b)
{
	const char *was = a->state == TAP_STATE_UNKNOWN ? ":" : nr > 1 ? " were" : " was";

	if (nr > 1)
		tap_buf_printf(b, "%u tasks", nr);
	else
		put_label(run, b, a->task);
	tap_buf_printf(b, "%s %s, ", was, tap_state_name(a->state));
	if (nr == 1)
		return;
	tap_buf_puts(b, "the longest ");
	put_label(run, b, a->task);
	tap_buf_puts(b, " ");
}

void tap_explain_apart_words(struct tap_run *run, const struct tap_explained_apart *a,
			     unsigned int nr, uint64_t at_ns, const struct tap_event_stacks *stacks,
			     struct tap_buf *b)
{
	put_at(run, b, at_ns);
	put_apart(run, a, nr, b);
	tap_buf_puts(b, "from ");
	tap_wall_add(&run->rec.wall, b, a->from_ns);
	tap_buf_puts(b, " on for ");
	put_ms(b, a->to_ns - a->from_ns);
	put_stack(b, stacks, a->stack);
	tap_buf_puts(b, a->state == TAP_STATE_UNKNOWN || a->state == TAP_STATE_RUNNING
				? "."
				: ". Verdict: not the scheduler.");
}

/* ---- summary of time ---- */

void tap_explain_share_words(struct tap_run *run, struct tap_buf *b)
{
	static const struct {
		const char *words;
		uint32_t states;
	} parts[] = {
		{ " ran for ", TAP_STATE_BIT(TAP_STATE_RUNNING) },
		{ ", waited for a CPU for ",
		  TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) },
		{ ", throttled for ", TAP_STATE_BIT(TAP_STATE_THROTTLED) },
		{ ", blocked for ", TAP_STATE_BIT(TAP_STATE_BLOCKED) },
		{ ", slept for ",
		  TAP_STATE_BIT(TAP_STATE_SLEEPING) | TAP_STATE_BIT(TAP_STATE_STOPPED) },
		{ "; unknown: ", TAP_STATE_BIT(TAP_STATE_UNKNOWN) },
	};
	uint64_t ns[TAP_NR_STATES] = { 0 }, all_ns = 0;
	unsigned int nr, nr_picked = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr), *picked = NULL;

	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_run_has_task(run, tasks[i]))
			continue;
		picked = tasks[i];
		nr_picked++;
		for (enum tap_state s = 0; s < TAP_NR_STATES; s++) {
			ns[s] += tap_task_total_ns(tasks[i], s);
			all_ns += tap_task_total_ns(tasks[i], s);
		}
	}
	if (!all_ns)
		return;
	tap_buf_puts(b, "Of ");
	put_ms(b, all_ns);
	tap_buf_puts(b, " ");
	if (nr_picked == 1)
		put_label(run, b, picked);
	else
		tap_buf_printf(b, "%u tasks together", nr_picked);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		uint64_t part_ns = 0;

		for (enum tap_state s = 0; s < TAP_NR_STATES; s++)
			part_ns += parts[i].states & TAP_STATE_BIT(s) ? ns[s] : 0;
		if (part_ns || !i)
			tap_buf_printf(b, "%s%.1f %%", parts[i].words, tap_pct(part_ns, all_ns));
	}
	tap_buf_puts(b, ".");
}

/* ---- suggested commands ---- */

/*
 * Append a word quoted for a shell. Characters that are unsafe on a terminal are escaped within
 * $'', which bash, ksh and zsh understand.
 */
static void put_word(struct tap_buf *b, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
	struct tap_buf shown = { 0 };
	bool is_escaped;

	if (*word && !word[strspn(word, plain)]) {
		tap_buf_puts(b, word);
		return;
	}
	tap_text_escape(&shown, word, strlen(word));
	is_escaped = shown.len != strlen(word);
	tap_buf_puts(b, is_escaped ? "$'" : "'");
	for (size_t i = 0; i < shown.len; i++)
		shown.data[i] == '\'' ? tap_buf_puts(b, is_escaped ? "\\'" : "'\\''")
				      : tap_buf_char(b, shown.data[i]);
	tap_buf_puts(b, "'");
	b->err = b->err ?: shown.err;
	tap_buf_release(&shown);
}

void tap_explain_command_words(const char *command, const struct tap_strings *files,
			       struct tap_buf *b)
{
	tap_buf_printf(b, "  schedtap %s", command);
	for (unsigned int i = 0; i < files->nr; i++) {
		tap_buf_puts(b, " -i ");
		put_word(b, files->v[i]);
	}
}

/* Append " --time @1.234+-5ms", a window around the wait. */
static void put_window(struct tap_buf *b, const struct tap_explained_wait *w)
{
	uint64_t half_ns = (w->to_ns - w->from_ns) / 2 + 1000000,
		 middle_ns = w->from_ns + (w->to_ns - w->from_ns) / 2;

	tap_buf_printf(b, " --time @%ju.%09ju+-%juus", (uintmax_t)(middle_ns / 1000000000),
		       (uintmax_t)(middle_ns % 1000000000), (uintmax_t)(half_ns / 1000));
}

static void put_around(struct tap_buf *b, const struct tap_explained_wait *w,
		       const struct tap_strings *files)
{
	tap_explain_command_words("timehist", files, b);
	tap_buf_printf(b, " -t %d", tap_task_tid(w->task));
	put_window(b, w);
	tap_buf_puts(b, "  # what it did around its longest wait\n");
	tap_explain_command_words(w->idle.ns ? "balance" : "map", files, b);
	put_window(b, w);
	tap_buf_puts(b, w->idle.ns ? "  # which CPUs were idle then\n"
				   : "  # what each CPU ran then\n");
}

/* Suggest the critical path: what the task slept for, and which tasks it depended on. */
static void put_critical(struct tap_run *run, struct tap_buf *b, const struct tap_task *task,
			 const struct tap_strings *files)
{
	if (!tap_survey_has_event(&run->survey, "sched_waking") &&
	    !tap_survey_has_event(&run->survey, "sched_wakeup"))
		return;
	tap_explain_command_words("critical", files, b);
	tap_buf_printf(b, " -t %d  # for whom and what it slept\n", tap_task_tid(task));
}

/*
 * Suggest events that would explain more. The wildcard schedtap:* is used because no kernel has all
 * of these events.
 */
static void put_missing(struct tap_run *run, struct tap_buf *b)
{
	static const char *const wanted[] = { "sched_pick", "cpu_idle", "softirq_entry" };
	size_t i = 0;

	while (i < sizeof(wanted) / sizeof(*wanted) &&
	       tap_survey_has_event(&run->survey, wanted[i]))
		i++;
	if (i < sizeof(wanted) / sizeof(*wanted))
		tap_buf_puts(b, "  schedtap record -e sched -e task -e 'schedtap:*' -e idle -e irq "
				"-d 5  # with events that say more\n");
	if (!tap_event_stacks_are_in(&run->survey))
		tap_buf_puts(b, "  schedtap record --stack sched_switch -d 5  # with stacks: what "
				"it slept for\n");
}

void tap_explain_next_words(struct tap_run *run, const struct tap_explain *e,
			    const struct tap_strings *files, struct tap_buf *b)
{
	const struct tap_explained_wait *worst = e->nr_worst ? &e->worst[0] : NULL;

	tap_buf_puts(b, "\nnext:\n");
	if (worst)
		put_around(b, worst, files);
	if (worst)
		put_critical(run, b, worst->task, files);
	if (worst && e->kinds[TAP_PIECE_THROTTLED].ns) {
		tap_explain_command_words("latency", files, b);
		tap_buf_printf(b, " --throttled -t %d  # each time that its quota was used up\n",
			       tap_task_tid(worst->task));
	}
	if (e->kinds[TAP_PIECE_UNKNOWN].ns) {
		tap_explain_command_words("summary", files, b);
		tap_buf_puts(b, "  # what is missing, and where\n");
	}
	put_missing(run, b);
}
