// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/top_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/own_path.h"

#define MAX_WORDS 64u /* of a command line: twelve, and two for each file */
#define OUTPUT_MAX (1u << 20) /* of a command's output; the rest is dropped */

/* In the child: this program with other arguments, whose output goes into a pipe. */
static void become(const char *const *words, int to, pid_t parent)
{
	char *argv[MAX_WORDS + 1] = { (char *)"schedtap" }, path[PATH_MAX];
	unsigned int nr = 1;
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	while (*words && nr < MAX_WORDS)
		argv[nr++] = (char *)*words++;
	if (null < 0 || dup2(null, 0) < 0 || dup2(to, 1) < 0 || dup2(to, 2) < 0)
		_exit(127);
	/* Ctrl-C ends the screen, which then ends this process in the way that saves its file */
	setpgid(0, 0);
	/* the handlers are those of the screen: they would note a signal that is meant to end this
	 */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	execv(tap_own_path(path), argv);
	_exit(127);
}

static int start(struct tap_helper *h, const char *const *words, struct tap_err *err)
{
	pid_t parent = getpid();
	sigset_t all, mask;
	int fds[2];

	tap_buf_clear(&h->out);
	if (pipe2(fds, O_CLOEXEC))
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask); /* until the child has its own handlers */
	h->pid = fork();
	if (!h->pid)
		become(words, fds[1], parent);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(fds[1]);
	h->fd = fds[0];
	if (h->pid < 0) {
		h->pid = 0;
		close(fds[0]);
		return tap_err_set(err, -errno, "cannot start a process: %m");
	}
	fcntl(h->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void read_output(struct tap_helper *h)
{
	char bytes[4096];
	ssize_t len;

	while ((len = read(h->fd, bytes, sizeof(bytes))) > 0)
		if (h->out.len < OUTPUT_MAX)
			tap_buf_add(&h->out, bytes, (size_t)len);
}

/* Return true if the process has ended; its output is complete. */
static bool has_ended(struct tap_helper *h, bool wait)
{
	if (!h->pid)
		return false;
	read_output(h);
	if (waitpid(h->pid, &h->status, wait ? 0 : WNOHANG) <= 0)
		return false;
	read_output(h);
	close(h->fd);
	h->pid = 0;
	return true;
}

static void end(struct tap_helper *h)
{
	if (h->pid) {
		kill(h->pid, SIGTERM);
		fcntl(h->fd, F_SETFL, 0); /* so that it can always print, and end */
		has_ended(h, true);
	}
	tap_buf_release(&h->out);
}

/* A recorder can save its file once its folder has a description. */
static bool is_recording(const char *path)
{
	char meta[96];

	snprintf(meta, sizeof(meta), "%s.spool/meta.json", path);
	return !access(meta, F_OK);
}

/* ---- the flight recorder ---- */

int tap_keep_buffer(struct tap_keep *k, const char *time_of_day, struct tap_err *err)
{
	char path[48];
	const char *const words[] = { "record", "--keep", "10s", "--after",
				      "100ms",	"-o",	  path,	 NULL };

	if (k->flight.pid)
		return 0;
	snprintf(path, sizeof(path), "top-%d.dat", getpid());
	snprintf(k->flight_since, sizeof(k->flight_since), "%s", time_of_day);
	return start(&k->flight, words, err);
}

int tap_keep_save(struct tap_keep *k, struct tap_err *err)
{
	if (!k->flight.pid)
		return tap_err_set(err, -ENODATA, "nothing is buffered yet");
	k->wants_save = true;
	return 0;
}

int tap_keep_explain(struct tap_keep *k, unsigned int tid, struct tap_err *err)
{
	k->tid = tid;
	return tap_keep_save(k, err);
}

/* The recorder takes a signal only after it has said that it is ready: its folder is there. */
static void ask_for_file(struct tap_keep *k)
{
	char path[48];

	snprintf(path, sizeof(path), "top-%d.dat", getpid());
	if (!k->wants_save || !is_recording(path))
		return;
	kill(k->flight.pid, SIGUSR1);
	k->wants_save = false;
}

/*
 * Take a line about a file, "schedtap: FILE.dat: 15.3 MB, ...", or why it was not written. Return
 * false: there is none yet.
 */
static bool take_line(struct tap_keep *k, char message[256])
{
	static const char begin[] = "schedtap: top-", suffix[] = ".dat: ";
	char *text = (char *)tap_buf_str(&k->flight.out), *at = strstr(text, begin), *dot, *line;

	dot = at ? strstr(at, suffix) : NULL;
	line = dot ? strchr(dot, '\n') : NULL;
	if (!line)
		return false;
	*line = 0;
	at += strlen("schedtap: ");
	dot += strlen(suffix);
	if (*dot >= '0' && *dot <= '9') {
		snprintf(message, 256, "saved %s", at);
		snprintf(k->saved, sizeof(k->saved), "%.*s", (int)(dot - at) - 2, at);
		k->wants_explain = k->tid != 0;
	} else {
		snprintf(message, 256, "%s", at);
		k->tid = 0;
	}
	tap_buf_clear(&k->flight.out);
	return true;
}

/* ---- explanations and reports ---- */

static int start_job(struct tap_keep *k, const char *const *words, bool is_export,
		     struct tap_err *err)
{
	if (k->job.pid && (is_export || k->is_export))
		return tap_err_set(err, -EBUSY,
				   "the previous explanation or report is not ready yet");
	end(&k->job); /* of another task, or of an earlier time */
	k->is_export = is_export;
	return start(&k->job, words, err);
}

/* Add "-i FILE" for each file, and then other words. @words: MAX_WORDS + 1 of them, zeroed. */
static int add_files(const char **words, unsigned int nr, const struct tap_strings *files,
		     const char *const *others, struct tap_err *err)
{
	if (nr + 2 * files->nr + 12 > MAX_WORDS)
		return tap_err_set(err, -E2BIG, "these are too many files");
	for (unsigned int i = 0; i < files->nr; i++) {
		words[nr++] = "-i";
		words[nr++] = files->v[i];
	}
	while (*others)
		words[nr++] = *others++;
	return 0;
}

int tap_keep_explain_files(struct tap_keep *k, const struct tap_strings *files, unsigned int tid,
			   uint64_t from_ns, uint64_t to_ns, struct tap_err *err)
{
	char number[16], window[64];
	const char *words[MAX_WORDS + 1] = { "explain" };
	const char *const others[] = { "-t",	  number,  "--worst",
				       "3",	  "-n",	   "4",
				       "--color", "never", to_ns ? "--time" : NULL,
				       window,	  NULL };
	int ret;

	snprintf(number, sizeof(number), "%u", tid);
	snprintf(window, sizeof(window), "%lluns,%lluns", (unsigned long long)from_ns,
		 (unsigned long long)to_ns);
	ret = add_files(words, 1, files, others, err) ?: start_job(k, words, false, err);
	if (!ret)
		k->job_tid = tid;
	return ret;
}

int tap_keep_open(struct tap_keep *k, const struct tap_strings *files, struct tap_err *err)
{
	const char *saved = k->saved, *words[MAX_WORDS + 1] = { "export", "--to", "html" };
	const struct tap_strings one = { .v = &saved, .nr = 1 };
	char html[PATH_MAX];
	const char *const others[] = { "-o", html, NULL };

	files = files ?: &one;
	if (!*files->v[0])
		return tap_err_set(err, -ENODATA, "nothing was saved yet: m saves the last 10 s");
	snprintf(html, sizeof(html), "%.4000s.html", files->v[0]);
	return add_files(words, 3, files, others, err) ?: start_job(k, words, true, err);
}

/* ---- a recording ---- */

int tap_keep_record(struct tap_keep *k, const char *time_of_day, struct tap_err *err)
{
	const char *const words[] = { "record", "-o", k->record_path, NULL };
	time_t now = time(NULL);
	struct tm tm;

	if (k->record.pid) {
		k->ends_record = true;
		return 0;
	}
	k->ends_record = false;
	localtime_r(&now, &tm);
	strftime(k->record_path, sizeof(k->record_path), "top-record-%Y%m%dT%H%M%S", &tm);
	snprintf(k->record_path + strlen(k->record_path), 16, "-%d.dat", getpid());
	snprintf(k->record_since, sizeof(k->record_since), "%s", time_of_day);
	return start(&k->record, words, err);
}

/* ---- what happened ---- */

static bool has_failed(const struct tap_helper *h)
{
	return !WIFEXITED(h->status) || WEXITSTATUS(h->status);
}

static void first_line(char message[256], const char *prefix, struct tap_helper *h)
{
	const char *text = tap_buf_str(&h->out);

	if (!strncmp(text, "schedtap: ", 10))
		text += 10;
	snprintf(message, 256, "%s%.*s", prefix, (int)strcspn(text, "\n"), text);
}

static enum tap_keep_news poll_job(struct tap_keep *k, char message[256])
{
	if (k->wants_explain && (!k->job.pid || !k->is_export)) {
		const char *saved = k->saved;
		const struct tap_strings one = { .v = &saved, .nr = 1 };

		k->wants_explain = false;
		tap_keep_explain_files(k, &one, k->tid, 0, 0, NULL);
		k->tid = 0;
	}
	if (!has_ended(&k->job, false))
		return TAP_KEEP_NOTHING;
	if (!k->is_export)
		return TAP_KEEP_EXPLAINED;
	first_line(message, has_failed(&k->job) ? "no report: " : "", &k->job);
	return TAP_KEEP_MESSAGE;
}

static enum tap_keep_news poll_record(struct tap_keep *k, char message[256])
{
	if (k->record.pid && k->ends_record && is_recording(k->record_path))
		kill(k->record.pid, SIGTERM);
	if (!has_ended(&k->record, false))
		return TAP_KEEP_NOTHING;
	if (has_failed(&k->record)) {
		first_line(message, "nothing was recorded: ", &k->record);
	} else {
		first_line(message, "", &k->record);
		snprintf(k->saved, sizeof(k->saved), "%s", k->record_path);
	}
	return TAP_KEEP_MESSAGE;
}

static enum tap_keep_news poll_flight(struct tap_keep *k, char message[256])
{
	if (!k->flight.pid)
		return TAP_KEEP_NOTHING;
	if (has_ended(&k->flight, false)) {
		k->wants_save = false;
		first_line(message, "the flight recorder ended: ", &k->flight);
		return TAP_KEEP_MESSAGE;
	}
	ask_for_file(k);
	return take_line(k, message) ? TAP_KEEP_MESSAGE : TAP_KEEP_NOTHING;
}

enum tap_keep_news tap_keep_poll(struct tap_keep *k, char message[256])
{
	return poll_job(k, message) ?: poll_record(k, message) ?: poll_flight(k, message);
}

void tap_keep_end(struct tap_keep *k)
{
	end(&k->job);
	end(&k->flight);
	end(&k->record);
}
