// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "event/print/symbols.h"
#include "file/symbol/places.h"
#include "record/machine.h"
#include "stack_maps.h"

#define TRY_NS 20000000u
#define TRY_FOR_NS 300000000u
#define TRY_MAX 1024u /* the newest */

/* A program's, which has no text yet. */
struct unnamed {
	struct unnamed *next;
	char *text; /* owned; NULL */
	bool is_named; /* .text is what it will be */
	uint32_t number;
	int tgid;
	uint64_t added_ns;
	unsigned int nr, nr_unknown; /* unknown: that have no place yet */
	struct frame {
		uint64_t addr;
		uint32_t place; /* 0: not known */
	} frames[];
};

struct texts {
	struct tap_map map; /* number -> text, owned */
	uint64_t bytes, without;
};

struct tap_stacks {
	struct tap_symbols *symbols;
	struct tap_places *places;
	bool named; /* the kernel's functions */
	bool news; /* a text that tap_stacks_hand_over() has not told of */
	struct texts kernel, user;
	struct unnamed *added; /* who adds has these for himself */
	uint64_t tried_ns; /* when places were last looked for again */
	pthread_mutex_t naming; /* held by who names */
	pthread_mutex_t lock; /* never for long: of these */
	struct unnamed *handed_over;
};

int tap_stacks_new(struct tap_stacks **out, struct tap_err *err)
{
	struct tap_stacks *s = calloc(1, sizeof(*s));
	struct tap_buf kallsyms = { 0 };
	int ret;

	*out = NULL;
	if (!s)
		return tap_err_nomem(err);
	pthread_mutex_init(&s->naming, NULL);
	pthread_mutex_init(&s->lock, NULL);
	tap_machine_symbols(&kallsyms);
	s->named = kallsyms.len;
	ret = tap_symbols_new("", tap_buf_str(&kallsyms), &s->symbols);
	tap_buf_release(&kallsyms);
	if (ret)
		tap_err_set(err, ret, "out of memory");
	ret = ret ?: tap_places_new(&s->places, err);
	if (ret)
		tap_stacks_free(s);
	else
		*out = s;
	return ret;
}

static void free_unnamed(struct unnamed *list)
{
	while (list) {
		struct unnamed *next = list->next;

		free(list->text);
		free(list);
		list = next;
	}
}

void tap_stacks_free(struct tap_stacks *s)
{
	if (!s)
		return;
	free_unnamed(s->added);
	free_unnamed(s->handed_over);
	pthread_mutex_destroy(&s->naming);
	pthread_mutex_destroy(&s->lock);
	tap_symbols_free(s->symbols);
	tap_places_free(s->places);
	tap_machine_release_texts(&s->kernel.map);
	tap_machine_release_texts(&s->user.map);
	free(s);
}

bool tap_stacks_name_kernel(const struct tap_stacks *s)
{
	return s->named;
}

/* ---- texts ---- */

/* Takes @text; NULL: there was no memory for it. */
static void keep(struct tap_stacks *s, struct texts *texts, uint32_t number, char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (text && texts->bytes + len <= TAP_STACKS_MAX_BYTES &&
	    !tap_map_set(&texts->map, number, (uint64_t)(uintptr_t)text)) {
		texts->bytes += len;
		s->news = true;
		return;
	}
	texts->without++;
	free(text);
}

/* Return: owned; NULL when out of memory. */
static char *take_text(struct tap_buf *text)
{
	char *taken;

	tap_buf_str(text);
	taken = text->err ? NULL : strdup(text->data);
	tap_buf_release(text);
	return taken;
}

/* The functions that call a tracepoint's program, from the tracepoint inwards. */
static bool is_own(const char *name)
{
	static const char *const prefixes[] = { "__traceiter_", "__bpf_trace_", "bpf_trace_run" };

	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

unsigned int tap_stacks_count_own(const struct tap_stacks *s, const unsigned long long *addrs,
				  unsigned int nr)
{
	unsigned int own = 0;
	uint64_t offset;

	for (unsigned int i = 0; i < nr && i < TAP_STACK_OWN_FRAMES; i++)
		if (is_own(tap_symbols_name(s->symbols, addrs[i], &offset)))
			own = i + 1;
	return own;
}

/* As ftrace prints a frame, in a string of a format text. */
static void add_frame(struct tap_buf *text, const char *name)
{
	tap_buf_puts(text, "\n => ");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			tap_buf_char(text, '\\');
		tap_buf_char(text, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	}
}

/* An address is told to who may see where the kernel is. */
static void add_kernel_frame(const struct tap_stacks *s, uint64_t addr, struct tap_buf *text)
{
	uint64_t offset;
	const char *name = tap_symbols_name(s->symbols, addr, &offset);
	char number[24];

	snprintf(number, sizeof(number), "0x%" PRIx64, addr);
	add_frame(text, name ?: s->named ? number : "?");
}

static void add_kernel(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr)
{
	unsigned int from = tap_stacks_count_own(s, stack->addrs, nr);
	struct tap_buf text = { 0 };

	for (unsigned int i = from; i < nr && i - from < stack->depth; i++)
		add_kernel_frame(s, stack->addrs[i], &text);
	keep(s, &s->kernel, stack->number, take_text(&text));
}

/* A caller's address is where it goes on, which may be behind the function's end: the call is
 * before it. */
static void find_places(struct tap_stacks *s, struct unnamed *u)
{
	u->nr_unknown = 0;
	for (unsigned int i = 0; i < u->nr; i++) {
		struct frame *f = &u->frames[i];

		f->place = f->place ?: tap_places_note(s->places, u->tgid, f->addr - !!i);
		u->nr_unknown += !f->place;
	}
}

static int add_user(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr)
{
	struct unnamed *u = calloc(1, sizeof(*u) + nr * sizeof(*u->frames));

	if (!u)
		return -ENOMEM;
	u->number = stack->number;
	u->tgid = (int)stack->tgid;
	u->added_ns = tap_now_ns();
	u->nr = nr;
	for (unsigned int i = 0; i < nr; i++)
		u->frames[i].addr = stack->addrs[i];
	while (u->nr && !u->frames[u->nr - 1].addr) /* what the outermost frame may return to */
		u->nr--;
	find_places(s, u);
	u->next = s->added;
	s->added = u;
	return 0;
}

int tap_stacks_add(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr)
{
	if (stack->tgid)
		return add_user(s, stack, nr);
	add_kernel(s, stack, nr);
	return 0;
}

void tap_stacks_retry(struct tap_stacks *s)
{
	uint64_t now_ns = tap_now_ns();
	unsigned int nr = 0;

	if (now_ns - s->tried_ns < TRY_NS)
		return;
	s->tried_ns = now_ns;
	for (struct unnamed *u = s->added; u && nr < TRY_MAX; u = u->next, nr++)
		if (u->nr_unknown)
			find_places(s, u);
}

/* ---- names of programs ---- */

static char *make_text(struct tap_stacks *s, const struct unnamed *u)
{
	struct tap_buf text = { 0 };
	char number[24];

	for (unsigned int i = 0; i < u->nr; i++) {
		snprintf(number, sizeof(number), "0x%" PRIx64, u->frames[i].addr);
		add_frame(&text, u->frames[i].place ? tap_places_name(s->places, u->frames[i].place)
						    : number);
	}
	return take_text(&text);
}

/* Notes that @done has its text. Return: the next one that has none; NULL. It stays where it is
 * until it has. */
static struct unnamed *next_unnamed(struct tap_stacks *s, struct unnamed *done, char *text)
{
	struct unnamed *u;

	pthread_mutex_lock(&s->lock);
	if (done) {
		done->text = text;
		done->is_named = true;
	}
	for (u = s->handed_over; u && u->is_named; u = u->next)
		;
	pthread_mutex_unlock(&s->lock);
	return u;
}

void tap_stacks_name(struct tap_stacks *s)
{
	struct unnamed *u;

	pthread_mutex_lock(&s->naming);
	u = next_unnamed(s, NULL, NULL);
	while (u)
		u = next_unnamed(s, u, make_text(s, u));
	pthread_mutex_unlock(&s->naming);
}

static void take_named(struct tap_stacks *s)
{
	for (struct unnamed **from = &s->handed_over, *u; (u = *from) != NULL;) {
		if (!u->is_named) {
			from = &u->next;
			continue;
		}
		*from = u->next;
		keep(s, &s->user, u->number, u->text);
		free(u);
	}
}

/* Behind those that wait for their names. @all: also such as have places to be looked for again. */
static void hand_over_added(struct tap_stacks *s, bool all)
{
	struct unnamed **end = &s->handed_over, **from = &s->added;
	uint64_t now_ns = tap_now_ns();

	while (*end)
		end = &(*end)->next;
	while (*from) {
		struct unnamed *u = *from;

		if (!all && u->nr_unknown && now_ns - u->added_ns < TRY_FOR_NS) {
			from = &u->next;
			continue;
		}
		*from = u->next;
		u->next = NULL;
		*end = u;
		end = &u->next;
	}
}

bool tap_stacks_hand_over(struct tap_stacks *s, bool *news)
{
	bool any;

	pthread_mutex_lock(&s->lock);
	take_named(s);
	hand_over_added(s, false);
	any = s->handed_over;
	pthread_mutex_unlock(&s->lock);
	*news |= s->news;
	s->news = false;
	return any;
}

void tap_stacks_finish(struct tap_stacks *s)
{
	pthread_mutex_lock(&s->lock);
	hand_over_added(s, true);
	pthread_mutex_unlock(&s->lock);
	tap_stacks_name(s);
	pthread_mutex_lock(&s->lock);
	take_named(s);
	pthread_mutex_unlock(&s->lock);
}

const struct tap_map *tap_stacks_texts(const struct tap_stacks *s, bool user)
{
	return user ? &s->user.map : &s->kernel.map;
}

struct tap_stacks_count tap_stacks_count(const struct tap_stacks *s)
{
	return (struct tap_stacks_count){
		.nr = s->kernel.map.nr + s->user.map.nr + s->kernel.without + s->user.without,
		.bytes = s->kernel.bytes + s->user.bytes,
		.without = s->kernel.without + s->user.without,
	};
}
