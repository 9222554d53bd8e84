// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two processes wake each other through a pair of pipes, as in `perf bench sched pipe`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/load/parts.h"

struct ball {
	uint64_t sent_ns;
	uint64_t wakeup_ns; /* how long the sender waited for the ball before */
};

/* An end of the pair of pipes. */
struct end {
	int in, out;
};

/* Send the ball back until the other end is closed. */
static void return_balls(struct end e)
{
	struct ball ball;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(e.in, &ball, sizeof(ball)) == sizeof(ball)) {
		uint64_t now_ns = tap_now_ns();

		ball = (struct ball){ now_ns, now_ns - ball.sent_ns };
		if (write(e.out, &ball, sizeof(ball)) != sizeof(ball))
			break;
	}
	_exit(EXIT_SUCCESS);
}

struct player {
	struct tap_load_count *count;
	struct end end;
	int err;
	pthread_t timer;
	bool failed; /* to note the rate */
};

static void *pass_time(void *player)
{
	struct player *p = player;

	p->failed = tap_load_pass(p->count->load, p->count, 1, NULL, NULL);
	return NULL;
}

static void play(struct player *p)
{
	struct tap_load *l = p->count->load;

	while (!tap_load_stops(l)) {
		uint64_t from_ns = tap_now_ns(), to_ns;
		struct ball ball = { from_ns, 0 };

		if (write(p->end.out, &ball, sizeof(ball)) != sizeof(ball) ||
		    read(p->end.in, &ball, sizeof(ball)) != sizeof(ball)) {
			p->err = -EPIPE;
			break;
		}
		to_ns = tap_now_ns();
		if (!tap_load_measures(l))
			continue;
		tap_load_wakeup(p->count, ball.wakeup_ns);
		tap_load_wakeup(p->count, to_ns - ball.sent_ns);
		tap_load_operation(p->count, to_ns - from_ns);
	}
}

/* The timer is a thread, because the other process must be woken by this one alone. */
static int play_for_a_time(struct player *p, struct tap_err *err)
{
	int ret = pthread_create(&p->timer, NULL, pass_time, p);

	if (ret)
		return tap_err_set(err, -ret, "cannot start a thread: %s", strerror(ret));
	play(p);
	pthread_join(p->timer, NULL);
	if (p->failed)
		return tap_err_nomem(err);
	return p->err ? tap_err_set(err, p->err, "the other process of the pipe ended") : 0;
}

static int open_pipes(int fds[4], struct tap_err *err)
{
	if (!pipe2(fds, O_CLOEXEC)) {
		if (!pipe2(fds + 2, O_CLOEXEC))
			return 0;
		close(fds[0]);
		close(fds[1]);
	}
	return tap_err_set(err, -errno, "cannot make a pipe: %m");
}

int tap_load_pipe(struct tap_load *l, struct tap_err *err)
{
	struct player p = { .count = tap_load_counts(l, 1) };
	int fds[4], ret = p.count ? open_pipes(fds, err) : tap_err_nomem(err);
	pid_t pid;

	if (ret) {
		free(p.count);
		return ret;
	}
	pid = fork();
	if (!pid) {
		close(fds[1]);
		close(fds[2]);
		return_balls((struct end){ fds[0], fds[3] });
	}
	close(fds[0]);
	close(fds[3]);
	p.end = (struct end){ fds[2], fds[1] };
	ret = pid < 0 ? tap_err_set(err, -errno, "cannot fork: %m") : play_for_a_time(&p, err);
	close(fds[1]);
	close(fds[2]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return tap_load_sum(l, p.count, 1) && !ret ? tap_err_nomem(err) : ret;
}
