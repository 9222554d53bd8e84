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
#include <unistd.h>

#define SELF "/proc/self/exe"
#define MAX_WORDS 16u
#define OUTPUT_MAX (1u << 20) /* of a command's output; the rest is dropped */

/* By its path, the process has the program's name; by SELF its name would be "exe". */
static const char *own_path(char path[PATH_MAX])
{
	ssize_t len = readlink(SELF, path, PATH_MAX - 1);

	path[len > 0 ? len : 0] = 0;
	return access(path, X_OK) ? SELF : path;
}

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
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	execv(own_path(path), argv);
	_exit(127);
}

static int start(struct tap_helper *h, const char *const *words, struct tap_err *err)
{
	pid_t parent = getpid();
	int fds[2];

	tap_buf_clear(&h->out);
	if (pipe2(fds, O_CLOEXEC))
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	h->pid = fork();
	if (!h->pid)
		become(words, fds[1], parent);
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
	int status;

	if (!h->pid)
		return false;
	read_output(h);
	if (waitpid(h->pid, &status, wait ? 0 : WNOHANG) <= 0)
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
	char path[64];

	snprintf(path, sizeof(path), "top-%d.dat.spool/meta.json", getpid());
	if (!k->wants_save || access(path, F_OK))
		return;
	kill(k->flight.pid, SIGUSR1);
	k->wants_save = false;
}

/* A line "schedtap: FILE.dat: 15.3 MB, ...": the file is complete. Return true if there is one. */
static bool take_saved(struct tap_keep *k, char message[256])
{
	static const char begin[] = "schedtap: top-", suffix[] = ".dat: ";
	char *text = (char *)tap_buf_str(&k->flight.out), *at = strstr(text, begin), *dot, *line;

	dot = at ? strstr(at, suffix) : NULL;
	line = dot ? strchr(dot, '\n') : NULL;
	if (!line)
		return false;
	*line = 0;
	snprintf(message, 256, "saved %s", at + strlen("schedtap: "));
	dot[strlen(".dat")] = 0;
	snprintf(k->saved, sizeof(k->saved), "%s", at + strlen("schedtap: "));
	tap_buf_clear(&k->flight.out);
	return true;
}

/* ---- explanations and reports ---- */

static int start_job(struct tap_keep *k, const char *const *words, bool is_export,
		     struct tap_err *err)
{
	if (k->job.pid)
		return tap_err_set(err, -EBUSY, "the command before has not ended yet");
	k->is_export = is_export;
	return start(&k->job, words, err);
}

int tap_keep_explain_file(struct tap_keep *k, const char *file, unsigned int tid, uint64_t from_ns,
			  uint64_t to_ns, struct tap_err *err)
{
	char number[16], window[64];
	const char *const words[] = { "explain", "-i",	    file,    "-t",
				      number,	 "--worst", "3",     "-n",
				      "4",	 "--color", "never", to_ns ? "--time" : NULL,
				      window,	 NULL };

	snprintf(number, sizeof(number), "%u", tid);
	snprintf(window, sizeof(window), "%lluns,%lluns", (unsigned long long)from_ns,
		 (unsigned long long)to_ns);
	return start_job(k, words, false, err);
}

int tap_keep_open(struct tap_keep *k, struct tap_err *err)
{
	char html[sizeof(k->saved) + 8];
	const char *const words[] = { "export", "--to", "html", "-i", k->saved, "-o", html, NULL };

	if (!*k->saved)
		return tap_err_set(err, -ENODATA, "nothing was saved yet: m saves the last 10 s");
	snprintf(html, sizeof(html), "%s.html", k->saved);
	return start_job(k, words, true, err);
}

/* ---- a recording ---- */

int tap_keep_record(struct tap_keep *k, const char *time_of_day, struct tap_err *err)
{
	const char *const words[] = { "record", "-o", k->record_path, NULL };

	if (k->record.pid) {
		kill(k->record.pid, SIGTERM);
		return 0;
	}
	snprintf(k->record_since, sizeof(k->record_since), "%s", time_of_day);
	snprintf(k->record_path, sizeof(k->record_path), "top-record-%.2s%.2s%.2s.dat", time_of_day,
		 time_of_day + 3, time_of_day + 6);
	return start(&k->record, words, err);
}

/* ---- what happened ---- */

static void first_line(char message[256], const char *prefix, const struct tap_buf *out)
{
	const char *text = tap_buf_str((struct tap_buf *)out);

	if (!strncmp(text, "schedtap: ", 10))
		text += 10;
	snprintf(message, 256, "%s%.*s", prefix, (int)strcspn(text, "\n"), text);
}

static enum tap_keep_news poll_job(struct tap_keep *k, char message[256])
{
	if (!has_ended(&k->job, false))
		return TAP_KEEP_NOTHING;
	if (!k->is_export)
		return TAP_KEEP_EXPLAINED;
	if (k->job.out.len)
		first_line(message, "", &k->job.out);
	else
		snprintf(message, 256, "HTML report: %.200s.html", k->saved);
	return TAP_KEEP_MESSAGE;
}

static enum tap_keep_news poll_flight(struct tap_keep *k, char message[256])
{
	unsigned int tid = k->tid;

	if (!k->flight.pid)
		return TAP_KEEP_NOTHING;
	if (has_ended(&k->flight, false)) {
		k->wants_save = false;
		first_line(message, "the flight recorder ended: ", &k->flight.out);
		return TAP_KEEP_MESSAGE;
	}
	ask_for_file(k);
	if (!take_saved(k, message))
		return TAP_KEEP_NOTHING;
	k->tid = 0;
	if (tid)
		tap_keep_explain_file(k, k->saved, tid, 0, 0, NULL);
	return TAP_KEEP_MESSAGE;
}

enum tap_keep_news tap_keep_poll(struct tap_keep *k, char message[256])
{
	enum tap_keep_news news = poll_job(k, message);

	if (news)
		return news;
	if (has_ended(&k->record, false)) {
		first_line(message, k->record_path, &k->record.out);
		snprintf(k->saved, sizeof(k->saved), "%s", k->record_path);
		return TAP_KEEP_MESSAGE;
	}
	return poll_flight(k, message);
}

void tap_keep_end(struct tap_keep *k)
{
	end(&k->job);
	end(&k->flight);
	end(&k->record);
}
