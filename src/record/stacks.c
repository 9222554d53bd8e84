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
#define TRY_MAX 1024u /* only the newest of these are looked up again */

/* A user-space stack that has no text yet. */
struct unnamed {
	struct unnamed *next;
	char *text; /* owned; or NULL */
	bool is_named; /* .text is final */
	uint32_t number;
	int tgid;
	uint64_t added_ns;
	unsigned int nr, nr_unknown; /* .nr_unknown: frames whose .place is 0 */
	struct frame {
		uint64_t addr;
		uint32_t place; /* of tap_places_note(); 0: not known */
	} frames[];
};

struct texts {
	struct tap_map map; /* number -> text, owned */
	uint64_t bytes, without;
};

struct tap_stacks {
	struct tap_symbols *symbols;
	struct tap_places *places;
	bool named; /* the kernel's functions have names */
	bool news; /* there is a text that tap_stacks_hand_over() has not reported */
	struct texts kernel, user;
	struct unnamed *added; /* used by the adding thread only */
	uint64_t tried_ns; /* when places were last looked up again */
	pthread_mutex_t naming; /* locked while stacks get names */
	pthread_mutex_t lock; /* protects .handed_over; locked only for short times */
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

/* Take ownership of @text; NULL: out of memory. */
static void keep_text(struct tap_stacks *s, struct texts *texts, uint32_t number, char *text)
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

/* Return: the text, owned by the caller; NULL when out of memory. */
static char *take_text(struct tap_buf *text)
{
	char *taken;

	tap_buf_str(text);
	taken = text->err ? NULL : strdup(text->data);
	tap_buf_release(text);
	return taken;
}

/* Return: whether it is one of the functions that call a BPF program from a tracepoint. */
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

/* Add a frame as ftrace prints it, escaped for a string in a format text. */
static void add_frame(struct tap_buf *text, const char *name)
{
	tap_buf_puts(text, "\n => ");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			tap_buf_char(text, '\\');
		tap_buf_char(text, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	}
}

/* The address is shown only if /proc/kallsyms shows it. */
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
	keep_text(s, &s->kernel, stack->number, take_text(&text));
}

/*
 * Look up the frames that have no place yet. A return address may be after the end of the calling
 * function, so the call before it is looked up, except in the innermost frame.
 */
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
	while (u->nr && !u->frames[u->nr - 1].addr) /* the outermost frame has no return address */
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

/* ---- names of user-space functions ---- */

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

/*
 * Set the text of @done, which may be NULL. Return: the next stack without one, which stays in the
 * list until it has a text; NULL: there is none.
 */
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
		keep_text(s, &s->user, u->number, u->text);
		free(u);
	}
}

/*
 * Append added stacks to the list of those that wait for names. @all: also those with frames that
 * may still be found.
 */
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
