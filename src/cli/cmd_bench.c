// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap bench: run a load in rounds, record each round, and say why its waits were long. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "file/spool.h"
#include "cli/bench_options.h"
#include "cli/beside.h"
#include "cli/cmd_report.h"
#include "cli/screen.h"

#define LOG_TAIL ((size_t)4096)

struct running {
	const struct tap_bench_opts *opts;
	struct tap_bench bench;
	char folder[PATH_MAX]; /* of the recordings that are not kept */
	int log; /* receives the recorders' messages */
};

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	stopped = sig;
}

static int check_scheduler(const struct tap_bench_opts *o, const struct tap_settings *s,
			   struct tap_err *err)
{
	if (!o->scheduler || !strcasecmp(o->scheduler, s->scheduler))
		return 0;
	return tap_err_set(err, -EINVAL, "the scheduler in use is %.63s, not '%.100s'",
			   *s->scheduler ? s->scheduler : "unknown", o->scheduler);
}

/* ---- a round ---- */

/* Print the end of the recorder's messages. */
static void print_log(int log)
{
	off_t end = lseek(log, 0, SEEK_END);
	size_t len = end > (off_t)LOG_TAIL ? LOG_TAIL : (size_t)end;
	char text[LOG_TAIL];

	if (len && !tap_pread_all(log, text, len, end - (off_t)len))
		fwrite(text, 1, len, stderr);
}

/* Return: 0; an exit code. */
static int start_recorder(const struct running *r, struct tap_beside *beside, const char *file)
{
	static const char *const words[] = { "-e",  "sched", "-e",   "task", "-e",
					     "irq", "-e",    "idle", NULL };
	struct tap_err err = { 0 };
	int ret = tap_beside_start(beside, file, words, r->log, &err);

	if (stopped)
		tap_beside_stop(beside);
	if (!ret || stopped)
		return stopped ? TAP_EXIT_INTERRUPTED : 0;
	if (ret < 0)
		return tap_cmd_fail(&err, false);
	print_log(r->log);
	tap_cmd_say("the round could not be recorded: --no-record runs the load alone");
	return ret;
}

/* Run the load between the two looks at the machine. Return: 0; an exit code. */
static int run_load(const struct running *r, struct tap_bench_round *round)
{
	struct tap_err err = { 0 };
	int ret;

	tap_bench_machine_read(&round->before);
	ret = tap_load_run(&r->bench.load, &stopped, &round->load, &err);
	tap_bench_machine_read(&round->after);
	if (stopped)
		return TAP_EXIT_INTERRUPTED;
	return ret ? tap_cmd_fail(&err, false) : 0;
}

static int read_recording(const struct running *r, struct tap_bench_round *round, const char *file,
			  pid_t recorder)
{
	struct tap_progress progress = { 0 };
	const struct tap_listener listener = tap_cmd_listener(&progress);
	struct tap_err err = { 0 };
	int ret = tap_bench_read(file, r->bench.load.kind, &round->load, recorder, &listener,
				 &round->recorded, &err);

	tap_progress_erase(&progress);
	round->is_recorded = !ret;
	return ret ? tap_cmd_fail(&err, false) : 0;
}

static int run_recorded(const struct running *r, struct tap_bench_round *round, const char *file)
{
	struct tap_beside beside;
	pid_t recorder;
	int ret = start_recorder(r, &beside, file), code;

	if (ret)
		return ret;
	recorder = beside.pid;
	ret = run_load(r, round);
	code = tap_beside_stop(&beside);
	if (ret)
		return ret;
	if (code) {
		print_log(r->log);
		tap_cmd_say("the round's recording was ended from outside, or failed");
		return code;
	}
	return read_recording(r, round, file, recorder);
}

static int run_round(struct running *r, unsigned int i)
{
	struct tap_bench_round *round = &r->bench.rounds[i];
	bool is_kept = r->opts->output && i + 1 == r->opts->rounds;
	char file[PATH_MAX + 16];
	int ret;

	*round = (struct tap_bench_round){ .load = TAP_LOAD_RESULT_INIT,
					   .recorded = TAP_BENCH_RECORDED_INIT };
	r->bench.nr_rounds = i + 1;
	if (r->opts->no_record)
		return run_load(r, round);
	snprintf(file, sizeof(file), "%s/round.dat", r->folder);
	ret = run_recorded(r, round, is_kept ? r->opts->output : file);
	if (!is_kept)
		unlink(file);
	else if (!ret)
		r->bench.kept = r->opts->output;
	return ret;
}

static int run_rounds(struct running *r)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < r->opts->rounds; i++) {
		ret = run_round(r, i);
		if (!ret)
			fprintf(stderr, "round %u of %u\n", i + 1, (unsigned int)r->opts->rounds);
	}
	return ret;
}

/* ---- all of it ---- */

static int print_results(const struct running *r, enum tap_bench_like like)
{
	struct tap_page page = { 0 };
	struct tap_bench_sum sum;
	struct tap_err err = { 0 };
	int ret = tap_bench_sum(&sum, &r->bench);

	tap_page_open(&page, r->opts->style ?: &tap_style_text, STDOUT_FILENO);
	page.columns = tap_screen_columns();
	if (!ret)
		tap_bench_put(&r->bench, &sum, &page);
	if (!ret && like) {
		tap_buf_char(&page.buf, '\n');
		tap_bench_put_like(like, &r->bench, &sum, &page.buf);
	}
	ret = tap_page_close(&page) ?: ret;
	tap_bench_sum_release(&sum);
	if (ret)
		tap_err_set(&err, ret, "cannot print the results: %s", strerror(-ret));
	return ret ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
}

static int open_folder(struct running *r, struct tap_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char log[PATH_MAX + 16];

	snprintf(r->folder, sizeof(r->folder), "%.4000s/schedtap-bench-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->folder))
		return tap_err_set(err, -errno, "cannot make the folder '%.300s': %m", r->folder);
	snprintf(log, sizeof(log), "%s/record.log", r->folder);
	r->log = open(log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (r->log < 0)
		return tap_err_set(err, -errno, "cannot write '%.300s': %m", log);
	unlink(log); /* it is read through .log */
	return 0;
}

/* A recorder that was killed leaves the folder of its recording. */
static void remove_folder(struct running *r)
{
	char spool[PATH_MAX + 32];

	if (!*r->folder)
		return;
	snprintf(spool, sizeof(spool), "%s/round.dat.spool", r->folder);
	if (!access(spool, F_OK))
		tap_spool_remove_folder(spool, NULL);
	rmdir(r->folder);
	r->folder[0] = 0;
}

static void release(struct running *r)
{
	for (unsigned int i = 0; i < r->bench.nr_rounds; i++) {
		tap_load_result_release(&r->bench.rounds[i].load);
		tap_bench_recorded_release(&r->bench.rounds[i].recorded);
	}
	free(r->bench.rounds);
	if (r->log >= 0)
		close(r->log);
	remove_folder(r);
}

static int prepare(struct running *r, const struct tap_strings *operands, enum tap_bench_like *like,
		   struct tap_err *err)
{
	const struct tap_bench_opts *o = r->opts;
	int ret;

	tap_settings_read(&r->bench.settings, "");
	uname(&r->bench.kernel);
	ret = tap_bench_choose(&r->bench, o, operands, like, err)
		      ?: check_scheduler(o, &r->bench.settings, err);
	if (ret)
		return ret;
	r->bench.rounds = calloc((size_t)o->rounds, sizeof(*r->bench.rounds));
	if (!r->bench.rounds)
		return tap_err_nomem(err);
	return o->no_record ? 0 : open_folder(r, err);
}

static int run_bench(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct sigaction stop = { .sa_handler = on_stop };
	struct running r = { .opts = opts, .log = -1 };
	struct tap_err err = { 0 };
	enum tap_bench_like like;
	int ret;

	(void)rest;
	if (prepare(&r, operands, &like, &err)) {
		release(&r);
		return tap_cmd_fail(&err, true);
	}
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	ret = run_rounds(&r);
	remove_folder(
		&r); /* the reader of the results may close the pipe, which ends this process */
	ret = ret ?: print_results(&r, like);
	release(&r);
	return ret;
}

const struct tap_cmd tap_cmd_bench = {
	.name = "bench",
	.help = "run a load, measure its latencies, and say why",
	.exits = "0 measured, 1 failed, 2 usage error or another scheduler, 3 cannot record here, "
		 "130 stopped by a signal",
	.operands = "messages|pipe|yield|fork|hog|mixed",
	.example = "schedtap bench messages -r 1 -d 0.2 --warm-up 0.1",
	.opts = tap_bench_options,
	.opts_size = sizeof(struct tap_bench_opts),
	.defaults = &tap_bench_defaults,
	.run = run_bench,
};
