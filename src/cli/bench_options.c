// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/bench_options.h"

#include <errno.h>
#include <unistd.h>

#include "base/cmd.h"

#define MAX_THREADS 100000 /* also of all messengers or groups together */
#define MAX_PRODUCTS 1000000000 /* more than 15 minutes of work */
#define DURATION_NS 10000000000u
#define WARM_UP_NS 1000000000u
#define WORK_NS 30000u
#define MATRIX 16u /* a product takes 1 to 3 us: fine steps of --work */
/* schbench's defaults: 5 products of matrices, all three of which have 256 KiB; sleeps of 100 us */
#define SCHBENCH_MATRIX 104u
#define SCHBENCH_PRODUCTS 5u
#define SCHBENCH_SLEEP_NS 100000u
#define NOT_GIVEN UINT64_MAX

#define T struct tap_bench_opts
const struct tap_opt tap_bench_options[] = {
	{ "rounds", 'r', "N", "run the load this many times [3]", TAP_OPT_INT, offsetof(T, rounds),
	  .min = 1, .max = TAP_BENCH_MAX_ROUNDS },
	TAP_OPTION(T, duration_ns, "duration", 'd', "TIME", TAP_OPT_TIME,
		   "measure for this long in each round [10s]"),
	TAP_OPTION(T, warm_up_ns, "warm-up", 0, "TIME", TAP_OPT_TIME,
		   "before that, run the load for this long [1s]"),
	{ "threads", 0, "N",
	  "messages, mixed: workers of each messenger [CPUs]; yield, hog: threads per CPU [2]; "
	  "fork: threads that fork [1]; --like hackbench: senders of a group [20]",
	  TAP_OPT_INT, offsetof(T, threads), .min = 1, .max = MAX_THREADS },
	{ "messengers", 0, "N",
	  "messages, mixed: threads that wake workers [1]; --like hackbench: groups [10]",
	  TAP_OPT_INT, offsetof(T, messengers), .min = 1, .max = MAX_THREADS },
	TAP_OPTION(T, work_ns, "work", 0, "TIME", TAP_OPT_TIME,
		   "messages, mixed, hog: CPU work of a request [30us; --like schbench: that of "
		   "schbench]"),
	{ "products", 0, "N",
	  "messages, mixed, hog: a request is N matrix products, as another run's JSON says, "
	  "however long they take",
	  TAP_OPT_INT, offsetof(T, products), .min = 1, .max = MAX_PRODUCTS },
	TAP_OPTION(T, scheduler, "expect-scheduler", 0, "NAME", TAP_OPT_STRING,
		   "fail unless this scheduler is in use: EEVDF, CFS, or a sched_ext scheduler"),
	TAP_OPTION(T, like, "like", 0, "BENCHMARK", TAP_OPT_STRING,
		   "with messages: run the load of schbench or hackbench, and also print its "
		   "lines"),
	TAP_OPTION(T, output, "output", 'o', "FILE", TAP_OPT_STRING,
		   "keep the last round's recording in this file"),
	TAP_OPTION(T, no_record, "no-record", 0, NULL, TAP_OPT_FLAG,
		   "do not record: no reasons, and no overhead of recording"),
	{ .name = "json",
	  .help = "print JSON, times in nanoseconds",
	  .type = TAP_OPT_CHOICE,
	  .offset = offsetof(T, style),
	  .choice = &tap_style_json },
	{ 0 }
};
#undef T

const struct tap_bench_opts tap_bench_defaults = {
	.duration_ns = NOT_GIVEN,
	.warm_up_ns = NOT_GIVEN,
	.work_ns = NOT_GIVEN,
	.rounds = 3,
};

static const struct bench_load {
	const char *name, *unit;
	const char *shown; /* in messages, if not .name */
} loads[TAP_NR_LOADS] = {
	[TAP_LOAD_MESSAGES] = { "messages", "requests", NULL },
	[TAP_LOAD_PIPE] = { "pipe", "round trips", NULL },
	[TAP_LOAD_YIELD] = { "yield", "yields", NULL },
	[TAP_LOAD_FORK] = { "fork", "forks", NULL },
	[TAP_LOAD_HOG] = { "hog", "units of work", NULL },
	[TAP_LOAD_MIXED] = { "mixed", "requests", NULL },
	[TAP_LOAD_GROUPS] = { "messages", "messages", "--like hackbench" },
};

/* ---- which load ---- */

static int find_load(const struct tap_strings *operands, enum tap_load_kind *kind,
		     struct tap_err *err)
{
	if (operands->nr != 1)
		return tap_err_set(err, -EINVAL,
				   "expected one load: messages, pipe, yield, fork, hog or mixed");
	for (*kind = 0; *kind < TAP_LOAD_GROUPS; (*kind)++)
		if (!strcmp(operands->v[0], loads[*kind].name))
			return 0;
	return tap_err_set(err, -EINVAL,
			   "unknown load '%.100s': expected messages, pipe, yield, fork, hog or "
			   "mixed",
			   operands->v[0]);
}

static int find_like(const struct tap_bench_opts *o, enum tap_load_kind *kind,
		     enum tap_bench_like *like, struct tap_err *err)
{
	*like = TAP_LIKE_NONE;
	if (!o->like)
		return 0;
	if (*kind != TAP_LOAD_MESSAGES)
		return tap_err_set(err, -EINVAL, "--like goes with messages only");
	if (o->style)
		return tap_err_set(err, -EINVAL, "--like and --json exclude each other");
	if (!strcmp(o->like, "schbench")) {
		*like = TAP_LIKE_SCHBENCH;
		return 0;
	}
	if (strcmp(o->like, "hackbench"))
		return tap_err_set(err, -EINVAL,
				   "--like: '%.100s' is not one of schbench, hackbench", o->like);
	*like = TAP_LIKE_HACKBENCH;
	*kind = TAP_LOAD_GROUPS;
	return 0;
}

/* ---- options that do not fit ---- */

#define LOAD(name) (1u << TAP_LOAD_##name)
#define WITH_WORK (LOAD(MESSAGES) | LOAD(MIXED) | LOAD(HOG))
#define ALL_LOADS ((1u << TAP_NR_LOADS) - 1)

/* Refuse an option that would not change this load. @takers: the loads that it changes. */
static int check_use(enum tap_load_kind kind, bool is_given, const char *option,
		     unsigned int takers, const char *why, struct tap_err *err)
{
	if (!is_given || (takers & 1u << kind))
		return 0;
	return tap_err_set(err, -EINVAL, "%s does not take --%s: %s",
			   loads[kind].shown ?: loads[kind].name, option, why);
}

static int check_uses(const struct tap_bench_opts *o, enum tap_load_kind kind, struct tap_err *err)
{
	static const char no_work[] = "only messages, mixed and hog have work of a chosen length",
			  own_end[] = "it ends when all of its messages are received";
	unsigned int timed = ALL_LOADS & ~LOAD(GROUPS);

	return check_use(kind, o->threads, "threads", ALL_LOADS & ~LOAD(PIPE),
			 "it always runs two processes", err) ?:
	       check_use(kind, o->messengers, "messengers",
			 LOAD(MESSAGES) | LOAD(MIXED) | LOAD(GROUPS),
			 "only messages and mixed have messengers", err) ?:
	       check_use(kind, o->work_ns != NOT_GIVEN, "work", WITH_WORK, no_work, err) ?:
	       check_use(kind, o->products, "products", WITH_WORK, no_work, err) ?:
	       check_use(kind, o->duration_ns != NOT_GIVEN, "duration", timed, own_end, err) ?:
	       check_use(kind, o->warm_up_ns != NOT_GIVEN, "warm-up", timed, own_end, err);
}

static int check_options(const struct tap_bench_opts *o, const struct tap_load_opts *l,
			 struct tap_err *err)
{
	if (!l->duration_ns)
		return tap_err_set(err, -EINVAL, "--duration must be greater than 0");
	if (!o->work_ns)
		return tap_err_set(err, -EINVAL, "--work must be greater than 0");
	if (o->work_ns != NOT_GIVEN && o->work_ns > l->duration_ns)
		return tap_err_set(err, -EINVAL, "--work must not be longer than --duration");
	if (o->no_record && o->output)
		return tap_err_set(err, -EINVAL, "--no-record and --output exclude each other");
	if ((uint64_t)l->threads * l->messengers > MAX_THREADS)
		return tap_err_set(err, -EINVAL, "%u times %u threads are more than %d",
				   l->messengers, l->threads, MAX_THREADS);
	return 0;
}

/* ---- the load ---- */

static unsigned int threads_of(const struct tap_bench_opts *o, enum tap_load_kind kind)
{
	unsigned int nr = (unsigned int)o->threads,
		     cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	switch (kind) {
	case TAP_LOAD_MESSAGES:
	case TAP_LOAD_MIXED:
		return nr ?: cpus;
	case TAP_LOAD_YIELD:
	case TAP_LOAD_HOG:
		return (nr ?: 2) * cpus;
	case TAP_LOAD_GROUPS:
		return nr ?: 20;
	default:
		return nr ?: 1;
	}
}

static void choose_load(struct tap_bench *b, const struct tap_bench_opts *o,
			enum tap_load_kind kind)
{
	b->name = loads[kind].name;
	b->unit = loads[kind].unit;
	b->load = (struct tap_load_opts){
		.kind = kind,
		.threads = threads_of(o, kind),
		.messengers = (unsigned int)o->messengers
				      ?: kind == TAP_LOAD_GROUPS ? 10
								 : 1,
		.duration_ns = o->duration_ns == NOT_GIVEN ? DURATION_NS : o->duration_ns,
		.warm_up_ns = o->warm_up_ns == NOT_GIVEN ? WARM_UP_NS : o->warm_up_ns,
	};
}

static void choose_work(struct tap_bench *b, const struct tap_bench_opts *o, bool like_schbench)
{
	b->load.matrix = MATRIX;
	if (like_schbench) {
		b->load.like_schbench = true;
		b->load.sleep_ns = SCHBENCH_SLEEP_NS;
		b->load.matrix = SCHBENCH_MATRIX;
		b->load.products = SCHBENCH_PRODUCTS;
	}
	if (o->products)
		b->load.products = (uint64_t)o->products;
	if (o->work_ns != NOT_GIVEN)
		b->work_ns = o->work_ns;
	else if (!b->load.products)
		b->work_ns = WORK_NS;
	if (b->work_ns && !o->products)
		b->load.products = tap_load_calibrate(b->load.matrix, b->work_ns);
}

int tap_bench_choose(struct tap_bench *b, const struct tap_bench_opts *o,
		     const struct tap_strings *operands, enum tap_bench_like *like,
		     struct tap_err *err)
{
	enum tap_load_kind kind = TAP_LOAD_MESSAGES;
	int ret = find_load(operands, &kind, err) ?:
		  find_like(o, &kind, like, err) ?:
		  check_uses(o, kind, err);

	if (ret)
		return ret;
	choose_load(b, o, kind);
	ret = check_options(o, &b->load, err);
	if (!ret && (WITH_WORK & 1u << kind))
		choose_work(b, o, *like == TAP_LIKE_SCHBENCH);
	return ret;
}
