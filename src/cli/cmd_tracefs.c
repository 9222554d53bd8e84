// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap tracefs: show and control a running program's events as files like those in the kernel's
 * tracefs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "record/user/filters.h"
#include "record/user/programs.h"
#include "cli/cmd.h"

#define PATCH_LOOK_US 500
#define PATCH_MS 5000 /* the program's thread may have to wait for a CPU */

struct tracefs_opts {
	int64_t pid;
};

/* The operands. */
struct place {
	struct tap_user_program *program;
	const char *file;
	const char *where; /* as typed: "app", "app:request"; NULL: all events */
	const char *event; /* part after the colon; NULL: all events of the system */
	size_t system_len;
	const char *value; /* value to write; NULL: the file is read */
};

/* Report the error that open(), read() or write() of such a file would give. */
static int file_failed(const struct place *p, int code, struct tap_err *err)
{
	errno = -code;
	return tap_err_set(err, code, "cannot %s '%s'%s%s: %m", p->value ? "write" : "read",
			   p->file, p->where ? " of " : "", p->where ? p->where : "");
}

static bool is_at(const struct place *p, const struct tap_user_event *ev)
{
	const char *system = ev->kind->system;

	if (ev->gone)
		return false;
	if (!p->where)
		return true;
	return strlen(system) == p->system_len && !memcmp(system, p->where, p->system_len) &&
	       (!p->event || !strcmp(ev->kind->name, p->event));
}

/*
 * Return: the next matching event after @ev, or the first one if @ev is NULL; NULL: no further one.
 */
static struct tap_user_event *next_event(const struct place *p, const struct tap_user_event *ev)
{
	const struct tap_user_control *c = &p->program->control;

	for (unsigned int i = ev ? (unsigned int)(ev - c->events) + 1 : 0; i < c->nr_events; i++)
		if (is_at(p, &c->events[i]))
			return &c->events[i];
	return NULL;
}

static int read_available(const struct place *p, struct tap_buf *out, struct tap_err *err)
{
	(void)err;
	for (struct tap_user_event *ev = NULL; (ev = next_event(p, ev));)
		tap_buf_printf(out, "%s:%s\n", ev->kind->system, ev->kind->name);
	return 0;
}

/*
 * Return true if the event is enabled. Sites that test a word are enabled by writing that word;
 * sites that are patched are enabled once the program has patched them.
 */
static bool is_on(const struct tap_user_program *p, const struct tap_user_event *ev)
{
	return p->control.head.has_thread ? ev->applied : ev->wanted;
}

static int read_enable(const struct place *p, struct tap_buf *out, struct tap_err *err)
{
	/* as in the kernel's system_enable_read(): bit 0: some off, bit 1: some on */
	unsigned int seen = 0;

	for (struct tap_user_event *ev = NULL; (ev = next_event(p, ev));)
		seen |= 1u << is_on(p->program, ev);
	if (!seen && p->where)
		return file_failed(p, -ENOENT, err);
	tap_buf_char(out, "?01X"[seen]);
	tap_buf_char(out, '\n');
	return 0;
}

/*
 * Parse like the kernel's kstrtoul() with base 10: a plus and a newline are allowed, blanks are
 * not. Return: 0; -EINVAL; -ERANGE.
 */
static int parse_switch(const char *s, bool *on)
{
	uint64_t v;
	int ret;

	s += *s == '+';
	ret = tap_text_take_digits(&s, NULL, 10, &v);
	if (strcmp(s, "") && strcmp(s, "\n"))
		return -EINVAL;
	*on = v;
	return ret ?: (v > 1 ? -EINVAL : 0);
}

static int write_enable(const struct place *p, struct tap_err *err)
{
	int ret = 0, code;
	bool on = false;

	if (!next_event(p, NULL) && p->where)
		return file_failed(p, -ENOENT, err);
	code = parse_switch(p->value, &on);
	if (code)
		return file_failed(p, code, err);
	/* as the kernel does: switch all events that can be switched, and return the first error */
	for (struct tap_user_event *ev = NULL; (ev = next_event(p, ev));) {
		code = tap_user_want(p->program, ev, on, ret ? NULL : err);
		ret = ret ?: code;
	}
	return ret;
}

/*
 * Return true if the program has applied all changes. Sites that test a word check for a new filter
 * before they record an event, so there is nothing to wait for.
 */
static bool is_applied(const struct place *p)
{
	for (struct tap_user_event *ev = NULL; (ev = next_event(p, ev));)
		if (is_on(p->program, ev) != ev->wanted ||
		    (p->program->control.head.has_thread && ev->new_filter))
			return false;
	return true;
}

/* Wait, so that the next command finds the events switched. */
static int wait_until_applied(struct tap_user_set *set, const struct place *p, struct tap_err *err)
{
	uint64_t start = tap_now_ns();
	int ret;

	while (!(ret = tap_user_refresh(set, p->program, err)) && !is_applied(p)) {
		if (tap_now_ns() - start > PATCH_MS * 1000000ull)
			return tap_err_set(err, -ETIMEDOUT,
					   "program %d has not switched its tracepoints after %u "
					   "ms: it is stopped, or a regfunc() callback is running",
					   p->program->pid, PATCH_MS);
		usleep(PATCH_LOOK_US);
	}
	return ret;
}

/* Return: the event that the user named; NULL with a sentence. */
static const struct tap_user_event *one_event(const struct place *p, struct tap_err *err)
{
	const struct tap_user_event *ev = p->event ? next_event(p, NULL) : NULL;

	if (!ev)
		file_failed(p, -ENOENT, err);
	return ev;
}

static int read_format(const struct place *p, struct tap_buf *out, struct tap_err *err)
{
	const struct tap_user_event *ev = one_event(p, err);

	if (!ev)
		return -ENOENT;
	if (!ev->kind->fmt)
		return tap_err_set(err, -EIO, "cannot read 'format' of %s: %s", p->where,
				   ev->kind->why);
	tap_user_kind_text(ev->kind, ev->id, out);
	return 0;
}

static int read_id(const struct place *p, struct tap_buf *out, struct tap_err *err)
{
	const struct tap_user_event *ev = one_event(p, err);

	if (!ev)
		return -ENOENT;
	tap_buf_printf(out, "%u\n", ev->id);
	return 0;
}

/*
 * Append the filter as it was written; escape it only if it has characters other than printable
 * ASCII.
 */
static void put_filter(const struct tap_buf *text, struct tap_buf *out)
{
	bool plain = true;

	for (size_t i = 0; i < text->len; i++)
		plain &= text->data[i] >= ' ' && text->data[i] <= '~';
	if (plain)
		tap_buf_add(out, text->data, text->len);
	else
		tap_text_escape(out, text->data, text->len);
	out->err = out->err ? out->err : text->err;
}

static int read_filter(const struct place *p, struct tap_buf *out, struct tap_err *err)
{
	const struct tap_user_event *ev = one_event(p, err);
	struct tap_buf text = { 0 };
	int ret = ev ? tap_user_get_filter(p->program, ev, &text, err) : -ENOENT;

	put_filter(&text, out);
	tap_buf_puts(out, out->len ? "\n" : "none\n");
	tap_buf_release(&text);
	return ret;
}

/* Return: 0, with *@f NULL if the filter is to be removed; -errno with a sentence. */
static int make_filter(const struct place *p, const struct tap_user_event *ev,
		       struct tap_user_filter **f, struct tap_err *err)
{
	int ret;

	*f = NULL;
	if (!strcmp(p->value, "0"))
		return 0;
	if (!ev->kind->fmt)
		return tap_err_set(err, -EIO, "cannot write 'filter' of %s: %s", p->where,
				   ev->kind->why);
	ret = tap_user_filter_new(ev->kind->fmt, p->value, f, err);
	if (!ret && !(*f)->steps)
		return tap_err_set(err, -E2BIG, "process %d cannot evaluate this filter: %s",
				   p->program->pid, (*f)->why);
	if (!ret && (*f)->reads_tid && p->program->control.nested)
		return tap_err_set(err, -EOPNOTSUPP,
				   "process %d cannot evaluate this filter: thread IDs differ in "
				   "its PID namespace",
				   p->program->pid);
	return ret;
}

static int write_filter(const struct place *p, struct tap_err *err)
{
	const struct tap_user_event *ev = one_event(p, err);
	struct tap_user_filter *f = NULL;
	int ret = ev ? make_filter(p, ev, &f, err) : -ENOENT;

	/* a running recorder's filters must not be changed */
	ret = ret ?: tap_user_lock(p->program, err);
	ret = ret
		      ?: tap_user_put_filter(p->program, ev, f ? f->text : NULL,
					     f ? f->steps : NULL, err);
	tap_user_unlock(p->program);
	tap_user_filter_free(f);
	return ret;
}

static const struct file {
	const char *name;
	unsigned int least, most; /* least and greatest number of words after the file's name */
	int (*read)(const struct place *p, struct tap_buf *out, struct tap_err *err);
	int (*write)(const struct place *p, struct tap_err *err); /* NULL: read-only */
} files[] = {
	{ "available_events", 0, 0, read_available, NULL },
	{ "enable", 0, 2, read_enable, write_enable },
	{ "filter", 1, 2, read_filter, write_filter },
	{ "format", 1, 1, read_format, NULL },
	{ "id", 1, 1, read_id, NULL },
};

#define NR_FILES (sizeof(files) / sizeof(*files))

static int no_file(const char *name, struct tap_err *err)
{
	const char *names[NR_FILES], *near;

	if (!strcmp(name, "trigger"))
		return tap_err_set(err, -EINVAL,
				   "unknown file '%s': events of programs have no triggers", name);
	for (unsigned int i = 0; i < NR_FILES; i++)
		names[i] = files[i].name;
	near = tap_nearest(name, names, NR_FILES);
	return tap_err_set(err, -EINVAL, "unknown file '%s': %s%s%s", name,
			   near ? "did you mean '" : "see 'schedtap help tracefs'",
			   near ? near : "", near ? "'?" : "");
}

static int find_file(const struct tap_strings *words, const struct file **out, struct tap_err *err)
{
	const struct file *f = files;

	if (!words->nr)
		return tap_err_set(
			err, -EINVAL,
			"expected a FILE, such as enable or filter: see 'schedtap help tracefs'");
	while (f < files + NR_FILES && strcmp(f->name, words->v[0]))
		f++;
	if (f == files + NR_FILES)
		return no_file(words->v[0], err);
	if (words->nr - 1 < f->least)
		return tap_err_set(err, -EINVAL, "'%s' needs an event: SYSTEM:EVENT", f->name);
	if (words->nr - 1 > f->most)
		return tap_err_set(err, -EINVAL, "unexpected word '%s' after '%s'",
				   words->v[1 + f->most], f->name);
	*out = f;
	return 0;
}

/*
 * Return true if the word is a number rather than a system's name, which never begins like a
 * number.
 */
static bool is_value(const char *word)
{
	return *word == '+' || (*word >= '0' && *word <= '9');
}

static void find_place(struct place *p, const struct file *f, const struct tap_strings *words)
{
	const char *colon;

	p->file = words->v[0];
	p->where = words->nr > 1 ? words->v[1] : NULL;
	p->value = words->nr > 2 ? words->v[2] : NULL;
	if (words->nr == 2 && !f->least && is_value(p->where)) {
		p->value = p->where;
		p->where = NULL;
	}
	if (!p->where)
		return;
	colon = strchr(p->where, ':');
	p->system_len = colon ? (size_t)(colon - p->where) : strlen(p->where);
	p->event = colon ? colon + 1 : NULL;
}

/*
 * Return true if the process is another user's. Without access to its folder we cannot know whether
 * it has tracepoints.
 */
static bool is_anothers(int pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return geteuid() && !stat(path, &st) && st.st_uid != geteuid();
}

static int find_program(const struct tap_user_set *set, int pid, struct tap_user_program **out,
			struct tap_err *err)
{
	struct tap_user_program *p;

	for (unsigned int i = 0; (p = tap_user_program_at(set, i)); i++) {
		if (p->pid != pid || !p->alive)
			continue;
		*out = p;
		return 0;
	}
	if (!is_anothers(pid))
		return tap_err_set(err, -ENOENT, "no program with PID %d has schedtap tracepoints",
				   pid);
	errno = EACCES;
	return tap_err_set(err, -EACCES, "cannot inspect the program with PID %d: %m", pid);
}

static int access_file(struct tap_user_set *set, int pid, const struct file *f, struct place *p,
		       struct tap_buf *out, struct tap_err *err)
{
	int ret = tap_user_scan(set, err);

	if (ret >= 0)
		ret = find_program(set, pid, &p->program, err);
	if (!ret)
		ret = p->value ? f->write(p, err) : f->read(p, out, err);
	if (!ret && p->value)
		ret = wait_until_applied(set, p, err);
	if (!ret && out->err)
		ret = tap_err_set(err, out->err, "out of memory");
	return ret;
}

static int run_tracefs(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tracefs_opts *o = opts;
	struct tap_user_set *set = NULL;
	struct tap_buf out = { 0 };
	struct tap_err err = { 0 };
	struct place place = { 0 };
	const struct file *f = NULL;
	int ret;

	(void)rest;
	if (find_file(operands, &f, &err))
		return tap_cmd_fail(&err, true);
	if (!o->pid) {
		tap_err_set(
			&err, -EINVAL,
			"'%s' needs --pid, the process whose user-space tracepoints to read or set",
			f->name);
		return tap_cmd_fail(&err, true);
	}
	find_place(&place, f, operands);
	if (tap_user_new_own(&set))
		ret = tap_err_nomem(&err);
	else
		ret = access_file(set, (int)o->pid, f, &place, &out, &err);
	if (!ret)
		fputs(tap_buf_str(&out), stdout);
	tap_user_free(set);
	tap_buf_release(&out);
	return ret ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
}

static const struct tap_opt tracefs_table[] = {
	{ "pid", 'p', "PID", "the process whose user-space tracepoints to read or set", TAP_OPT_INT,
	  offsetof(struct tracefs_opts, pid), .min = 1, .max = INT_MAX },
	{ 0 }
};

const struct tap_cmd tap_cmd_tracefs = {
	.name = "tracefs",
	.help = "read and set a program's tracepoints like files in tracefs",
	.exits = "0 done, 1 no such program or event, or the value was refused, 2 usage error,\n   "
		 "         3 another user's program, or one without filters",
	.operands = "FILE [SYSTEM[:EVENT]] [VALUE]",
	.example = "schedtap tracefs --pid 1234 available_events",
	.opts = tracefs_table,
	.opts_size = sizeof(struct tracefs_opts),
	.run = run_tracefs,
};
