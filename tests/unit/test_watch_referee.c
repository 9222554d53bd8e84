// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A watch of a growing recording of a simulated schedule must report the waits that reports find in
 * the finished recording, by tap_run(), which `schedtap latency` and `timehist` use. A few waits
 * are excepted, as only their end shows what they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <schedtap/run.h>

#include "truth/write_dat.h"
#include "analysis/condition/watch.h"
#include "growing_spool.h"

#define SEEDS 60
#define NR_EVENTS 600
#define NR_CONDITIONS 7
#define SENTINEL "sched_process_exit if pid == 999"

static const struct {
	const char *text;
	enum tap_state state;
	uint64_t limit_ns;
} conditions[NR_CONDITIONS] = {
	{ "waking > 3us", TAP_STATE_WAKING, 3000 },
	{ "waking > 20us", TAP_STATE_WAKING, 20000 },
	{ "preempted > 2us", TAP_STATE_PREEMPTED, 2000 },
	{ "sleeping > 10us", TAP_STATE_SLEEPING, 10000 },
	{ "blocked > 15us", TAP_STATE_BLOCKED, 15000 },
	{ "running > 4us", TAP_STATE_RUNNING, 4000 },
	{ "throttled > 5us", TAP_STATE_THROTTLED, 5000 },
};

struct met {
	uint64_t at_ns;
	unsigned int condition;
	int tid;
};

struct mets {
	struct met v[8 * NR_EVENTS];
	unsigned int nr;
};

static void add(struct mets *m, uint64_t at_ns, unsigned int condition, int tid)
{
	assert_true(m->nr < sizeof(m->v) / sizeof(*m->v));
	m->v[m->nr++] = (struct met){ at_ns, condition, tid };
}

static int by_all(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->condition != y->condition)
		return x->condition < y->condition ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* At the end a wait that has just come to its limit has reached it. */
static int on_interval(void *mets, const struct tap_timeline *t, const struct tap_interval *s)
{
	uint64_t ns = s->to_ns - s->from_ns;

	(void)t;
	for (unsigned int i = 0; i < NR_CONDITIONS; i++)
		if (conditions[i].state == s->state && (s->whole || s->next == s->state) &&
		    ns + (s->next == s->state) > conditions[i].limit_ns)
			add(mets, s->from_ns + conditions[i].limit_ns, i, tap_task_tid(s->task));
	return 0;
}

static void report(const char *path, struct mets *mets)
{
	const struct tap_watcher_ops ops = {
		.size = sizeof(ops),
		.states = TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_UNKNOWN),
		.interval = on_interval,
	};
	const struct tap_watcher watcher = { .ops = &ops, .ctx = mets };
	struct tap_reader *r;

	assert_int_equal(tap_reader_open(path, &r, NULL), 0);
	assert_int_equal(tap_run(r, NULL, &watcher, 1, NULL), 0);
	tap_reader_free(r);
}

/* Take all conditions that fired. Return: whether the sentinel was among them. */
static bool take(struct tap_watch *w, struct tap_condition *const *all, struct mets *mets)
{
	bool ends = false;
	struct tap_met met;

	while (tap_watch_take(w, &met)) {
		unsigned int i = 0;

		while (all[i] != met.condition)
			i++;
		ends |= i == NR_CONDITIONS;
		if (i < NR_CONDITIONS)
			add(mets, met.at_ns, i, met.tid);
	}
	return ends;
}

/* Flush all events before @ns to the recording and take the conditions that they fire. */
static void write_up_to(struct growing *g, struct tap_watch *w, uint64_t ns,
			struct tap_condition *const *all, struct mets *mets)
{
	char line[64];

	snprintf(line, sizeof(line), "%llu 0 exit 999", (unsigned long long)ns - 1);
	growing_steps(g, line);
	growing_flush(g);
	assert_int_equal(tap_watch_read(w, ns, NULL), 0);
	assert_true(take(w, all, mets));
}

static void record(const struct sim *s, struct growing *g, struct tap_watch *w,
		   struct tap_condition *const *all, struct mets *mets)
{
	struct record rec = { 0 };
	uint64_t ts_ns = 0;

	for (unsigned int i = 0; i < s->nr_events; i++) {
		const struct event *e = &s->events[i];
		struct tap_event ev = { .ts_ns = e->ts_ns, .cpu = e->cpu };

		if (e->kind == WAKEUP)
			continue;
		if (i % 37 == 36 && e->ts_ns > ts_ns)
			write_up_to(g, w, e->ts_ns, all, mets);
		make_record(&rec, e, 0);
		ts_ns = e->ts_ns;
		ev.fmt = steps_format(event_names[e->kind]);
		ev.data = rec.bytes.data;
		ev.size = (uint32_t)rec.bytes.len;
		growing_add(g, &ev);
	}
	write_up_to(g, w, ts_ns + 1, all, mets);
	tap_buf_release(&rec.bytes);
}

static void release_sim(struct sim *s)
{
	free(s->events);
	free(s->segments);
	memset(s, 0, sizeof(*s));
}

/*
 * Fail if only the watch or only the reports have the wait @m, except in two cases. The watch may
 * miss a sleep of a task that was woken in vain just before. It may report a sleep, or the first
 * wait of an unknown task, that turns out at its end to be none.
 */
static void check_one(uint64_t seed, const struct met *m, bool is_watched, unsigned int *nr_doubts)
{
	enum tap_state state = conditions[m->condition].state;

	++*nr_doubts;
	if (state == TAP_STATE_SLEEPING || state == TAP_STATE_BLOCKED ||
	    (is_watched && state == TAP_STATE_WAKING))
		return;
	fail_msg("seed %d: %s: %s at %llu, task %d", (int)seed,
		 is_watched ? "watched, but not found" : "not watched",
		 conditions[m->condition].text, (unsigned long long)m->at_ns, m->tid);
}

/* Both are sorted. */
static void compare(uint64_t seed, const struct mets *watched, const struct mets *found,
		    unsigned int *nr_doubts)
{
	for (unsigned int i = 0, k = 0; i < found->nr || k < watched->nr;) {
		int order = i == found->nr     ? -1
			    : k == watched->nr ? 1
					       : by_all(&watched->v[k], &found->v[i]);

		if (order)
			check_one(seed, order < 0 ? &watched->v[k] : &found->v[i], order < 0,
				  nr_doubts);
		k += order <= 0;
		i += order >= 0;
	}
}

static void check_seed(uint64_t seed, unsigned int *nr_met, unsigned int *nr_doubts)
{
	static struct mets watched, found;
	static struct sim s;
	struct tap_condition *all[NR_CONDITIONS + 1];
	struct tap_watch *w;
	struct growing g;

	simulate(&s, seed, NR_EVENTS);
	/* that a CPU was taken away shows when it is back: until then what it ran is not certain */
	if (s.has_hotplug || s.nr_cpus > GROWING_CPUS) {
		release_sim(&s);
		return;
	}
	watched.nr = found.nr = 0;
	growing_make(&g);
	for (unsigned int i = 0; i < NR_CONDITIONS; i++)
		assert_int_equal(tap_condition_parse(conditions[i].text, &all[i], NULL), 0);
	assert_int_equal(tap_condition_parse(SENTINEL, &all[NR_CONDITIONS], NULL), 0);
	assert_int_equal(tap_watch_new(all, NR_CONDITIONS + 1, g.path, NULL, &w, NULL), 0);
	record(&s, &g, w, all, &watched);
	report(g.path, &found);
	/* some come after the last sentinel */
	for (int i = 0; i < 50 && watched.nr < found.nr; i++) {
		take(w, all, &watched);
		usleep(1000);
	}
	assert_int_equal(tap_watch_dropped(w), 0);
	qsort(watched.v, watched.nr, sizeof(*watched.v), by_all);
	qsort(found.v, found.nr, sizeof(*found.v), by_all);
	compare(seed, &watched, &found, nr_doubts);
	*nr_met += watched.nr;
	tap_watch_free(w);
	for (unsigned int i = 0; i <= NR_CONDITIONS; i++)
		tap_condition_free(all[i]);
	growing_remove(&g);
	release_sim(&s);
}

static void test_seeds(void **state)
{
	unsigned int nr_met = 0, nr_doubts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		check_seed(seed, &nr_met, &nr_doubts);
	print_message("# %u waits, and %u in doubt\n", nr_met, nr_doubts);
	assert_true(nr_met > 1000 && nr_doubts < nr_met / 100);
	steps_release();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_seeds) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("watch_referee", tests, NULL, NULL);
}
