/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* refusals FILE: what the library refuses, how a watcher stops a run, and how names are escaped.
 * Prints nothing but what is wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <schedtap/analyses.h>

static int failed;

static void expect(const char *what, bool is_right)
{
	if (!is_right)
		printf("%s\n", what);
	failed |= !is_right;
}

static struct tap_err err;

/* Return: what tap_run() returns for @nr times this watcher. */
static int run(struct tap_reader *reader, const struct tap_run_opts *opts,
	       const struct tap_watcher *watcher, unsigned int nr)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS + 1];

	for (unsigned int i = 0; i < nr; i++)
		watchers[i] = *watcher;
	err.text[0] = '\0';
	return tap_run(reader, opts, watchers, nr, &err);
}

/* ---- watchers ---- */

static int nr_ends;

static int count(void *ctx, const struct tap_timeline *t)
{
	(void)ctx, (void)t;
	nr_ends++;
	return 0;
}

static int stop(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	(void)t, (void)s;
	return *(int *)ctx;
}

static void check_watchers(struct tap_reader *reader)
{
	const struct tap_watcher_ops ops = { .size = sizeof(ops), .end = count };
	const struct tap_watcher watcher = { .ops = &ops };

	expect("a run takes 15 watchers",
	       run(reader, NULL, &watcher, TAP_MAX_WATCHERS) == 0 && nr_ends == TAP_MAX_WATCHERS);
	expect("and no more", run(reader, NULL, &watcher, TAP_MAX_WATCHERS + 1) == -EINVAL &&
				      strstr(err.text, "1 to 15 watchers"));
	expect("nor none",
	       run(reader, NULL, &watcher, 0) == -EINVAL && nr_ends == TAP_MAX_WATCHERS);
}

static void check_codes(struct tap_reader *reader)
{
	const struct tap_watcher_ops ops = {
		.size = sizeof(ops), .states = TAP_STATE_ALL, .interval = stop, .end = count
	};
	int code = -ENOSPC;
	const struct tap_watcher watcher = { .ops = &ops, .ctx = &code };

	nr_ends = 0;
	expect("a watcher's error code is the run's", run(reader, NULL, &watcher, 1) == -ENOSPC);
	code = 7;
	expect("and any other value", run(reader, NULL, &watcher, 2) == 7);
	expect("then nothing more is reported", nr_ends == 0);
	code = 0;
	expect("the reader may be used again", run(reader, NULL, &watcher, 1) == 0 && nr_ends == 1);
}

/* ---- sizes ---- */

/* A program that was built with a later header: longer structs, of which the new members are set or
 * not. */
static void check_sizes(struct tap_reader *reader)
{
	struct {
		struct tap_watcher_ops known;
		void *later;
	} ops = { .known = { .size = sizeof(ops), .end = count } };
	struct {
		struct tap_run_opts known;
		void *later;
	} opts = { .known = { .size = sizeof(opts) } };
	const struct tap_watcher watcher = { .ops = &ops.known };

	nr_ends = 0;
	expect("longer structs with nothing new set",
	       run(reader, &opts.known, &watcher, 1) == 0 && nr_ends == 1);
	ops.later = &ops;
	expect("a watcher with a function that this library does not know",
	       run(reader, NULL, &watcher, 1) == -EINVAL && strstr(err.text, "newer"));
	ops.later = NULL;
	opts.later = &opts;
	expect("options that it does not know",
	       run(reader, &opts.known, &watcher, 1) == -EINVAL && strstr(err.text, "newer"));
	opts.later = NULL;
	ops.known.size = offsetof(struct tap_watcher_ops, end);
	expect("an earlier header had no .end",
	       run(reader, NULL, &watcher, 1) == 0 && nr_ends == 1);
	ops.known.size = 0;
	expect("a size that is not set",
	       run(reader, NULL, &watcher, 1) == -EINVAL && strstr(err.text, "size"));
}

/* ---- handles ---- */

static int refuse_point(void *ctx, const struct tap_signal *s, uint64_t ts_ns, int64_t value)
{
	(void)ctx, (void)s, (void)ts_ns, (void)value;
	return -EPIPE;
}

static void check_handles(struct tap_reader *reader)
{
	struct tap_signals *signals = tap_signals_new("util", refuse_point, NULL, &err);
	const struct tap_watcher watcher = tap_signals_watcher(signals);

	expect("a point's error code is the run's", run(reader, NULL, &watcher, 1) == -EPIPE);
	tap_signals_free(signals);
	expect("no such signal", !tap_signals_new("utility", NULL, NULL, &err) &&
					 strstr(err.text, "no signal 'utility'"));
	expect("latencies of a state that is no wait",
	       !tap_latencies_new(TAP_STATE_SLEEPING, &err) && err.code == -EINVAL);
	expect("no waits to keep", !tap_long_waits_new(0, &err) && err.code == -EINVAL);
	expect("too many waits to keep", !tap_long_waits_new(10001, NULL));
	tap_signals_free(NULL);
	tap_latencies_free(NULL);
	tap_long_waits_free(NULL);
	tap_gap_reasons_free(NULL);
	tap_longest_states_free(NULL);
	expect("a watcher without a handle",
	       !tap_latencies_watcher(NULL).ctx && !tap_long_waits_watcher(NULL).ctx);
}

/* Before a run, and of tasks that are not there. */
static void check_empty(void)
{
	struct tap_latencies *latencies = tap_latencies_new(TAP_STATE_WAKING, &err);
	struct tap_longest_states *longest = tap_longest_states_new(&err);
	struct tap_signals *signals = tap_signals_new("load", NULL, NULL, &err);
	struct tap_long_waits *waits = tap_long_waits_new(1, &err);

	expect("nothing waited",
	       tap_latencies_all(latencies)->count == 0 && !tap_latencies_task(latencies, 100));
	expect("no task was in a state",
	       !tap_longest_states_ns(longest, 100, TAP_STATE_BLOCKED, NULL) &&
		       !tap_longest_states_ns(longest, -1, TAP_NR_STATES, NULL));
	expect("no signals", !tap_signals_get(signals, 0));
	expect("no waits", !tap_long_waits_get(waits, 0));
	tap_latencies_free(latencies);
	tap_longest_states_free(longest);
	tap_signals_free(signals);
	tap_long_waits_free(waits);
}

/* ---- names ---- */

static void check_escape(void)
{
	static const char name[] = "a\033[2J\n\\\xe2\x80\xae"
				   "b\xff";
	static const char printable[] = "a\\x1B[2J\\n\\\\\\xE2\\x80\\xAEb\\xFF";
	char text[64], cut[4] = "zzz";

	expect("what a terminal would obey is escaped",
	       tap_name_escape(text, sizeof(text), name, sizeof(name) - 1) == strlen(printable) &&
		       !strcmp(text, printable));
	expect("a text is cut, and its length is that of all of it",
	       tap_name_escape(cut, sizeof(cut), name, sizeof(name) - 1) == strlen(printable) &&
		       !strcmp(cut, "a\\x"));
	expect("without a buffer",
	       tap_name_escape(NULL, 0, name, sizeof(name) - 1) == strlen(printable));
	expect("nothing", tap_name_escape(cut, sizeof(cut), "", 0) == 0 && !*cut);
	expect("UTF-8 stays", tap_name_escape(text, sizeof(text), "\xc3\xa4", 2) == 2 &&
				      !strcmp(text, "\xc3\xa4"));
}

int main(int argc, char **argv)
{
	struct tap_reader *reader = NULL;

	if (argc != 2 || tap_reader_open(argv[1], &reader, &err)) {
		printf("%s\n", argc == 2 ? err.text : "usage: refusals FILE");
		return 1;
	}
	check_watchers(reader);
	check_codes(reader);
	check_sizes(reader);
	check_handles(reader);
	check_empty();
	check_escape();
	tap_reader_free(reader);
	return failed;
}
