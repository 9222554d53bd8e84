// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/top_screens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/machine.h"
#include "show/screen/terminal.h"
#include "show/top/draw.h"
#include "show/top/keys.h"
#include "cli/screen.h"
#include "cli/top_keep.h"

#define POLL_NS 100000000u /* between looks at the output of commands */
#define POWER_CPUS 64u /* more CPUs than this are not looked at: the home screen has no lines */
#define FIRST_NS 50000000u /* length of the first refresh */
#define LOOK_BACK_NS 10000000000u /* length of what is explained of a recording */

/* The CPUs' frequencies and idle states, of this machine. */
struct power {
	struct tap_cpu_power *now, *before; /* owned */
	const char **idle; /* owned */
	unsigned int nr;
};

struct screens {
	struct tap_top_source *s;
	const struct tap_top_screens_opts *o;
	struct tap_terminal *terminal;
	struct tap_top_ui ui;
	struct tap_frame frame;
	struct tap_top_reading reading;
	struct tap_now now;
	struct tap_keep keep;
	struct tap_bpf_programs *programs; /* only while their screen is shown */
	const struct tap_bpf_program *list;
	int nr_programs;
	uint64_t programs_at_ns, programs_ns; /* their last reading, and the time that it is of */
	struct tap_err programs_why;
	struct tap_scx scx;
	struct power power;
	struct utsname host;
	char recorder[256];
	struct tap_window recording; /* of a recording: its beginning and end */
	uint64_t nr; /* number of the refresh; of a recording the step since its beginning */
	uint64_t refreshes; /* after the first one */
	uint64_t next_ns; /* time of the next refresh */
};

/* ---- what is shown besides the numbers ---- */

/* The idle state in which a CPU was most of the time since the reading before. */
static const char *deepest(const struct tap_cpu_power *before, const struct tap_cpu_power *now)
{
	const char *name = NULL;
	uint64_t most_ns = 0;

	for (unsigned int i = 0; i < now->nr_states && i < before->nr_states; i++) {
		uint64_t ns = now->states[i].ns - before->states[i].ns;

		if (ns > most_ns) {
			most_ns = ns;
			name = now->states[i].name;
		}
	}
	return name;
}

static int read_power(struct power *p)
{
	struct tap_cpu_power *old = p->before;

	if (!p->nr) {
		p->nr = tap_machine_nr_cpus();
		p->nr = p->nr < POWER_CPUS ? p->nr : POWER_CPUS;
		p->now = calloc(p->nr, sizeof(*p->now));
		old = calloc(p->nr, sizeof(*old));
		p->idle = calloc(p->nr, sizeof(*p->idle));
	}
	p->before = p->now;
	p->now = old;
	if (!p->now || !p->before || !p->idle)
		return -ENOMEM;
	for (unsigned int i = 0; i < p->nr; i++) {
		tap_cpu_power_read(&p->now[i], i, "");
		p->idle[i] = deepest(&p->before[i], &p->now[i]);
	}
	return 0;
}

static void read_programs(struct screens *t)
{
	uint64_t now_ns = tap_now_ns();

	t->nr_programs = 0;
	if (t->ui.screen != TAP_TOP_PROGRAMS || t->s->recorded) {
		tap_bpf_programs_close(t->programs);
		t->programs = NULL;
		return;
	}
	if (!t->programs) {
		t->programs_at_ns = now_ns;
		if (!tap_bpf_programs_open(&t->programs, &t->programs_why))
			tap_err_set(&t->programs_why, -EAGAIN, "measured until the next refresh");
		return;
	}
	t->programs_ns = now_ns - t->programs_at_ns;
	t->programs_at_ns = now_ns;
	t->nr_programs = tap_bpf_programs_read(t->programs, &t->list, &t->programs_why);
}

static struct tap_top_shown shown(const struct screens *t)
{
	struct tap_top_shown s = { .now = &t->now,
				   .host = t->host.nodename,
				   .release = t->host.release,
				   .every_ns = t->s->o.delay_ns,
				   .recorder = *t->recorder ? t->recorder : NULL };

	if (t->s->recorded) {
		s.recording = basename(t->o->file);
		s.position_ns = t->now.to_ns - t->recording.from_ns;
		s.length_ns = t->recording.to_ns - t->recording.from_ns;
		s.programs_why = "recordings contain no run times of BPF programs";
		return s;
	}
	s.programs = t->list;
	s.nr_programs = t->nr_programs > 0 ? (unsigned int)t->nr_programs : 0;
	s.programs_ns = t->programs_ns;
	s.programs_why = t->nr_programs > 0 ? NULL : t->programs_why.text;
	s.scx = &t->scx;
	s.power = t->power.now;
	s.idle = t->power.idle;
	s.nr_power = t->power.nr;
	return s;
}

static int draw(struct screens *t, struct tap_err *err)
{
	struct tap_top_shown s = shown(t);
	unsigned int rows, columns;

	tap_terminal_size(t->terminal, &rows, &columns);
	if (tap_frame_reset(&t->frame, rows, columns) || tap_top_draw(&t->frame, &t->ui, &s))
		return tap_err_nomem(err);
	return tap_terminal_show(t->terminal, &t->frame, err);
}

/* ---- refreshes ---- */

static int take_reading(struct screens *t, struct tap_err *err)
{
	uint64_t to_ns = t->recording.from_ns + (t->nr + 1) * t->s->o.delay_ns;
	int ret = tap_top_source_read(t->s, to_ns, &t->reading, err);

	if (ret)
		return ret;
	ret = t->reading.refresh.view ? tap_now_of_tally(&t->now, &t->reading.refresh)
				      : tap_now_of_accounts(&t->now, &t->reading.proc);
	return ret || tap_top_ui_note(&t->ui, &t->now, t->nr) ? tap_err_nomem(err) : 0;
}

static int refresh(struct screens *t, struct tap_err *err)
{
	int ret = take_reading(t, err);

	if (ret || t->s->recorded)
		return ret;
	if (t->ui.screen == TAP_TOP_HOME && read_power(&t->power))
		return tap_err_nomem(err);
	if (t->ui.screen == TAP_TOP_SCX)
		tap_scx_read(&t->scx, "/sys/kernel/sched_ext");
	read_programs(t);
	return 0;
}

static uint64_t last_step(const struct screens *t)
{
	uint64_t nr = tap_top_source_steps(t->s);

	return nr ? nr - 1 : 0;
}

/* ---- actions ---- */

static void say(struct screens *t, const char *text)
{
	snprintf(t->ui.message, sizeof(t->ui.message), "%.250s", text);
}

static void time_of_day(char text[32])
{
	struct tap_buf out = { 0 };

	tap_top_clock(&out, (int64_t)tap_clock_ns(CLOCK_REALTIME));
	snprintf(text, 32, "%s", tap_buf_str(&out));
	tap_buf_release(&out);
}

static int explain_recording(struct screens *t, struct tap_err *err)
{
	uint64_t to_ns = t->now.to_ns, from_ns = t->recording.from_ns;

	if (to_ns - from_ns > LOOK_BACK_NS)
		from_ns = to_ns - LOOK_BACK_NS;
	return tap_keep_explain_files(&t->keep, &t->s->files, t->ui.tid, from_ns, to_ns, err);
}

/* The first call begins to buffer events: there is nothing to explain before. */
static int explain(struct screens *t, struct tap_err *err)
{
	char now[32];
	int ret;

	if (t->s->recorded)
		return explain_recording(t, err);
	time_of_day(now);
	if (!t->keep.flight.pid) {
		ret = tap_keep_buffer(&t->keep, now, err);
		say(t, "buffering events from now on: x explains the worst waits since then");
	} else {
		ret = tap_keep_explain(&t->keep, t->ui.tid, err);
		say(t, "saving the last 10 s to explain them");
	}
	return ret;
}

static int save(struct screens *t, struct tap_err *err)
{
	char now[32];

	if (t->s->recorded)
		return tap_err_set(err, -EINVAL, "this is a recording already");
	time_of_day(now);
	if (t->keep.flight.pid) {
		say(t, "saving the last 10 s");
		return tap_keep_save(&t->keep, err);
	}
	say(t, "buffering events from now on: m again saves the last 10 s");
	return tap_keep_buffer(&t->keep, now, err);
}

static int record(struct screens *t, struct tap_err *err)
{
	char now[32];
	int ret;

	if (t->s->recorded)
		return tap_err_set(err, -EINVAL, "this is a recording already");
	time_of_day(now);
	ret = tap_keep_record(&t->keep, now, err);
	if (!ret)
		snprintf(t->recorder, sizeof(t->recorder), "recording since %s into %s: r ends it",
			 t->keep.record_since, t->keep.record_path);
	return ret;
}

static int open_report(struct screens *t, struct tap_err *err)
{
	say(t, "making the HTML report");
	return tap_keep_open(&t->keep, t->s->recorded ? &t->s->files : NULL, err);
}

static int move(struct screens *t, struct tap_err *err)
{
	uint64_t last = last_step(t);
	int64_t by = t->ui.move;

	if (by == INT64_MIN)
		t->nr = 0;
	else if (by == INT64_MAX)
		t->nr = last;
	else if (by < 0)
		t->nr -= t->nr < (uint64_t)-by ? t->nr : (uint64_t)-by;
	else
		t->nr = last - t->nr < (uint64_t)by ? last : t->nr + (uint64_t)by;
	return refresh(t, err);
}

/* Return: 1 to quit; 0; -errno with a sentence. If only the action failed, the reason is a message.
 */
static int act(struct screens *t, enum tap_top_action action, struct tap_err *err)
{
	struct tap_err failed = { 0 };
	int ret = 0;

	switch (action) {
	case TAP_TOP_QUIT:
		return 1;
	case TAP_TOP_MOVE:
		return move(t, err);
	case TAP_TOP_FREEZE:
		t->next_ns = tap_now_ns();
		break;
	case TAP_TOP_EXPLAIN:
		ret = explain(t, &failed);
		break;
	case TAP_TOP_SAVE:
		ret = save(t, &failed);
		break;
	case TAP_TOP_RECORD:
		ret = record(t, &failed);
		break;
	case TAP_TOP_OPEN:
		ret = open_report(t, &failed);
		break;
	case TAP_TOP_NOTHING:
		break;
	}
	if (ret)
		say(t, failed.text);
	return 0;
}

static void take_news(struct screens *t)
{
	char message[256];

	switch (tap_keep_poll(&t->keep, message)) {
	case TAP_KEEP_MESSAGE:
		say(t, message);
		break;
	case TAP_KEEP_EXPLAINED:
		if (t->keep.job_tid != t->ui.tid)
			break;
		tap_buf_clear(&t->ui.explained);
		tap_buf_add(&t->ui.explained, t->keep.job.out.data, t->keep.job.out.len);
		snprintf(t->ui.explained_since, sizeof(t->ui.explained_since), "%s",
			 t->s->recorded ? "" : t->keep.flight_since);
		t->ui.message[0] = 0;
		break;
	case TAP_KEEP_NOTHING:
		break;
	}
	if (!t->keep.record.pid)
		t->recorder[0] = 0;
}

/* ---- the loop ---- */

static bool moves_on(const struct screens *t)
{
	return t->s->recorded ? t->ui.playing : !t->ui.frozen;
}

/* Return: 1 to quit; 0; -errno with a sentence. */
static int on_time(struct screens *t, struct tap_err *err)
{
	uint64_t now_ns = tap_now_ns();

	take_news(t);
	if (now_ns < t->next_ns)
		return 0;
	t->next_ns = now_ns + t->s->o.delay_ns;
	if (!moves_on(t))
		return 0;
	if (t->o->nr && ++t->refreshes >= (uint64_t)t->o->nr)
		return 1;
	if (t->s->recorded && t->nr >= last_step(t)) {
		t->ui.playing = false;
		return 0;
	}
	t->nr++;
	tap_top_source_sample(t->s);
	return refresh(t, err);
}

/* Begin or end with what a screen alone shows. */
static int on_screen(struct screens *t, enum tap_top_screen before, struct tap_err *err)
{
	if (t->ui.screen == before || t->s->recorded)
		return 0;
	if (t->ui.screen == TAP_TOP_SCX)
		tap_scx_read(&t->scx, "/sys/kernel/sched_ext");
	read_programs(t);
	return t->ui.screen == TAP_TOP_HOME && read_power(&t->power) ? tap_err_nomem(err) : 0;
}

static void change_delay(struct screens *t, uint32_t key)
{
	uint64_t ns = key == '+' ? t->s->o.delay_ns * 2 : t->s->o.delay_ns / 2;

	if (t->s->recorded || ns < 100000000u || ns > 60000000000u)
		return;
	t->s->o.delay_ns = ns;
	t->next_ns = tap_now_ns() + ns;
}

static int on_key(struct screens *t, uint32_t key, struct tap_err *err)
{
	struct tap_top_shown s = shown(t);
	enum tap_top_screen before = t->ui.screen;
	int ret;

	if (!t->ui.typing && (key == '+' || key == '-'))
		change_delay(t, key);
	ret = act(t, tap_top_key(&t->ui, &s, key), err);
	return ret ?: on_screen(t, before, err);
}

static uint64_t wake_up_at(const struct screens *t)
{
	bool is_busy = t->keep.job.pid || t->keep.flight.pid || t->keep.record.pid;
	uint64_t soon = tap_now_ns() + POLL_NS;

	return is_busy && soon < t->next_ns ? soon : t->next_ns;
}

static int show(struct screens *t, struct tap_err *err)
{
	int ret;

	if (!t->s->recorded)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = FIRST_NS },
				NULL);
	ret = refresh(t, err);

	t->next_ns = tap_now_ns() + t->s->o.delay_ns;
	while (!ret) {
		uint32_t key;

		ret = draw(t, err);
		if (ret)
			break;
		switch (tap_terminal_wait(t->terminal, wake_up_at(t), -1, &key)) {
		case TAP_TERMINAL_KEY:
			ret = on_key(t, key, err);
			break;
		case TAP_TERMINAL_TIME:
			ret = on_time(t, err);
			break;
		case TAP_TERMINAL_END:
			ret = 1;
			break;
		default:
			break;
		}
	}
	return ret < 0 ? ret : 0;
}

static void release(struct screens *t)
{
	tap_terminal_close(t->terminal);
	tap_keep_end(&t->keep);
	tap_bpf_programs_close(t->programs);
	tap_top_ui_release(&t->ui);
	tap_frame_release(&t->frame);
	tap_now_release(&t->now);
	free(t->power.now);
	free(t->power.before);
	free(t->power.idle);
}

int tap_top_screens(struct tap_top_source *s, const struct tap_top_screens_opts *o,
		    struct tap_err *err)
{
	struct screens t = { .s = s, .o = o };
	int ret;

	uname(&t.host);
	tap_top_ui_init(&t.ui);
	t.ui.warn_ns = o->warn_ns ?: t.ui.warn_ns;
	t.ui.bad_ns = o->bad_ns ?: t.ui.bad_ns;
	t.recording = s->recorded ? s->run.window : (struct tap_window){ 0 };
	ret = s->recorded ? tap_top_source_find(s, o->at, &t.nr, err) : 0;
	ret = ret ?: tap_terminal_open(&t.terminal, STDIN_FILENO, STDOUT_FILENO, err);
	if (!ret) {
		tap_terminal_looks(t.terminal, tap_screen_color(NULL), tap_screen_utf8());
		ret = show(&t, err);
	}
	release(&t);
	/* the terminal has vanished; a signal ended the process while it waited for the terminal */
	return ret == -EIO || ret == -EINTR ? 0 : ret;
}
