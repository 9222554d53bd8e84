// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An object's area in the control file: a word per event, which sites test and controllers write,
 * and texts that describe the events.
 */
#include "tracepoint/internal.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static uint32_t nr_events(const struct tap_object *object)
{
	return (uint32_t)(object->events_end - object->events);
}

/*
 * Return the index of the word that the event's tracepoint uses: that of the tracepoint's first
 * event.
 */
static uint32_t word_of(const struct tap_object *object, struct trace_event_call *const *slot)
{
	const struct trace_event_call *first = (*slot)->tp->call;

	if (*slot != first) /* most events are their tracepoint's first */
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

/* Size of the words, in whole pages: a child replaces them, but not the texts after them. */
static size_t words_bytes(const struct tap_object *object)
{
	return tap_page_up(nr_events(object) * sizeof(struct tap_word));
}

static bool has_texts(uint32_t nr, const struct tap_text *t, size_t at)
{
	size_t bytes = tap_control_area(nr)->size;
	char *p = tap_control_map_or_find(nr);
	bool same;

	if (p == MAP_FAILED)
		return false;
	same = bytes == at + t->len && !memcmp(p + at, t->data, t->len);
	if (!tap_control_has(p))
		munmap(p, bytes);
	return same;
}

/*
 * Find the area that a library had before it was unloaded, to use it again. Return: its number;
 * -ENOENT.
 */
static int find_gone(const struct tap_object *object, const struct tap_text *t)
{
	/* other threads may add rings at any time */
	uint32_t nr = __atomic_load_n(&tap_control->areas_nr, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++) {
		const struct tap_area *a = tap_control_area(i);

		if (__atomic_load_n(&a->kind, __ATOMIC_ACQUIRE) == TAP_AREA_OBJECT && a->gone &&
		    a->nr == nr_events(object) && has_texts(i, t, words_bytes(object)))
			return (int)i;
	}
	return -ENOENT;
}

static void use_area(struct tap_object *object, uint32_t nr)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end;
	     call++) {
		uint32_t *word = (uint32_t *)object->area + word_of(object, call);

		(*call)->id = (uint16_t)(tap_control_area(nr)->first_id + (call - object->events));
		__atomic_store_n(&(*call)->tp->on, word, __ATOMIC_RELEASE);
	}
	tap_note_state(object);
	__atomic_store_n(&tap_control_area(nr)->gone, 0, __ATOMIC_RELEASE);
}

/* Fill a new area with texts, and assign ids to its events; a child keeps its parent's ids. */
static void fill_area(const struct tap_object *object, uint32_t nr, char *at,
		      const struct tap_text *t)
{
	static uint32_t next_id = TAP_ID_FIRST;
	struct tap_area *a = tap_control_area(nr);

	memcpy(at + words_bytes(object), t->data, t->len);
	a->nr = nr_events(object);
	a->texts = (uint32_t)words_bytes(object);
	a->filters = object->abi.version >= TAP_ABI_FILTERS && tap_control_has_filters();
	a->first_id = object->area ? object->events[0]->id : next_id;
	if (a->first_id == next_id)
		next_id += a->nr;
	tap_control_publish(nr, TAP_AREA_OBJECT);
}

/* Keep only the words of an area mapped, unless it is in the part mapped at the start. */
static void use_mapping(struct tap_object *object, uint32_t nr, char *p)
{
	size_t words = words_bytes(object), all = tap_page_up(tap_control_area(nr)->size);

	if (!tap_control_has(p))
		munmap(p + words, all - words);
	/* in a child, at the parent's address: tracepoints point there */
	if (object->area && object->area != p)
		p = mremap(p, words, words, MREMAP_MAYMOVE | MREMAP_FIXED, object->area);
	object->area = p;
	object->area_nr = nr;
}

static int map_area(struct tap_object *object, uint32_t nr, const struct tap_text *t)
{
	char *p = tap_control_map_or_find(nr);

	if (p == MAP_FAILED)
		return -errno;
	if (tap_control_area(nr)->kind == TAP_AREA_NONE)
		fill_area(object, nr, p, t);
	use_mapping(object, nr, p);
	use_area(object, nr);
	return 0;
}

static int add_area(struct tap_object *object)
{
	struct tap_text t = { 0 };
	int nr, ret;

	for (struct trace_event_call *const *call = object->events; call < object->events_end;
	     call++)
		event_texts(&t, call, object);
	nr = t.failed ? -ENOMEM : object->area ? -ENOENT : find_gone(object, &t);
	if (nr == -ENOENT)
		nr = tap_control_add_area(words_bytes(object) + t.len, object->area);
	ret = nr < 0 ? nr : map_area(object, (uint32_t)nr, &t);
	tap_text_release(&t);
	return ret;
}

/* Drop whole pages of the program's file; they are unmodified and can be read again. */
static void give_back(const char *start, const char *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = tap_page_up((uintptr_t)start), to = (uintptr_t)end & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Drop the relocations, six per event: the dynamic linker does not read them again. */
static void give_back_relocations(const ElfW(Dyn) * d)
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

void tap_object_area_add(struct tap_object *object)
{
	int ret;

	object->area = NULL;
	if (!tap_control || !nr_events(object))
		return;
	ret = add_area(object);
	give_back(object->texts, object->texts_end);
	give_back(object->code, object->code_end);
	give_back_relocations(object->dynamic);
	if (ret)
		tap_set_reason("events of a library are off: cannot add them to '%s': %s",
			       tap_control_path, strerror(-ret));
	else
		tap_sessions_apply(object);
}

/* Make a tracepoint use the word in its struct again. */
static void leave_area(struct tracepoint *tp, void *unused)
{
	(void)unused;
	__atomic_store_n(&tp->on, &tp->off, __ATOMIC_RELEASE);
	tp->call = NULL;
}

void tap_object_area_remove(struct tap_object *object)
{
	struct tap_word *words = object->area;

	for_each_module_tracepoint(leave_area, object, NULL);
	if (!words)
		return;
	if (tap_control)
		__atomic_store_n(&tap_control_area(object->area_nr)->gone, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < nr_events(object); i++)
		words[i] = (struct tap_word){ 0 };
	if (!tap_control_has(words))
		munmap(words, words_bytes(object));
	object->area = NULL;
}

/* ---- after a fork ---- */

/*
 * Replace the parent's words by private pages whose words make the first thread that passes a site
 * set up the child. The child gets a control file only then: most children exec, and each would
 * leave a stale link.
 */
void tap_object_areas_detach(void)
{
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		struct tap_word *words = o->area;

		if (!words)
			continue;
		mmap(words, words_bytes(o), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		for (uint32_t i = 0; i < nr_events(o); i++)
			words[i].applied = TAP_WORD_CHILD;
	}
}

/*
 * A child that cannot have a control file uses its parent's: events that are on there are on in the
 * child, and are written to the parent's rings.
 */
static void share_parents(void)
{
	tap_process->shared = true;
	__atomic_store_n(&tap_control->shared, 1, __ATOMIC_RELAXED);
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		void *p = o->area ? tap_control_map(o->area_nr) : MAP_FAILED;

		if (p == MAP_FAILED)
			tap_note_state(o);
		else
			use_mapping(o, o->area_nr, p);
	}
}

/*
 * Drop the filters inherited from the parent, because the child's own file has none yet: this makes
 * the program read the (empty) slots when a site is passed next.
 */
static void drop_filters(const struct tap_object *object)
{
	struct tap_word *words = object->area;

	for (uint32_t i = 0; i < nr_events(object); i++)
		words[i].filters = 1;
}

static void set_up_child(void *unused)
{
	(void)unused;
	__atomic_store_n(&tap_process->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	tap_object_areas_detach();
	if (!tap_control)
		return;
	/* a seccomp filter might kill the process when it opens a file */
	if (prctl(PR_GET_SECCOMP) > 0 || !tap_control_open_child()) {
		share_parents();
		return;
	}
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		if (o->area && !add_area(o)) {
			drop_filters(o);
			tap_sessions_apply(o);
		} else {
			tap_note_state(o);
		}
	}
	tap_control_let_go();
}

void tap_child_set_up(void)
{
	if (tap_process->pid)
		return;
	tap_on_own_stack(set_up_child, NULL);
	for (struct tap_object *o = tap_objects; o; o = o->next)
		/*
		 * on the caller's stack: a regfunc() is the program's code and may need more than
		 * the library's
		 */
		tap_apply_object(o);
}
