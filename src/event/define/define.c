// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/define.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/opt.h"
#include "event/define/quote.h"
#include "event/define/record.h"

/* The parts that all events of a class share. A TRACE_EVENT() is a class with one event. */
struct tap_own_class {
	struct tap_own_class *next;
	const char *name;
	struct tap_token at; /* the token of its name */
	struct tap_record record;
	struct tap_quote params, args, condition, assign, print;
	unsigned int nr_args;
};

struct tap_own_def {
	struct tap_def def; /* first, as tap_defs_fail() casts its address */
	const struct tap_own_class *class;
	struct tap_token at;
	struct tap_hook hooks[TAP_DEF_MAX_HOOKS];
	struct tap_need needs[TAP_DEF_MAX_NEEDS];
};

struct reader {
	struct tap_defs *d;
	struct tap_pp *pp;
	unsigned int first; /* index of this file's first definition */
	struct tap_own_class *classes; /* of this file; the last one comes first */
};

/* ---- names ---- */

static const char *keep_text(struct reader *r, struct span s)
{
	char *copy = tap_arena_get(&r->d->arena, s.len + 1);

	if (!copy) {
		tap_pp_no_memory(r->pp);
		return "";
	}
	return s.len ? memcpy(copy, s.s, s.len) : copy;
}

/* Report an unknown name and suggest the nearest of @names. */
static void fail_near(struct reader *r, const struct tap_token *at, const char *what,
		      const char *const *names, unsigned int nr)
{
	char word[128];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", (int)at->text.len, at->text.s);
	near = tap_nearest(word, names, nr);
	tap_pp_fail(r->pp, at, "%s '%s'%s%s%s", what, word, near ? ": did you mean '" : "",
		    near ? near : "", near ? "'?" : "");
}

static struct tap_own_class *find_class(const struct reader *r, struct span name)
{
	struct tap_own_class *c = r->classes;

	while (c && !span_is(name, c->name))
		c = c->next;
	return c;
}

static void fail_class(struct reader *r, const struct tap_token *at)
{
	const char *names[TAP_DEFS_MAX];
	unsigned int nr = 0;

	for (const struct tap_own_class *c = r->classes; c && nr < TAP_DEFS_MAX; c = c->next)
		names[nr++] = c->name;
	fail_near(r, at, "there is no class", names, nr);
}

/* Find the event of this file that the part names. Return: NULL after an error. */
static struct tap_own_def *take_event(struct reader *r, const struct tap_part *part)
{
	const char *names[TAP_DEFS_MAX];
	unsigned int nr = 0;
	struct span name;

	if (!tap_call_name(r->pp, part, "an event's name", &name))
		return NULL;
	for (unsigned int i = r->first; i < r->d->nr; i++) {
		if (span_is(name, r->d->v[i]->def.name))
			return r->d->v[i];
		names[nr++] = r->d->v[i]->def.name;
	}
	fail_near(r, part->v, "this file defines no event", names, nr);
	return NULL;
}

/* ---- parts of a class ---- */

static const struct tap_field *find_field(const struct tap_record *rec, struct span name)
{
	for (unsigned int i = 0; i < rec->nr; i++)
		if (span_is(name, rec->fields[i].name))
			return &rec->fields[i];
	return NULL;
}

static bool has_field(struct reader *r, const struct tap_record *rec, const struct tap_token *t)
{
	const char *names[TAP_FORMAT_MAX_FIELDS];

	if (t->kind == TOKEN_WORD && find_field(rec, t->text))
		return true;
	for (unsigned int i = 0; i < rec->nr; i++)
		names[i] = rec->fields[i].name;
	fail_near(r, t, "unknown field", names, rec->nr);
	return false;
}

/* Return true for macros whose first argument is a field's name. */
static bool takes_field(const struct tap_token *t)
{
	static const char *const words[] = { "__get_str",	    "__get_bitmask",
					     "__assign_str",	    "__assign_bitmask",
					     "__get_dynamic_array", "__get_dynamic_array_len" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (token_is(t, words[i]))
			return true;
	return false;
}

/* Return true if the record has every field that the part names. */
static bool check_fields(struct reader *r, const struct tap_record *rec,
			 const struct tap_part *part)
{
	for (unsigned int i = 0; i + 2 < part->nr; i++) {
		const struct tap_token *t = &part->v[i];

		if ((token_is(t, "__entry") && token_is(t + 1, "->")) ||
		    (takes_field(t) && token_is(t + 1, "(")))
			if (!has_field(r, rec, t + 2))
				return false;
	}
	return true;
}

/* A condition is evaluated before the record exists. */
static bool has_no_record(struct reader *r, const struct tap_part *part)
{
	for (unsigned int i = 0; i < part->nr; i++)
		if (token_is(&part->v[i], "__entry"))
			tap_pp_fail(r->pp, &part->v[i],
				    "a condition can use only the arguments: the record does not "
				    "exist yet");
	return !tap_pp_err(r->pp);
}

static bool read_print(struct reader *r, const struct tap_part *part, struct tap_own_class *c)
{
	struct tap_part fmt;
	struct tap_call call;
	unsigned int i = 0;

	if (!tap_call_only(r->pp, part, "TP_printk", &call))
		return false;
	fmt = call.nr_args ? call.args[0] : call.all;
	while (i < fmt.nr && fmt.v[i].kind == TOKEN_STRING)
		i++;
	if (!fmt.nr || i < fmt.nr) {
		tap_pp_fail(r->pp, fmt.nr ? &fmt.v[i] : &call.name,
			    "the print format must be a string constant");
		return false;
	}
	return check_fields(r, &c->record, &call.all) &&
	       tap_quote_make(r->pp, &r->d->arena, &call.all, &c->print);
}

/* Read TP_PROTO() and TP_ARGS(), which must have the same length. Return: false after an error. */
static bool read_args(struct reader *r, const struct tap_part *parts, struct tap_call *proto,
		      struct tap_call *args)
{
	if (!tap_call_only(r->pp, &parts[0], "TP_PROTO", proto) ||
	    !tap_call_only(r->pp, &parts[1], "TP_ARGS", args))
		return false;
	if (proto->nr_args != args->nr_args &&
	    !(proto->all.nr == 1 && token_is(proto->all.v, "void") && !args->nr_args))
		tap_pp_fail(r->pp, &args->name,
			    "wrong number of arguments: TP_PROTO() has %u, TP_ARGS() has %u",
			    proto->nr_args, args->nr_args);
	return !tap_pp_err(r->pp);
}

static bool read_parts(struct reader *r, const struct tap_call *call, bool conditional,
		       struct tap_own_class *c)
{
	const struct tap_part *part = &call->args[1];
	struct tap_arena *arena = &r->d->arena;
	struct tap_pp *pp = r->pp;
	struct tap_call proto, in;

	if (!read_args(r, part, &proto, &in) ||
	    !tap_quote_make(pp, arena, &proto.all, &c->params) ||
	    !tap_quote_make(pp, arena, &in.all, &c->args))
		return false;
	part += 2;
	c->nr_args = in.nr_args;
	if (conditional &&
	    (!tap_call_only(pp, part++, "TP_CONDITION", &in) || !has_no_record(r, &in.all) ||
	     !tap_quote_make(pp, arena, &in.all, &c->condition)))
		return false;
	return tap_call_only(pp, part++, "TP_STRUCT__entry", &in) &&
	       tap_record_read(pp, arena, &in.all, &c->record) &&
	       tap_call_only(pp, part++, "TP_fast_assign", &in) &&
	       check_fields(r, &c->record, &in.all) &&
	       tap_quote_make(pp, arena, &in.all, &c->assign) && read_print(r, part, c);
}

static struct tap_own_class *read_class(struct reader *r, const struct tap_call *call,
					bool conditional)
{
	struct tap_own_class *c = tap_arena_get(&r->d->arena, sizeof(*c)), *other;
	struct span name;

	if (!c) {
		tap_pp_no_memory(r->pp);
		return NULL;
	}
	if (!tap_call_has(r->pp, call, conditional ? 7 : 6,
			  conditional ? "name, TP_PROTO(), TP_ARGS(), TP_CONDITION(), "
					"TP_STRUCT__entry(), TP_fast_assign(), TP_printk()"
				      : "name, TP_PROTO(), TP_ARGS(), TP_STRUCT__entry(), "
					"TP_fast_assign(), TP_printk()") ||
	    !tap_call_name(r->pp, &call->args[0], "an event's name", &name))
		return NULL;
	c->at = call->args[0].v[0];
	other = find_class(r, name);
	if (other) {
		tap_pp_fail(r->pp, &c->at, "'%s' is already defined in %s:%u", other->name,
			    other->at.source->path,
			    tap_source_line(other->at.source, other->at.at));
		return NULL;
	}
	c->name = keep_text(r, name);
	if (!read_parts(r, call, conditional, c))
		return NULL;
	c->next = r->classes;
	r->classes = c;
	return c;
}

/* ---- events ---- */

/* Return the single word that a macro of the header expands to; NULL if it does not. */
static const char *word_of(struct reader *r, const char *macro)
{
	struct tap_tokens list = { 0 };
	const char *word = NULL;

	if (tap_pp_value(r->pp, macro, &list) && list.nr == 1 && list.v->kind == TOKEN_WORD)
		word = keep_text(r, list.v->text);
	free(list.v);
	return word;
}

static bool is_new(struct reader *r, const struct tap_own_def *o)
{
	for (unsigned int i = 0; i < r->d->nr; i++) {
		const struct tap_own_def *other = r->d->v[i];

		if (strcmp(other->def.system, o->def.system) ||
		    strcmp(other->def.name, o->def.name))
			continue;
		tap_pp_fail(r->pp, &o->at, "'%s:%s' is already defined in %s:%u", o->def.system,
			    o->def.name, other->at.source->path,
			    tap_source_line(other->at.source, other->at.at));
		return false;
	}
	return true;
}

static void add_event(struct reader *r, const struct tap_own_class *c, struct tap_token at)
{
	struct tap_own_def *o = tap_arena_get(&r->d->arena, sizeof(*o));
	unsigned int nr_built_in = 0;

	if (!o || tap_array_grow(&r->d->v, r->d->nr, &r->d->cap, sizeof(*r->d->v))) {
		tap_pp_no_memory(r->pp);
		return;
	}
	while (tap_def_at(nr_built_in))
		nr_built_in++;
	*o = (struct tap_own_def){
		.class = c,
		.at = at,
		.def = {
			.system = word_of(r, "TRACE_SYSTEM"),
			.name = keep_text(r, at.text),
			.group = word_of(r, "TRACE_INCLUDE_FILE"),
			.print_fmt = c->print.s,
			.params = c->params.s,
			.condition = c->condition.s,
			.assign = c->assign.s,
			.fields = c->record.fields,
			.nr_fields = c->record.nr,
			.size = c->record.size,
			.id = TAP_DEF_ID_BASE + nr_built_in + r->d->nr,
		},
	};
	if (!o->def.system)
		tap_pp_fail(r->pp, &at, "no system: '#define TRACE_SYSTEM name' is missing above");
	else if (r->d->nr == TAP_DEFS_MAX)
		tap_pp_fail(r->pp, &at, "more than %u definitions", TAP_DEFS_MAX);
	if (tap_pp_err(r->pp) || !is_new(r, o))
		return;
	if (!o->def.group)
		o->def.group = o->def.system;
	o->def.hooks = o->hooks;
	o->def.needs = o->needs;
	r->d->v[r->d->nr++] = o;
}

static void read_event(struct reader *r, const struct tap_call *call, bool conditional)
{
	const struct tap_own_class *c = read_class(r, call, conditional);

	if (c)
		add_event(r, c, c->at);
}

static void read_trace_event(struct reader *r, const struct tap_call *call)
{
	read_event(r, call, false);
}

static void read_trace_event_condition(struct reader *r, const struct tap_call *call)
{
	read_event(r, call, true);
}

static void read_event_class(struct reader *r, const struct tap_call *call)
{
	read_class(r, call, false);
}

/*
 * Read TP_PROTO() and TP_ARGS() of an event, which must match its class. Return: false after an
 * error.
 */
static bool read_args_of(struct reader *r, const struct tap_part *parts,
			 const struct tap_own_class *c)
{
	struct tap_call proto, args;

	if (!read_args(r, parts, &proto, &args))
		return false;
	if (args.nr_args != c->nr_args)
		tap_pp_fail(r->pp, &args.name,
			    "wrong number of arguments: TP_ARGS() of '%s' has %u, not %u", c->name,
			    c->nr_args, args.nr_args);
	return args.nr_args == c->nr_args;
}

static void read_define_event(struct reader *r, const struct tap_call *call)
{
	const struct tap_own_class *c;
	struct span name;

	if (!tap_call_has(r->pp, call, 4, "class, name, TP_PROTO(), TP_ARGS()") ||
	    !tap_call_name(r->pp, &call->args[0], "a class's name", &name))
		return;
	c = find_class(r, name);
	if (!c)
		fail_class(r, call->args[0].v);
	else if (tap_call_name(r->pp, &call->args[1], "an event's name", &name) &&
		 read_args_of(r, &call->args[2], c))
		add_event(r, c, call->args[1].v[0]);
}

/*
 * Read a tracepoint's name, or a probe in quotes. The recorder checks the rest of a probe when it
 * opens it.
 */
static bool read_feed(struct reader *r, const struct tap_part *part, struct span *name)
{
	const struct span *text = &part->v->text;

	if (part->nr != 1 || part->v->kind != TOKEN_STRING)
		return tap_call_name(r->pp, part, "a tracepoint's name", name);
	*name = (struct span){ text->s + 1, text->len - 2 };
	if (!memchr(name->s, ':', name->len) || memchr(name->s, '\\', name->len))
		tap_pp_fail(r->pp, part->v,
			    "not a probe: use \"usdt:PATH:PROVIDER:NAME\", \"uprobe:PATH:SYMBOL\" "
			    "or \"uretprobe:PATH:SYMBOL\"");
	return !tap_pp_err(r->pp);
}

static void read_hook(struct reader *r, const struct tap_call *call)
{
	struct tap_own_def *o;
	struct span name;

	if (!tap_call_has(r->pp, call, 4, "event, tracepoint, TP_PROTO(), TP_ARGS()"))
		return;
	o = take_event(r, &call->args[0]);
	if (!o || !read_feed(r, &call->args[1], &name) ||
	    !read_args_of(r, &call->args[2], o->class))
		return;
	for (unsigned int i = 0; i < o->def.nr_hooks; i++)
		if (span_is(name, o->hooks[i].tracepoint)) {
			tap_pp_fail(r->pp, call->args[1].v,
				    "'%s' already has TRACE_HOOK() for '%s'", o->def.name,
				    o->hooks[i].tracepoint);
			return;
		}
	if (o->def.nr_hooks == TAP_DEF_MAX_HOOKS)
		tap_pp_fail(r->pp, &call->name, "more than %u TRACE_HOOK() for '%s'",
			    TAP_DEF_MAX_HOOKS, o->def.name);
	else
		o->hooks[o->def.nr_hooks++] =
			(struct tap_hook){ keep_text(r, name), o->class->nr_args };
}

/*
 * Return true for the contents of a TRACE_NEEDS() string, such as "rq.avg_hw|rq.avg_thermal". @s
 * includes the quotes.
 */
static bool is_spec(struct span s)
{
	bool dot = false, word = false;

	for (size_t i = 1; i < s.len; i++) {
		bool is_end = s.s[i] == '|' || s.s[i] == '"';

		if (!is_word(s.s[i]) && (!word || (is_end ? !dot : dot || s.s[i] != '.')))
			return false;
		word = is_word(s.s[i]);
		dot = !is_end && (dot || s.s[i] == '.');
	}
	return true;
}

static void read_needs(struct reader *r, const struct tap_call *call)
{
	const struct tap_part *field = &call->args[1], *spec = &call->args[2];
	struct span name = { 0 };
	struct tap_own_def *o;

	if (!tap_call_has(r->pp, call, 3, "event, field, \"struct.member\""))
		return;
	o = take_event(r, &call->args[0]);
	if (!o || (field->nr && (!tap_call_name(r->pp, field, "a field's name", &name) ||
				 !has_field(r, &o->class->record, field->v))))
		return;
	if (spec->nr != 1 || spec->v->kind != TOKEN_STRING || !is_spec(spec->v->text))
		tap_pp_fail(r->pp, &spec->at,
			    "expected a string: \"struct.member\", or several separated by |");
	else if (o->def.nr_needs == TAP_DEF_MAX_NEEDS)
		tap_pp_fail(r->pp, &call->name, "'%s' has more than %u TRACE_NEEDS()", o->def.name,
			    TAP_DEF_MAX_NEEDS);
	else
		o->needs[o->def.nr_needs++] = (struct tap_need){
			keep_text(r, name),
			keep_text(r, (struct span){ spec->v->text.s + 1, spec->v->text.len - 2 }),
		};
}

/* ---- files ---- */

static const struct {
	const char *word;
	void (*read)(struct reader *r, const struct tap_call *call);
} words[] = {
	{ "TRACE_EVENT", read_trace_event },
	{ "TRACE_EVENT_CONDITION", read_trace_event_condition },
	{ "DECLARE_EVENT_CLASS", read_event_class },
	{ "DEFINE_EVENT", read_define_event },
	{ "TRACE_HOOK", read_hook },
	{ "TRACE_NEEDS", read_needs },
};

#define NR_WORDS (sizeof(words) / sizeof(*words))

static void fail_unknown(struct reader *r, const struct tap_token *at)
{
	const char *names[NR_WORDS];

	for (size_t i = 0; i < NR_WORDS; i++)
		names[i] = words[i].word;
	fail_near(r, at, "expected an event, TRACE_HOOK() or TRACE_NEEDS(), not", names, NR_WORDS);
}

/* Read the tokens of a statement up to its ";". Return: false at the end of the file. */
static bool take_statement(struct reader *r, struct tap_tokens *list)
{
	struct tap_token t, last = { 0 };
	unsigned int depth = 0;

	list->nr = 0;
	for (tap_pp_next(r->pp, &t); t.kind != TOKEN_END; tap_pp_next(r->pp, &t)) {
		depth += token_is(&t, "(");
		depth -= depth && token_is(&t, ")");
		if (!depth && token_is(&t, ";"))
			return true;
		last = t;
		tap_pp_add(r->pp, list, t);
	}
	if (list->nr && !tap_pp_err(r->pp))
		tap_pp_fail(r->pp, depth ? list->v : &last,
			    depth ? "a ')' is missing" : "a ';' is missing after this");
	return false;
}

/* Return true for "struct NAME". */
static bool is_declaration(const struct tap_tokens *list)
{
	return list->nr == 2 && list->v[1].kind == TOKEN_WORD &&
	       (token_is(list->v, "struct") || token_is(list->v, "union") ||
		token_is(list->v, "enum"));
}

static void read_statement(struct reader *r, const struct tap_tokens *list)
{
	const struct tap_part all = { list->v, list->nr, list->v[0] };
	struct tap_call call;
	unsigned int i = 0;
	size_t w = 0;

	if (is_declaration(list))
		return;
	while (w < NR_WORDS && !token_is(list->v, words[w].word))
		w++;
	if (w == NR_WORDS)
		fail_unknown(r, list->v);
	else if (!tap_call_take(r->pp, &all, &i, &call))
		return;
	else if (i < list->nr)
		tap_pp_fail(r->pp, &list->v[i], "a ';' is missing before this");
	else
		words[w].read(r, &call);
}

/*
 * Every event needs a hook, unless it replaces a built-in event that has none either: the recorder
 * itself writes events_lost.
 */
static void check_hooks(struct reader *r)
{
	for (unsigned int i = r->first; i < r->d->nr; i++) {
		const struct tap_own_def *o = r->d->v[i];
		const struct tap_def *built_in = tap_def_find(o->def.system, o->def.name);

		if (!o->def.nr_hooks && !(built_in && !built_in->nr_hooks))
			tap_pp_fail(r->pp, &o->at,
				    "this event has no tracepoint: add TRACE_HOOK(%s, TRACEPOINT, "
				    "TP_PROTO(%s), TP_ARGS(%s));",
				    o->def.name, o->def.params, o->class->args.s);
	}
}

static int read_all(struct tap_defs *d, struct tap_err *err)
{
	struct reader r = { .d = d, .first = d->nr };
	struct tap_tokens list = { 0 };
	int ret = tap_pp_new(&r.pp, &d->sources, d->sources, err);

	if (ret)
		return ret;
	while (take_statement(&r, &list))
		if (list.nr)
			read_statement(&r, &list);
	free(list.v);
	check_hooks(&r);
	ret = tap_pp_err(r.pp);
	tap_pp_free(r.pp);
	return ret;
}

int tap_defs_read_text(struct tap_defs *d, const char *path, const char *text, size_t len,
		       struct tap_err *err)
{
	return tap_source_add(&d->sources, path, text, len, err) ?: read_all(d, err);
}

int tap_defs_read(struct tap_defs *d, const char *path, struct tap_err *err)
{
	return tap_source_read(&d->sources, path, err) ?: read_all(d, err);
}

void tap_defs_release(struct tap_defs *d)
{
	free(d->v);
	tap_source_free(d->sources);
	tap_arena_release(&d->arena);
	*d = (struct tap_defs){ 0 };
}

const struct tap_def *tap_defs_at(const struct tap_defs *d, unsigned int index)
{
	return index < d->nr ? &d->v[index]->def : NULL;
}

int tap_defs_fail(const struct tap_def *def, const char *at, struct tap_err *err, const char *fmt,
		  ...)
{
	const struct tap_own_def *o = (const struct tap_own_def *)def;
	const struct tap_own_class *c = o->class;
	const struct tap_quote *quotes[] = { &c->assign, &c->condition, &c->params, &c->print };
	struct tap_place place = { .source = o->at.source, .at = o->at.at };
	va_list ap;
	int ret;

	for (size_t i = 0; at && i < sizeof(quotes) / sizeof(*quotes); i++) {
		const struct tap_place *found = tap_quote_place(quotes[i], at);

		if (found)
			place = *found;
	}
	va_start(ap, fmt);
	ret = tap_source_fail(place.source, place.at, err, fmt, ap);
	va_end(ap);
	return ret;
}
