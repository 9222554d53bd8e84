// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap critical --between: critical paths of requests. */
#include <errno.h>

#include "show/report/critical.h"
#include "show/report/explain_words.h"

#define LONGEST 10u /* default number of requests to show */
#define SHOWN_OTHERS 3u /* other tasks shown per request, for people */

static void put_ms(struct tap_buf *b, uint64_t ns)
{
	tap_buf_printf(b, "%ju.%03u ms", (uintmax_t)(ns / 1000000),
		       (unsigned int)(ns / 1000 % 1000));
}

void tap_critical_put_share(struct tap_buf *b, uint64_t scheduling_ns, uint64_t all_ns,
			    uint64_t unknown_ns)
{
	put_ms(b, scheduling_ns);
	tap_buf_puts(b, " of ");
	put_ms(b, all_ns);
	tap_buf_printf(b, " (%.1f %%) is the most that a perfect scheduler could save",
		       tap_pct(scheduling_ns, all_ns));
	if (unknown_ns) {
		tap_buf_puts(b, ", but for ");
		put_ms(b, unknown_ns);
		tap_buf_puts(b, " that are unknown");
	}
	tap_buf_puts(b, ".");
}

int tap_critical_find_requests(struct critical *c, struct tap_err *err)
{
	tap_requests_end(&c->requests);
	tap_requests_keep_selected(&c->requests, c->report.run.timeline);
	if (!c->requests.nr)
		return tap_err_set(err, -ENODATA,
				   "no matching request both began and ended in the time window: "
				   "%ju did not end, %ju did not begin",
				   (uintmax_t)c->requests.unfinished,
				   (uintmax_t)c->requests.unbegun);
	if (tap_requests_add_up(&c->requests, &c->walk, &c->times))
		return tap_err_nomem(err);
	return tap_report_audience(&c->report) == TAP_FOR_SHEETS
		       ? 0
		       : tap_critical_explain_requests(c, tap_critical_nr_shown(&c->report), err);
}

/* ---- all requests ---- */

static uint64_t sum_of(const struct tap_hist *h)
{
	return (uint64_t)h->sum;
}

void tap_critical_put_members(struct tap_report *r, struct tap_table *t)
{
	const struct critical *c = tap_critical_of(r);
	struct tap_page *p = t->page;

	tap_page_u64(p, "nr_requests", c->requests.nr);
	tap_page_u64(p, "unfinished", c->requests.unfinished);
	tap_page_u64(p, "unbegun", c->requests.unbegun);
	tap_page_u64(p, "requests_ns", sum_of(&c->times.all));
	tap_page_u64(p, "scheduling_ns", tap_request_times_scheduling_ns(&c->times));
	tap_page_real(p, "scheduling_pct",
		      tap_pct(tap_request_times_scheduling_ns(&c->times), sum_of(&c->times.all)));
}

/* Print "120 requests, 1 that did not end: scheduling on their paths: 3.120 ms of ..." */
void tap_critical_put_sentence(struct tap_report *r, struct tap_table *t)
{
	struct critical *c = tap_critical_of(r);
	const struct tap_requests *q = &c->requests;
	struct tap_buf *b = &c->text;

	(void)t;
	tap_buf_printf(b, "%u request%s", q->nr, q->nr == 1 ? "" : "s");
	if (q->unfinished)
		tap_buf_printf(b, ", %ju that did not end", (uintmax_t)q->unfinished);
	if (q->unbegun)
		tap_buf_printf(b, ", %ju that did not begin", (uintmax_t)q->unbegun);
	tap_buf_puts(b, ": scheduling on their paths: ");
	tap_critical_put_share(b, tap_request_times_scheduling_ns(&c->times), sum_of(&c->times.all),
			       sum_of(&c->times.states[TAP_PATH_UNKNOWN]));
	tap_page_sentence(&r->page, b->data, b->len);
}

const struct tap_column tap_critical_time_columns[] = {
	{ "what", "of a request", TAP_CELL_TEXT, .width = 28 },
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 10 },
	{ "p50_ns", "p50", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ "p90_ns", "p90", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ "requests_pct", "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ 0 }
};

static void put_time(struct tap_report *r, struct tap_table *t, const char *what,
		     const struct tap_hist *h)
{
	if (!h->max)
		return;
	tap_table_puts(t, what);
	tap_table_u64(t, (uint64_t)(tap_hist_mean(h) + 0.5));
	tap_table_u64(t, tap_hist_quantile(h, 0.5));
	tap_table_u64(t, tap_hist_quantile(h, 0.9));
	tap_table_u64(t, tap_hist_quantile(h, 0.99));
	tap_table_u64(t, h->max);
	tap_table_real(t, tap_pct(sum_of(h), sum_of(&tap_critical_of(r)->times.all)));
	tap_table_row(t);
}

void tap_critical_put_times(struct tap_report *r, struct tap_table *t)
{
	const struct tap_request_times *times = &tap_critical_of(r)->times;

	put_time(r, t, "all", &times->all);
	put_time(r, t, "others", &times->others);
	for (enum tap_path_state s = 0; s < TAP_NR_PATH_STATES; s++)
		put_time(r, t, tap_path_state_name(s), &times->states[s]);
}

/* ---- the longest requests ---- */

unsigned int tap_critical_nr_shown(const struct tap_report *r)
{
	unsigned int nr = tap_critical_of(r)->requests.nr;
	int64_t most = r->opts->top >= 0 ? r->opts->top : LONGEST;

	return nr < most ? nr : (unsigned int)most;
}

const struct tap_column tap_critical_request_columns[] = {
	{ "from_ns", "from", TAP_CELL_AT, .width = 19 },
	{ "to_ns", NULL, TAP_CELL_AT },
	TAP_TASK_COLUMNS("", "finished by", 24),
	{ "path_ns", "time", TAP_CELL_NS, .width = 10 },
	{ "running_ns", "running", TAP_CELL_NS, .width = 9, .same_unit = true },
	{ "waiting_ns", "waiting", TAP_CELL_NS, .width = 9, .same_unit = true },
	{ "throttled_ns", NULL, TAP_CELL_NS },
	{ "blocked_ns", "blocked", TAP_CELL_NS, .width = 9, .same_unit = true },
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 9, .same_unit = true, .rank = 1 },
	{ "others_ns", NULL, TAP_CELL_NS },
	{ NULL, "with", TAP_CELL_LABEL },
	{ 0 }
};

/* Add a cell with the other tasks on the path: "cc1 [12] 1.200 ms, as [13] 0.100 ms" */
static void put_others(struct critical *c, struct tap_table *t, const struct tap_path *path,
		       unsigned int of)
{
	struct tap_run *run = &c->report.run;
	unsigned int nr, shown = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);
	struct tap_buf *b = &c->text;

	tap_buf_clear(b);
	for (unsigned int i = 0; i < path->nr_tasks && shown < SHOWN_OTHERS; i++) {
		if (path->tasks[i].task == of)
			continue;
		tap_buf_puts(b, shown++ ? ", " : "");
		tap_run_make_label(run, b, tasks[path->tasks[i].task]);
		tap_buf_char(b, ' ');
		put_ms(b, path->tasks[i].ns);
	}
	tap_table_text(t, b->data ? b->data : "", b->len);
}

/* For programs: write all tasks on the path. */
static void put_tasks(struct tap_report *r, const struct tap_path *path)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	tap_page_array(&r->page, "tasks");
	for (unsigned int i = 0; i < path->nr_tasks; i++) {
		tap_page_object(&r->page, NULL);
		tap_task_members(&r->page, tasks[path->tasks[i].task]);
		tap_page_u64(&r->page, "path_ns", path->tasks[i].ns);
		tap_page_object_end(&r->page);
	}
	tap_page_array_end(&r->page);
}

/* For programs: write the components of the path's waits, and the longest wait. */
static void put_why(struct tap_report *r, const struct tap_request_why *why)
{
	struct tap_page *p = &r->page;
	unsigned int nr;

	tap_page_array(p, "pieces");
	for (unsigned int i = 0; i < why->nr_pieces; i++)
		tap_explain_piece_members(&r->run, &why->pieces[i], p);
	tap_page_array_end(p);
	if (!why->nr_pieces) {
		tap_page_null(p, "longest_wait");
		return;
	}
	tap_page_object(p, "longest_wait");
	tap_task_members(p, tap_timeline_tasks(r->run.timeline, &nr)[why->longest_task]);
	tap_page_at(p, "from_ns", why->longest.from_ns);
	tap_page_at(p, "to_ns", why->longest.to_ns);
	tap_page_object_end(p);
}

static void put_path(struct critical *c, struct tap_table *t, const struct tap_request *q,
		     const struct tap_path *path)
{
	const struct tap_path_sum *all = &path->all;
	uint64_t own_ns = 0, waiting_ns = tap_path_scheduling_ns(all),
		 running_ns = all->state_ns[TAP_PATH_RUNNING];
	uint64_t throttled_ns = all->state_ns[TAP_PATH_THROTTLED],
		 unknown_ns = all->state_ns[TAP_PATH_UNKNOWN];
	struct tap_report *r = &c->report;
	unsigned int nr;

	for (unsigned int i = 0; i < path->nr_tasks; i++)
		if (path->tasks[i].task == q->task)
			own_ns = path->tasks[i].ns;
	tap_table_u64(t, q->from_ns);
	tap_table_u64(t, q->to_ns);
	tap_task_cells(&r->run, t, tap_timeline_tasks(r->run.timeline, &nr)[q->task]);
	tap_table_u64(t, all->ns);
	tap_table_u64(t, running_ns);
	tap_table_u64(t, waiting_ns);
	tap_table_u64(t, throttled_ns);
	tap_table_u64(t, all->ns - running_ns - waiting_ns - throttled_ns - unknown_ns);
	tap_table_u64(t, unknown_ns);
	tap_table_u64(t, all->ns - own_ns);
	put_others(c, t, path, q->task);
	put_tasks(r, path);
}

void tap_critical_put_request(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	struct critical *c = tap_critical_of(r);
	const struct tap_request *q = &c->requests.v[i];
	struct tap_path path = { 0 };

	if (tap_path_find(&path, &c->walk, q->task, q->from_ns, q->to_ns))
		r->page.err = r->page.err ? r->page.err : -ENOMEM;
	put_path(c, t, q, &path);
	/* waits are explained only for requests that are shown, and not for CSV */
	if (i < c->waits.nr_requests)
		put_why(r, &c->waits.requests[i]);
	tap_path_release(&path);
}

/*
 * Print "make [812], from 12.345678901: its path waited for a CPU for 5.100 ms: 4.200 ms cc1 [12]
 * ran, .... Longest: as [13], 3.100 ms.", and a command that explains the longest wait.
 */
static void put_why_words(struct critical *c, const struct tap_request *q,
			  const struct tap_request_why *why)
{
	struct tap_report *r = &c->report;
	const struct tap_request_wait *longest = &why->longest;
	uint64_t waited_ns = 0;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);
	struct tap_buf *b = &c->text;

	for (unsigned int i = 0; i < why->nr_pieces; i++)
		waited_ns += why->pieces[i].ns;
	tap_buf_clear(b);
	tap_run_make_label(&r->run, b, tasks[q->task]);
	tap_buf_puts(b, ", from ");
	tap_wall_add(&r->run.rec.wall, b, q->from_ns);
	tap_buf_puts(b, ": its path waited for a CPU for ");
	put_ms(b, waited_ns);
	tap_explain_pieces_words(&r->run, why->pieces, why->nr_pieces, b);
	tap_buf_puts(b, ". Longest: ");
	tap_run_make_label(&r->run, b, tasks[why->longest_task]);
	tap_buf_puts(b, ", ");
	put_ms(b, longest->to_ns - longest->from_ns);
	tap_buf_puts(b, ".");
	tap_page_sentence(&r->page, b->data, b->len);
	tap_explain_command_words("explain", &r->opts->input.input, &r->page.buf);
	tap_buf_printf(&r->page.buf, " -t %d --at ", longest->tid);
	tap_text_ns(&r->page.buf, longest->from_ns);
	tap_buf_puts(&r->page.buf, "\n");
}

void tap_critical_put_waits(struct tap_report *r, struct tap_table *t)
{
	struct critical *c = tap_critical_of(r);
	const struct tap_request_why *why = c->waits.requests;
	const char *before = "\n";

	(void)t;
	for (unsigned int i = 0; i < c->waits.nr_requests; i++) {
		if (!why[i].nr_pieces)
			continue;
		tap_buf_puts(&r->page.buf, before);
		put_why_words(c, &c->requests.v[i], &why[i]);
		before = "";
	}
}
