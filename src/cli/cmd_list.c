// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cap.h"
#include "base/text.h"
#include "event/select/select.h"
#include "record/bpf/kernel.h"
#include "record/machine.h"
#include "record/program/feed.h"
#include "record/program/recorder.h"
#include "record/program/tracepoints.h"
#include "record/tracefs/tracefs.h"
#include "record/user/programs.h"
#include "cli/cmd.h"
#include "cli/define.h"
#include "cli/enabled.h"
#include "cli/probe.h"
#include "cli/probes.h"
#include "cli/screen.h"

struct list_opts {
	struct tap_strings definitions;
	int64_t pid;
	bool verbose, enabled;
};

/* A running program that has events of this kind. */
struct use {
	const struct tap_user_kind *kind;
	const struct tap_user_program *program;
};

/* The sources of events. If one is unavailable, its no_* error says why. */
struct sources {
	pid_t pid; /* list only this process; 0: all */
	struct tap_kernel *kernel;
	struct tap_err no_bpf;
	/* no BPF program could be loaded as a test: only the kernel's types say what it accepts */
	bool by_types;
	char *root;
	struct tap_tracefs_list list;
	struct tap_err no_tracefs;
	struct tap_user_set *programs;
	struct tap_err no_programs;
	struct use *uses; /* owned; sorted by kind of event */
	unsigned int nr_uses;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	/*
	 * Kinds with different layouts may share a name; pids are positive, so the difference
	 * cannot overflow.
	 */
	return strcmp(x->kind->system, y->kind->system) ?:
	       strcmp(x->kind->name, y->kind->name) ?:
	       (x->kind->nr > y->kind->nr) - (x->kind->nr < y->kind->nr) ?:
	       x->program->pid - y->program->pid;
}

static bool is_asked_for(const struct sources *s, const struct tap_user_program *p)
{
	return !s->pid || s->pid == p->pid;
}

static void add_uses(struct sources *s, const struct tap_user_program *p)
{
	for (unsigned int i = 0; i < p->control.nr_events; i++)
		if (!p->control.events[i].gone)
			s->uses[s->nr_uses++] = (struct use){ p->control.events[i].kind, p };
}

/*
 * Collect the events of all running programs. Remove the files of programs that have ended: no
 * recorder may be running to do that.
 */
static int find_uses(struct sources *s)
{
	struct tap_user_program *p;
	size_t nr = 0;

	for (unsigned int i = 0; (p = tap_user_program_at(s->programs, i)); i++)
		nr += p->control.nr_events;
	s->uses = calloc(nr + 1, sizeof(*s->uses));
	if (!s->uses)
		return -ENOMEM;
	for (unsigned int i = 0; (p = tap_user_program_at(s->programs, i)); i++) {
		if (!p->alive)
			tap_user_remove(p, NULL);
		else if (is_asked_for(s, p))
			add_uses(s, p);
	}
	qsort(s->uses, s->nr_uses, sizeof(*s->uses), compare_uses);
	return 0;
}

static void open_programs(struct sources *s)
{
	int ret = tap_user_new_own(&s->programs);

	if (!ret && tap_user_scan(s->programs, &s->no_programs) >= 0)
		ret = find_uses(s);
	if (ret)
		tap_err_set(&s->no_programs, ret, "out of memory");
}

static void open_kernel(struct sources *s)
{
	tap_kernel_new(&s->kernel, &s->no_bpf);
	if (!tap_tracefs_find(TAP_TRACEFS_MOUNTS, &s->root, &s->no_tracefs))
		tap_tracefs_list(s->root, &s->list, &s->no_tracefs);
}

/* Test whether the kernel accepts BPF programs by loading one. */
static void try_bpf(struct sources *s)
{
	if (!s->kernel)
		return;
	s->by_types = !tap_cap_for_bpf();
	if (!s->by_types)
		tap_probe_bpf(&s->no_bpf);
}

static void close_sources(struct sources *s)
{
	tap_kernel_free(s->kernel);
	tap_tracefs_list_release(&s->list);
	free(s->root);
	free(s->uses);
	tap_user_free(s->programs);
}

static void print_indented(const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		printf("    %.*s\n", (int)len, text);
	}
}

static bool in_tracefs(const struct sources *s, const char *system, const char *name)
{
	for (unsigned int i = 0; i < s->list.nr; i++)
		if (!strcmp(s->list.v[i].system, system) && !strcmp(s->list.v[i].name, name))
			return true;
	return false;
}

static void print_def(const struct sources *s, const struct tap_def *def, bool verbose)
{
	struct tap_buf why = { 0 }, text = { 0 };
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	bool bpf = false, tracefs = in_tracefs(s, def->system, def->name);

	if (s->no_bpf.code)
		tap_buf_puts(&why, s->no_bpf.text);
	else
		bpf = tap_kernel_hook(s->kernel, def, &why);
	printf("%-9s %s:%s", bpf ? "bpf" : tracefs ? "tracefs" : "-", def->system, def->name);
	if (!bpf && !tracefs)
		printf(": %s", tap_buf_str(&why));
	putchar('\n');
	if (verbose && bpf) {
		tap_kernel_absent(s->kernel, def, absent);
		for (unsigned int i = 0; i < def->nr_fields; i++)
			if (absent[i])
				printf("    (no %s on this kernel)\n", def->fields[i].name);
		tap_def_format(def, absent, NULL, &text);
		print_indented(tap_buf_str(&text));
	}
	tap_buf_release(&why);
	tap_buf_release(&text);
}

static void print_tracefs_event(const struct sources *s, const struct tap_tracefs_event *ev,
				bool verbose)
{
	struct tap_buf text = { 0 };

	printf("%-9s %s:%s\n", "tracefs", ev->system, ev->name);
	if (verbose && !tap_tracefs_format(s->root, ev->system, ev->name, &text, NULL))
		print_indented(tap_buf_str(&text));
	tap_buf_release(&text);
}

static void add_program(struct tap_buf *line, const struct tap_user_program *p)
{
	tap_text_escape(line, p->control.head.comm, strlen(p->control.head.comm));
	tap_buf_printf(line, " [%d]", p->pid);
}

#define FEW_PROGRAMS 3u /* programs named per event, without --verbose */

/*
 * Append "webd [12], webd [13]". A program is listed once, even if two of its libraries have the
 * event.
 */
static void add_programs(struct tap_buf *line, const struct use *uses, unsigned int nr,
			 unsigned int most)
{
	const struct tap_user_program *before = NULL;
	unsigned int shown = 0, hidden = 0;

	for (unsigned int i = 0; i < nr; before = uses[i++].program) {
		if (uses[i].program == before)
			continue;
		if (shown == most) {
			hidden++;
			continue;
		}
		tap_buf_puts(line, shown++ ? ", " : "");
		add_program(line, uses[i].program);
	}
	if (hidden)
		tap_buf_printf(line, " and %u more", hidden);
}

/* Print one kind of event, which @nr programs have. */
static void print_user_event(const struct use *uses, unsigned int nr, bool verbose)
{
	const struct tap_user_kind *kind = uses->kind;
	struct tap_buf line = { 0 };

	tap_buf_printf(&line, "%-9s %s:%s: ", kind->fmt ? "user" : "-", kind->system, kind->name);
	if (!kind->fmt) {
		tap_text_escape(&line, kind->why, strlen(kind->why));
		tap_buf_puts(&line, ": ");
	}
	add_programs(&line, uses, nr, verbose ? nr : FEW_PROGRAMS);
	puts(tap_buf_str(&line));
	if (verbose && kind->fmt)
		print_indented(kind->text);
	tap_buf_release(&line);
}

static unsigned int print_user_events(const struct sources *s, const struct tap_select *select,
				      bool verbose)
{
	unsigned int printed = 0, nr;

	for (unsigned int i = 0; i < s->nr_uses; i += nr) {
		const struct tap_user_kind *kind = s->uses[i].kind;

		for (nr = 1; i + nr < s->nr_uses && s->uses[i + nr].kind == kind; nr++)
			;
		if (!tap_select_event(select, kind->system, kind->name))
			continue;
		print_user_event(&s->uses[i], nr, verbose);
		printed++;
	}
	return printed;
}

static void print_reason(const struct tap_user_program *p, const char *reason, unsigned int nr_more)
{
	struct tap_buf line = { 0 };

	tap_buf_printf(&line, "%-9s ", "-");
	add_program(&line, p);
	tap_buf_puts(&line, ": ");
	tap_text_escape(&line, reason, strlen(reason));
	if (nr_more)
		tap_buf_printf(&line, ", and %u more", nr_more);
	puts(tap_buf_str(&line));
	tap_buf_release(&line);
}

/* Print the reasons why programs' events cannot be recorded. */
static void print_reasons(const struct sources *s)
{
	const struct tap_user_program *p;

	for (unsigned int i = 0; s->programs && (p = tap_user_program_at(s->programs, i)); i++) {
		if (!p->alive || !is_asked_for(s, p))
			continue;
		if (*p->control.head.reason)
			print_reason(p, p->control.head.reason, 0);
		if (p->control.bad_events)
			print_reason(p, p->control.why_bad, p->control.bad_events - 1);
	}
}

static unsigned int print_matching(const struct sources *s, const struct tap_select *select,
				   bool verbose)
{
	const struct tap_def *def;
	unsigned int nr = 0;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		if (def->form_of || !tap_select_event(select, def->system, def->name))
			continue;
		print_def(s, def, verbose);
		nr++;
	}
	for (unsigned int i = 0; i < s->list.nr; i++) {
		const struct tap_tracefs_event *ev = &s->list.v[i];

		if (tap_def_find(ev->system, ev->name) ||
		    !tap_select_event(select, ev->system, ev->name))
			continue;
		print_tracefs_event(s, ev, verbose);
		nr++;
	}
	nr += print_user_events(s, select, verbose);
	if (!select->nr_events)
		print_reasons(s);
	return nr;
}

/* ---- tracepoints without events ---- */

#define BARE "bare:"

static void print_bare(const struct btf *btf, struct tap_type_names *types, const char *name,
		       bool verbose)
{
	struct tap_buf params = { 0 }, members = { 0 };

	tap_tracepoint_params(btf, types, name, &params);
	printf("%-9s " BARE "%s(%s)\n", "bare", name, tap_buf_str(&params));
	if (verbose && !tap_tracepoint_members(btf, types, name, &members))
		print_indented(tap_buf_str(&members));
	tap_buf_release(&params);
	tap_buf_release(&members);
}

static int list_bare(const struct sources *s, const char *word, bool verbose, struct tap_err *err)
{
	const char *glob = word + strlen(BARE), *name;
	struct tap_type_names *types;
	uint32_t id = 0;
	unsigned int nr = 0;

	if (!s->kernel || !s->list.nr)
		return tap_err_set(err, -EOPNOTSUPP,
				   "cannot list the tracepoints that have no trace event: %s",
				   s->kernel ? s->no_tracefs.text : s->no_bpf.text);
	if (tap_type_names_new(tap_kernel_btf(s->kernel), &types))
		return tap_err_nomem(err);
	while ((name = tap_tracepoint_next(tap_kernel_btf(s->kernel), &id))) {
		if (tap_tracefs_named(&s->list, name) || fnmatch(glob, name, 0))
			continue;
		print_bare(tap_kernel_btf(s->kernel), types, name, verbose);
		nr++;
	}
	tap_type_names_free(types);
	return nr ? 0
		  : tap_err_set(err, -ENODATA,
				"no tracepoint that lacks a trace event matches '%s'", glob);
}

/* ---- probes of a program ---- */

#define USDT "usdt:"

/* List the USDT probes of a process, and its schedtap tracepoints. */
static int list_process(const struct sources *s, bool verbose, struct tap_err *err)
{
	unsigned int nr;
	int ret = tap_probes_print_process(s->pid, &nr, err);

	if (ret)
		return ret;
	nr += print_user_events(s, &tap_select_all, verbose);
	print_reasons(s);
	return nr ? 0
		  : tap_err_set(err, -ENODATA,
				"process %d has no USDT probes and no schedtap tracepoints",
				s->pid);
}

/* ---- user-defined events ---- */

/* Report the errors that recording this definition would report, without loading a program. */
static int check_own(const struct sources *s, const struct tap_def *def, struct tap_err *err)
{
	struct tap_feed feed;
	const struct tap_recorder_env env = {
		.btf = s->kernel ? tap_kernel_btf(s->kernel) : NULL,
		.nr_cpus = tap_machine_nr_cpus(),
	};
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	const struct tap_hook *hook;
	struct tap_buf why = { 0 };
	struct tap_err bad = { 0 };
	const char *at;
	int ret;

	hook = s->kernel ? tap_kernel_hook(s->kernel, def, &why) : NULL;
	tap_buf_release(&why);
	if (!hook)
		return 0;
	ret = tap_feed_open(&feed, hook, err);
	if (ret)
		return ret;
	tap_kernel_absent(s->kernel, def, absent);
	ret = tap_recorder_check(&env, def, &feed, absent, &at, &bad);
	tap_feed_release(&feed);
	return ret ? tap_defs_fail(def, at, err, "%s", bad.text) : 0;
}

/*
 * Print the user-defined events that @select matches. Definitions in its words have been replaced
 * by their names.
 */
static int list_own(const struct sources *s, const struct tap_defs *own,
		    const struct tap_select *select, bool verbose, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < own->nr && !ret; i++) {
		const struct tap_def *def = tap_defs_at(own, i);

		if (!tap_select_event(select, def->system, def->name))
			continue;
		if (s->kernel && tap_kernel_learn(s->kernel, def))
			return tap_err_nomem(err);
		ret = check_own(s, def, err);
		if (!ret)
			print_def(s, def, verbose);
	}
	return ret;
}

/* ---- enabled events ---- */

static int list_enabled(const struct sources *s, const struct tap_strings *words,
			struct tap_err *err)
{
	const struct tap_enabled_from from = {
		.root = s->root,
		.list = &s->list,
		.btf = s->kernel ? tap_kernel_btf(s->kernel) : NULL,
	};
	const struct tap_select_opts opts = {
		sizeof(opts),
		.events = (const char *const *)words->v,
		.nr_events = words->nr,
	};
	struct tap_select *select;
	unsigned int nr = 0;
	int ret = tap_select_new(&opts, &select, err);

	if (ret)
		return ret;
	ret = tap_enabled_print(&from, select, &nr, err);
	tap_select_free(select);
	/* events may be enabled where we cannot look */
	if (!ret && s->no_tracefs.code)
		ret = tap_err_set(err, s->no_tracefs.code, "%s", s->no_tracefs.text);
	if (!ret && !s->kernel)
		ret = tap_err_set(err, s->no_bpf.code, "%s", s->no_bpf.text);
	if (!ret && !nr)
		ret = tap_err_set(err, -ENODATA,
				  words->nr ? "no enabled event matches the given names"
					    : "no event is enabled");
	return ret;
}

/* ---- the command ---- */

static bool fits_own(const struct tap_defs *own, const struct tap_select *select)
{
	for (unsigned int i = 0; i < own->nr; i++)
		if (tap_select_event(select, tap_defs_at(own, i)->system,
				     tap_defs_at(own, i)->name))
			return true;
	return false;
}

static int list_word(const struct sources *s, const struct tap_defs *own, const char *word,
		     bool verbose, struct tap_err *err)
{
	const struct tap_select_opts opts = { sizeof(opts), .events = &word, .nr_events = 1 };
	struct tap_select *select;
	int ret;

	if (!strncmp(word, BARE, strlen(BARE)))
		return list_bare(s, word, verbose, err);
	ret = tap_select_new(&opts, &select, err);
	if (ret)
		return ret;
	if (fits_own(own, select))
		ret = list_own(s, own, select, verbose, err);
	else if (!strncmp(word, USDT, strlen(USDT)))
		ret = tap_probes_print(word + strlen(USDT), err);
	else if (!print_matching(s, select, verbose))
		ret = tap_err_set(err, -ENODATA, "no event matches '%s'", word);
	tap_select_free(select);
	return ret;
}

static int list_words(const struct sources *s, const struct tap_defs *own,
		      const struct tap_strings *words, bool verbose)
{
	struct tap_err err = { 0 };
	int ret = TAP_EXIT_OK;

	if (!words->nr && own->nr && list_own(s, own, &tap_select_all, verbose, &err))
		ret = tap_cmd_fail(&err, true);
	else if (!words->nr && !own->nr)
		print_matching(s, &tap_select_all, verbose);
	for (unsigned int i = 0; i < words->nr; i++)
		if (list_word(s, own, words->v[i], verbose, &err))
			ret = tap_cmd_fail(&err, true);
	return ret;
}

/* Say which events are not in the list, and why. */
static void explain_missing(const struct sources *s)
{
	if (s->by_types)
		fputs("schedtap: 'bpf' is judged only by the kernel's types: a test that loads BPF "
		      "programs needs CAP_BPF and CAP_PERFMON\n",
		      stderr);
	if (s->no_tracefs.code)
		fprintf(stderr, "schedtap: the kernel's other events are not listed: %s\n",
			s->no_tracefs.text);
	if (s->no_programs.code)
		fprintf(stderr, "schedtap: the events of programs are not listed: %s\n",
			s->no_programs.text);
}

static int check_alone(const struct list_opts *o, const struct tap_strings *operands,
		       struct tap_err *err)
{
	if (!operands->nr && !o->enabled && !o->definitions.nr)
		return 0;
	return tap_err_set(err, -EINVAL,
			   "-p lists all probes of a process: it cannot be combined with EVENT, "
			   "--enabled or --define");
}

static int run_list(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct list_opts *o = opts;
	/* shares the strings of @operands, but not ownership */
	struct tap_select_words words = { .events = *operands };
	struct tap_cli_defs own = { 0 };
	struct sources s = { .pid = (pid_t)o->pid };
	struct tap_err err = { 0 };
	int ret;

	(void)rest;
	ret = o->pid ? check_alone(o, operands, &err) : 0;
	ret = ret ?: tap_cli_define(&own, &o->definitions, &words, &err);
	if (ret) {
		tap_cli_defs_release(&own);
		return tap_cmd_fail(&err, true);
	}
	if (!o->pid)
		open_kernel(&s);
	tap_screen_page();
	if (o->pid) {
		open_programs(&s);
		ret = list_process(&s, o->verbose, &err) ? tap_cmd_fail(&err, true) : TAP_EXIT_OK;
		explain_missing(&s);
	} else if (o->enabled) {
		ret = list_enabled(&s, &words.events, &err) ? tap_cmd_fail(&err, true)
							    : TAP_EXIT_OK;
	} else {
		try_bpf(&s);
		open_programs(&s);
		ret = list_words(&s, &own.defs, &words.events, o->verbose);
		explain_missing(&s);
	}
	close_sources(&s);
	tap_cli_defs_release(&own);
	for (unsigned int i = 0; i < words.filters.nr; i++)
		free(words.filters.v[i]);
	free(words.filters.v);
	return ret;
}

static const struct tap_opt list_table[] = {
	TAP_OPT_DEFINE(struct list_opts, definitions),
	TAP_OPTION(struct list_opts, enabled, "enabled", 0, NULL, TAP_OPT_FLAG,
		   "list only enabled events, and what enabled them"),
	{ "pid", 'p', "PID", "list the probes and tracepoints of this process", TAP_OPT_INT,
	  offsetof(struct list_opts, pid), .min = 1, .max = INT32_MAX },
	TAP_OPTION(struct list_opts, verbose, "verbose", 'v', NULL, TAP_OPT_FLAG,
		   "print each event's format text"),
	{ 0 }
};

const struct tap_cmd tap_cmd_list = {
	.name = "list",
	.help = "events available here, and why others are not",
	.exits = "0 done, 1 failed, or no such event, 2 usage error, 3 missing privilege or kernel "
		 "feature",
	.operands = "[EVENT...]",
	.example = "schedtap list pelt",
	.opts = list_table,
	.opts_size = sizeof(struct list_opts),
	.run = run_list,
};
