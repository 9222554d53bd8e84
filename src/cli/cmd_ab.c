// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap ab: run two commands alternately under `schedtap record`, or a bench after two set-ups,
 * and compare the recordings or the rounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ab_bench.h"
#include "cli/cmd.h"
#include "cli/cmd_diff.h"

#define LOG_TAIL ((size_t)4096)
#define LOG_NAME "record.log"
#define MAX_ROUNDS 1000
#define WORDS 24u /* maximum words of the recorder's command line, not counting -e */

struct ab_opts {
	struct tap_diff_opts diff;
	const char *folder, *backend, *buffer;
	struct tap_strings events;
	int64_t rounds;
};

#define T struct ab_opts
static const struct tap_opt options[] = {
	{ "rounds", 'r', "N", "record each command this many times [10]", TAP_OPT_INT,
	  offsetof(T, rounds), .min = 1, .max = MAX_ROUNDS },
	TAP_OPTION(T, folder, "output", 'o', "DIR", TAP_OPT_STRING,
		   "keep the recordings in this new folder [ab]"),
	TAP_OPT_EVENTS(T, events),
	TAP_OPTION(T, backend, "backend", 'b', "NAME", TAP_OPT_STRING,
		   "use only this backend, as in schedtap record"),
	TAP_OPTION(T, buffer, "buffer", 0, "SIZE", TAP_OPT_STRING,
		   "ring buffer per CPU, as in schedtap record"),
	TAP_OPT_ROWS(tap_diff_options),
	{ 0 }
};
#undef T

struct side {
	char name; /* 'a' or 'b', used in file names and messages */
	const char *command; /* or the set-up of bench */
	char **files; /* owned; the paths of recordings or JSON, one for each completed round */
	unsigned int nr_files;
};

struct ab {
	const struct ab_opts *opts;
	struct tap_ab_bench bench; /* .words is NULL: commands are recorded */
	const char *what, *suffix; /* of the files: "recordings", "dat" */
	struct side sides[2];
	int log; /* receives the messages of recorders or of bench */
};

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t recorder; /* pid of the running recorder; 0: none */

/* Pass the signal on. A recorder in the same terminal gets Ctrl-C twice, and counts that as one. */
static void on_stop(int sig)
{
	stopped = sig;
	if (recorder)
		kill(recorder, sig);
}

/* ---- one recording ---- */

/*
 * The shell script that the recorder runs: the command's messages go to our stderr, the recorder's
 * to the log, and the command's output is discarded.
 */
/* file descriptor of our stderr in the recorder; SCRIPT uses its number, too */
#define COMMAND_STDERR 3
#define SCRIPT "exec /bin/sh -c \"$1\" 2>&3 3>&- >/dev/null"

static char **recorder_words(const struct ab_opts *o, const char *file, const char *command)
{
	const char **words = calloc(WORDS + 2 * (size_t)o->events.nr, sizeof(*words)), **w = words;

	if (!words)
		return NULL;
	*w++ = "schedtap";
	*w++ = "record";
	*w++ = "-o";
	*w++ = file;
	for (unsigned int i = 0; i < o->events.nr; i++) {
		*w++ = "-e";
		*w++ = o->events.v[i];
	}
	if (o->backend) {
		*w++ = "-b";
		*w++ = o->backend;
	}
	if (o->buffer) {
		*w++ = "--buffer";
		*w++ = o->buffer;
	}
	*w++ = "--";
	*w++ = "/bin/sh";
	*w++ = "-c";
	*w++ = SCRIPT;
	*w++ = "sh";
	*w++ = command;
	return (char **)words;
}

/*
 * Run the recorder in the child; exec resets signal handlers. @log: may have the number
 * COMMAND_STDERR itself.
 */
static void become_recorder(int log, char **words)
{
	int null = open("/dev/null", O_RDONLY),
	    said = fcntl(log, F_DUPFD_CLOEXEC, COMMAND_STDERR + 1);

	if (words && null >= 0 && said >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(STDERR_FILENO, COMMAND_STDERR) >= 0 && dup2(said, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", words);
	_exit(TAP_EXIT_FAILED);
}

/*
 * Record one run, or run a bench. Return: the exit code of the recorder or bench, or 128 + signal
 * number as in shells; -errno with a sentence.
 */
static int run_once(const struct ab *ab, const char *file, const char *command, struct tap_err *err)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid && ab->bench.words)
		tap_ab_bench_become(&ab->bench, command, file, ab->log);
	if (!pid)
		become_recorder(ab->log, recorder_words(ab->opts, file, command));
	if (pid < 0)
		return tap_err_set(err, -errno, "cannot fork: %m");
	recorder = pid;
	if (stopped)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	recorder = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Print the log from @from on, at most its last LOG_TAIL bytes. */
static void print_log(int log, off_t from)
{
	off_t end = lseek(log, 0, SEEK_END);
	size_t len = end > from ? (size_t)(end - from) : 0;
	char text[LOG_TAIL];

	if (len > LOG_TAIL)
		len = LOG_TAIL;
	if (len && !tap_pread_all(log, text, len, end - (off_t)len))
		fwrite(text, 1, len, stderr);
}

/*
 * Report a failed run. @code: the recorder's exit code; the recorder may have left @file. Return:
 * our exit code.
 */
static int report_failure(const struct ab *ab, const struct side *side, unsigned int round,
			  const char *file, int code, off_t log_from)
{
	bool was_recorded = !ab->bench.words && !access(file, F_OK);
	struct tap_err err = { 0 };

	if (stopped)
		return TAP_EXIT_INTERRUPTED;
	if (!was_recorded)
		print_log(ab->log, log_from);
	tap_err_set(&err, -EIO, "'%.500s' (command %c, round %u) %s with exit status %d",
		    side->command, side->name - 'a' + 'A', round + 1,
		    ab->bench.words ? "or the bench after it failed"
		    : was_recorded  ? "failed"
				    : "could not be recorded: the recorder ended",
		    code);
	tap_cmd_fail(&err, false);
	return was_recorded || code > TAP_EXIT_MISSING ? TAP_EXIT_FAILED : code;
}

/* Keep the file of a completed run. Return: 0; -errno with a sentence. */
static int add_file(struct ab *ab, struct side *side, char *file, struct tap_err *err)
{
	side->files[side->nr_files++] = file;
	return ab->bench.words && !ab->bench.products
		       ? tap_ab_bench_take_work(&ab->bench, file, err)
		       : 0;
}

/*
 * Run one round of @side. Failed or interrupted recordings are removed. Return: 0; an exit code.
 */
static int run_round(struct ab *ab, struct side *side, unsigned int round)
{
	off_t log_from = lseek(ab->log, 0, SEEK_END);
	struct tap_err err = { 0 };
	char *file;
	int ret;

	if (asprintf(&file, "%s/%c-%03u.%s", ab->opts->folder, side->name, round + 1, ab->suffix) <
	    0) {
		tap_err_nomem(&err);
		return tap_cmd_fail(&err, false);
	}
	ret = run_once(ab, file, side->command, &err);
	if (!ret && !stopped)
		return add_file(ab, side, file, &err) ? tap_cmd_fail(&err, false) : 0;
	ret = ret < 0 ? tap_cmd_fail(&err, false)
		      : report_failure(ab, side, round, file, ret, log_from);
	unlink(file);
	free(file);
	return ret;
}

/* ---- all rounds ---- */

static int open_folder(struct ab *ab, struct tap_err *err)
{
	const char *folder = ab->opts->folder;
	char log[PATH_MAX];

	if (mkdir(folder, 0777)) {
		if (errno == EEXIST)
			return tap_err_set(err, -EINVAL,
					   "'%.300s' already exists: -o needs a new folder, for "
					   "the recordings of this comparison only",
					   folder);
		return tap_err_set(err, -errno, "cannot make the folder '%.300s': %m", folder);
	}
	snprintf(log, sizeof(log), "%s/" LOG_NAME, folder);
	ab->log = open(log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return ab->log < 0 ? tap_err_set(err, -errno, "cannot write '%.300s': %m", log) : 0;
}

/*
 * Alternate the order (A B, B A, A B, ...), so that drift over time affects both sides equally.
 * Return: 0; an exit code.
 */
static int run_all(struct ab *ab)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < ab->opts->rounds; i++) {
		ret = run_round(ab, &ab->sides[i % 2], i);
		if (!ret)
			ret = run_round(ab, &ab->sides[1 - i % 2], i);
		if (!ret)
			fprintf(stderr, "round %u of %u\n", i + 1, (unsigned int)ab->opts->rounds);
	}
	return ret;
}

static int compare_sides(const struct ab *ab)
{
	return tap_cmd_compare(&ab->opts->diff,
			       &(const struct tap_diff_sides){
				       .a = (const char *const *)ab->sides[0].files,
				       .nr_a = ab->sides[0].nr_files,
				       .b = (const char *const *)ab->sides[1].files,
				       .nr_b = ab->sides[1].nr_files,
				       .window_is_cost = true,
			       });
}

/* Remove a folder without recordings, so that the same command can be repeated. */
static void remove_folder(const char *folder)
{
	char log[PATH_MAX];

	snprintf(log, sizeof(log), "%s/" LOG_NAME, folder);
	unlink(log);
	rmdir(folder);
}

/* After a failure, say which recordings exist and how to compare them. */
static void print_rest(const struct ab *ab)
{
	const char *folder = ab->opts->folder;
	unsigned int nr_a = ab->sides[0].nr_files, nr_b = ab->sides[1].nr_files;
	struct tap_err err = { 0 };

	if (!nr_a && !nr_b) {
		remove_folder(folder);
		return;
	}
	tap_err_set(&err, -EINTR, "%s of command A (%u) and of command B (%u) are in '%.300s'",
		    ab->what, nr_a, nr_b, folder);
	if (nr_a && nr_b)
		tap_err_set(&err, -EINTR,
			    "%s of command A (%u) and of command B (%u) are in '%.300s': "
			    "compare them with `schedtap diff %.300s/a-*.%s -- %.300s/b-*.%s`",
			    ab->what, nr_a, nr_b, folder, folder, ab->suffix, folder, ab->suffix);
	tap_cmd_fail(&err, false);
}

static int check_options(const struct ab_opts *o, const struct tap_strings *operands,
			 char *const *bench, struct tap_err *err)
{
	int ret = bench ? tap_ab_bench_check(bench, err) : 0;

	if (ret)
		return ret;
	if (operands->nr != 2)
		return tap_err_set(err, -EINVAL,
				   "expected two commands, each quoted as one word, but %u %s "
				   "given: `schedtap ab 'CMD A' 'CMD B'`",
				   operands->nr, operands->nr == 1 ? "was" : "were");
	if (bench && (o->events.nr || o->backend || o->buffer))
		return tap_err_set(err, -EINVAL,
				   "-e, -b and --buffer do not go with schedtap bench, which "
				   "records itself");
	return tap_diff_check(&o->diff, bench, err);
}

static int run_rounds(struct ab *ab)
{
	const struct sigaction stop = { .sa_handler = on_stop };
	int ret;

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	ret = run_all(ab);
	if (ret)
		print_rest(ab);
	else
		ret = compare_sides(ab);
	return ret;
}

static int run_ab(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct ab_opts *o = opts;
	struct ab ab = { .opts = o,
			 .bench.words = rest,
			 .what = rest ? "rounds" : "recordings",
			 .suffix = rest ? "json" : "dat",
			 .log = -1 };
	struct tap_err err = { 0 };
	int ret = check_options(o, operands, rest, &err);

	for (unsigned int i = 0; !ret && i < 2; i++) {
		ab.sides[i] = (struct side){ (char)('a' + i), operands->v[i],
					     calloc((size_t)o->rounds, sizeof(char *)), 0 };
		if (!ab.sides[i].files)
			ret = tap_err_nomem(&err);
	}
	ret = ret ?: open_folder(&ab, &err);
	ret = ret ? tap_cmd_fail(&err, true) : run_rounds(&ab);
	for (unsigned int i = 0; i < 2; i++) {
		while (ab.sides[i].nr_files)
			free(ab.sides[i].files[--ab.sides[i].nr_files]);
		free(ab.sides[i].files);
	}
	if (ab.log >= 0)
		close(ab.log);
	return ret;
}

const struct tap_cmd tap_cmd_ab = {
	.name = "ab",
	.help = "record two commands in alternating runs and compare them",
	.exits = "0 compared, 1 failed, or a command failed, 2 usage error, 3 cannot record here, "
		 "130 stopped by a signal",
	.operands = "'CMD A' 'CMD B' [-- schedtap bench ...]",
	.example = "schedtap ab -r 2 -o ab 'sleep 0.1' 'sleep 0.2'",
	.opts = options,
	.opts_size = sizeof(struct ab_opts),
	.defaults = &(const struct ab_opts){ .diff.min_effect = TAP_DIFF_MIN_EFFECT,
					     .folder = "ab",
					     .rounds = 10 },
	.run = run_ab,
};
