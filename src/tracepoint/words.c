// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An object's area in the control file: a word per event, which its site tests and controllers
 * write, and the texts that say what the events are.
 */
#include "tracepoint/internal.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t nr_events(const struct tap_object *object)
{
	return (uint32_t)(object->events_end - object->events);
}

/* The event whose word is the tracepoint's: the first that was made of it. */
static uint32_t word_of(const struct tap_object *object, struct trace_event_call *const *slot)
{
	const struct trace_event_call *first = (*slot)->tp->call;

	if (*slot != first) /* it is most often */
		for (slot = object->events; slot < object->events_end && *slot != first;)
			slot++;
	return (uint32_t)(slot - object->events);
}

static void event_texts(struct tap_text *t, struct trace_event_call *const *slot,
			const struct tap_object *object)
{
	const struct trace_event_call *call = *slot;
	const char *name = trace_event_name(call);
	struct trace_event_info info;
	size_t at = t->len;
	uint32_t head[2] = { 0, word_of(object, slot) | (uint32_t)call->bit << TAP_WORD_BIT_SHIFT };

	tap_text_add(t, (const char *)head, sizeof(head));
	call->info(&info);
	tap_text_add(t, info.system, strlen(info.system) + 1);
	tap_text_add(t, name, strlen(name) + 1);
	tap_format_text(t, name, &info, object);
	tap_text_add(t, "", 1);
	head[0] = (uint32_t)(t->len - at - sizeof(head));
	tap_text_add(t, "\0\0\0\0\0\0\0", -t->len & 7);
	if (!t->failed)
		memcpy(t->data + at, head, sizeof(head));
}

/* An area as it will be: words, all zero, and texts. */
static void object_texts(struct tap_text *t, const struct tap_object *object)
{
	const char zero[8] = { 0 };
	uint32_t nr = (nr_events(object) + 1) / 2;

	for (uint32_t i = 0; i < nr; i++)
		tap_text_add(t, zero, sizeof(zero));
	for (struct trace_event_call *const *call = object->events; call < object->events_end; call++)
		event_texts(t, call, object);
}

/* Its words may be anything: others have written to them. */
static bool has_texts(uint32_t nr, const struct tap_text *t, size_t words_bytes)
{
	char *p = tap_control_map(nr, t->len, NULL);
	bool same;

	if (p == MAP_FAILED)
		return false;
	same = !memcmp(p + words_bytes, t->data + words_bytes, t->len - words_bytes);
	munmap(p, t->len);
	return same;
}

/* A library that is loaded again gets the area that it had. Return: its number; -ENOENT. */
static int find_gone(const struct tap_text *t, uint32_t nr_words)
{
	for (uint32_t i = 0; i < tap_control->areas_nr; i++) {
		const struct tap_area *a = tap_control_area(i);

		if (a->kind == TAP_AREA_OBJECT && a->gone && a->nr == nr_words &&
		    a->size == t->len &&
		    has_texts(i, t, nr_words * sizeof(struct tap_word)))
			return (int)i;
	}
	return -ENOENT;
}

static int new_area(const struct tap_text *t, uint32_t nr_words)
{
	static uint32_t next_id = TAP_ID_FIRST;
	struct tap_area *a;
	bool locked;
	int nr;

	if (next_id + nr_words > UINT16_MAX)
		return -ENOSPC;
	locked = tap_lock_of(&tap_process->areas);
	nr = tap_control_add_area(t->len, t->data);
	if (nr >= 0) {
		a = tap_control_area((uint32_t)nr);
		a->nr = nr_words;
		a->first_id = next_id;
		next_id += nr_words;
		tap_control_publish((uint32_t)nr, TAP_AREA_OBJECT);
	}
	if (locked)
		tap_unlock_of(&tap_process->areas);
	return nr;
}

static void use_area(struct tap_object *object, uint32_t nr)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end; call++) {
		uint32_t *word = (uint32_t *)object->area + word_of(object, call);

		(*call)->id = (uint16_t)(tap_control_area(nr)->first_id + (call - object->events));
		__atomic_store_n(&(*call)->tp->on, word, __ATOMIC_RELEASE);
	}
	tap_note_state(object);
	__atomic_store_n(&tap_control_area(nr)->gone, 0, __ATOMIC_RELEASE);
}

/* @at: where the parent's words were, in a child. */
static int put_object(struct tap_object *object, void *at)
{
	struct tap_text t = { 0 };
	size_t bytes = tap_page_up(nr_events(object) * sizeof(struct tap_word));
	int nr;
	void *p;

	object_texts(&t, object);
	nr = t.failed ? -ENOMEM : find_gone(&t, nr_events(object));
	if (nr == -ENOENT)
		nr = new_area(&t, nr_events(object));
	tap_text_release(&t);
	if (nr < 0)
		return nr;
	p = tap_control_map((uint32_t)nr, bytes, at);
	if (p == MAP_FAILED)
		return -ENOMEM;
	object->area = p;
	object->area_bytes = bytes;
	object->area_nr = (uint32_t)nr;
	use_area(object, (uint32_t)nr);
	return 0;
}

/* Whole pages of the program's file, which nobody has written to. */
static void give_back(const char *start, const char *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = tap_page_up((uintptr_t)start), to = (uintptr_t)end & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* The dynamic linker has read them, and nobody will again: six for each event. */
static void give_back_relocations(const ElfW(Dyn) *d)
{
	const char *start = NULL;
	size_t bytes = 0;

	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			start = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_RELASZ)
			bytes = d->d_un.d_val;
	}
	give_back(start, start + bytes);
}

static void wish(const struct tap_object *object)
{
	char folder[PATH_MAX];

	tap_control_folder(folder);
	tap_wish_sessions(object, folder);
}

void tap_words_add(struct tap_object *object)
{
	int ret;

	object->area = NULL;
	if (!tap_control || !nr_events(object))
		return;
	ret = put_object(object, NULL);
	give_back(object->texts, object->texts_end);
	give_back(object->code, object->code_end);
	give_back_relocations(object->dynamic);
	if (ret)
		tap_set_reason("events of a library are off: cannot add them to '%s': %s",
			       tap_control_path, strerror(-ret));
	else
		wish(object);
}

/* Points a tracepoint back to its own word. */
static void leave_area(struct tracepoint *tp, void *unused)
{
	(void)unused;
	__atomic_store_n(&tp->on, &tp->off, __ATOMIC_RELEASE);
	tp->call = NULL;
}

void tap_words_remove(struct tap_object *object)
{
	struct tap_word *words = object->area;

	for_each_module_tracepoint(leave_area, object, NULL);
	if (!words)
		return;
	if (tap_control)
		__atomic_store_n(&tap_control_area(object->area_nr)->gone, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < nr_events(object); i++)
		words[i] = (struct tap_word){ 0 };
	munmap(words, object->area_bytes);
	object->area = NULL;
}

/* ---- after a fork ---------------------------------------------------------------------------- */

/*
 * The parent's words are not the child's: pages of its own take their place, which make the first
 * thread that passes a site look. Only then the child gets a file: most children exec, and a file
 * for each of them would be left behind.
 */
void tap_words_detach(void)
{
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		struct tap_word *words = o->area;

		if (!words)
			continue;
		mmap(words, o->area_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		for (uint32_t i = 0; i < nr_events(o); i++)
			words[i].applied = TAP_WORD_CHILD;
	}
}

static void set_up_child(void *unused)
{
	(void)unused;
	__atomic_store_n(&tap_process->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	tap_words_detach();
	if (!tap_control)
		return;
	tap_control_open_child();
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		if (tap_control && o->area && !put_object(o, o->area))
			wish(o);
		else
			tap_note_state(o);
	}
	tap_control_let_go();
}

void tap_words_child(void)
{
	if (tap_process->pid)
		return;
	tap_on_own_stack(set_up_child, NULL);
	for (struct tap_object *o = tap_objects; o; o = o->next)
		tap_look_at_object(o); /* a regfunc() is the program's, and may need more */
}
