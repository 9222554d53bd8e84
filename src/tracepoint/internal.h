/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internal interfaces of the tracepoint library. All of this runs inside other people's programs:
 * it prints nothing (except why TAP_TRACE cannot be obeyed), never ends the program, keeps no
 * descriptor open but the control file's, and allocates with mmap(), because it may run while
 * malloc() is interrupted by a signal or a fork.
 */
#ifndef TAP_TRACEPOINT_INTERNAL_H
#define TAP_TRACEPOINT_INTERNAL_H

#include <limits.h>

#include <schedtap/trace_events.h>

#include "tracepoint/shared.h"
#include "tracepoint/steps.h"

/* ---- the process (process.c) ---- */

/* A CPU's ring as mapped by this process. */
struct tap_ring {
	struct tap_ring_head *head; /* written last; NULL until the ring is mapped */
	uint64_t *states;
	unsigned char *subs;
	uint64_t mask; /* bytes of all sub-buffers - 1 */
	unsigned int cpu;
} __attribute__((aligned(64)));

#define TAP_FIRST_SLOTS 16u
/* the kernel's maximum CONFIG_NR_CPUS; events of other CPUs are lost */
#define TAP_MAX_CPUS 8192u

enum { TAP_RINGS_RSEQ, TAP_RINGS_ATOMIC, TAP_RINGS_KINDS };

/* State that a child must not inherit: it is in memory that a fork wipes. */
struct tap_process {
	uint32_t lock; /* main lock: tid of its holder; 0: free */
	uint32_t lists; /* lock of object.c's lists */
	uint32_t stack; /* lock of stack.c: its holder waits for no other lock of this struct */
	uint32_t pid; /* own pid; 0: a child after a fork that is not set up yet */
	bool shared; /* the control file mapped here is the parent's */
	bool has_thread; /* the watcher thread runs (watcher.c) */
	/*
	 * slots of the first threads (rcu.c): on the same page as the locks, which is already
	 * present, so that the first event need not wait for more memory
	 */
	struct {
		struct tap_thread thread;
	} __attribute__((aligned(64))) slots[TAP_FIRST_SLOTS];
	struct tap_ring rings[TAP_MAX_CPUS * TAP_RINGS_KINDS]; /* [cpu * TAP_RINGS_KINDS + kind] */
};

extern TAP_HIDDEN struct tap_process *tap_process; /* NULL until the first object is registered */
extern TAP_HIDDEN struct tap_control *tap_control; /* NULL: this process has no control file */
extern struct tap_object *tap_objects;

/* Set up tap_process; does nothing if it is set up. Return: 0; -ENOMEM. */
int tap_process_init(void);
uint64_t tap_page_up(uint64_t bytes);
/*
 * Take the main lock, which protects everything except rings. A site or a signal handler may have
 * interrupted the lock's holder, so there only tap_trylock() is allowed. Return: false: this thread
 * already has the lock, for example where a regfunc() registers a probe.
 */
TAP_MUST_CHECK bool tap_lock(void);
bool tap_trylock(void);
void tap_unlock(void);
/*
 * Take any lock of struct tap_process. Locks nest in the order lists, lock, stack. Return: false:
 * this thread already has the lock.
 */
TAP_MUST_CHECK bool tap_lock_of(uint32_t *lock);
void tap_unlock_of(uint32_t *lock);
/*
 * Register pthread_atfork() handlers that take the main lock and stack.c's lock around a fork, so
 * that a child finds no half-finished change. Under the lock.
 */
void tap_process_watch_forks(void (*in_child)(void));

/*
 * Memory that is never unmapped, in blocks of 16 << n bytes, at most 32 KiB. Return: NULL: out of
 * memory. Under the lock.
 */
void *tap_pool_get(size_t bytes);
void tap_pool_put(void *p, size_t bytes);

void tap_set_reason(const char *fmt, ...) TAP_PRINTF(1, 2); /* %m as in printf() */

/* ---- the stack (stack.c) ---- */

/*
 * Call @fn(@arg) with all signals blocked on the library's own stack, for functions that need more
 * stack than a thread at a site may have left. One thread at a time uses the stack; in a nested
 * call @fn just runs on it. @fn must not wait for another thread of this process.
 */
void tap_on_own_stack(void (*fn)(void *arg), void *arg);

/* ---- read-side sections (rcu.c) ---- */

/* Prepare grace periods; call this before the first probe is registered. Under the lock. */
void tap_rcu_init(void);
/*
 * Return memory to the pool once all read-side sections that may still see it have ended. Under the
 * lock.
 */
void tap_retire(void *p, size_t bytes);

/* ---- filters (filter.c) ---- */

extern TAP_HIDDEN struct tap_quick_filter tap_quick_filters[]; /* indexed by event id */

/* Load the filters that a controller has written for a tracepoint's events. Under the lock. */
void tap_filters_take(const struct tracepoint *tp);
/*
 * Return true if an event's filter accepts the record, or if it has no filter. @rec: @size bytes,
 * starting with the common fields.
 */
bool tap_filter_passes(const struct trace_event_call *call, const void *rec, size_t size);

/*
 * Run the event's filter if it is a single comparison of a number. Where processes share a control
 * file they share each tracepoint's word, and only one of them notices a changed filter: then no
 * process filters, only the recorder does. Return: 1: rejected; 0: accepted; -1: not a single
 * comparison, use tap_filter_passes().
 */
static inline __attribute__((always_inline)) int
tap_filter_rejects_quickly(const struct trace_event_call *call, const void *rec, size_t size)
{
	int rejects = tap_quick_rejects(&tap_quick_filters[call->id], (const unsigned char *)rec,
					(uint32_t)size);

	return rejects == 1 && tap_unlikely(__atomic_load_n(&tap_control->shared, __ATOMIC_RELAXED))
		       ? 0
		       : rejects;
}

/* ---- probes (tracepoint.c) ---- */

/*
 * Register and unregister probes as controllers want: of one tracepoint's events, of all in an
 * object. Under the lock.
 */
void tap_apply_wanted(struct tracepoint *tp);
void tap_apply_object(const struct tap_object *object);
/* of all objects; takes the lock; does nothing if this thread already has it */
void tap_apply_objects(void);
/*
 * Update `applied` and `probes` in an object's words to match the registered probes. Under the
 * lock.
 */
void tap_note_state(const struct tap_object *object);
/* Unregister all probes of an object that is being unloaded. Under the lock. */
void tap_drop_object(const struct tap_object *object);

/* ---- the control file (control.c) ---- */

#define TAP_FOLDER_MAX (PATH_MAX - 64) /* bytes, with the NUL */

/*
 * Find the folder for links to the user's control files; create it if needed. Return: false: no
 * folder is usable.
 */
bool tap_folder_find(char folder[TAP_FOLDER_MAX]);
/* Call @fn for each name in a folder until it returns true. Return: true if it did. */
bool tap_folder_each(const char *path, bool (*fn)(int dir, const char *name, void *arg), void *arg);

extern char tap_control_path[]; /* path of the link to the control file; "": none */
/* another copy of this library in this process has a control file of its own */
extern bool tap_control_is_second;

/*
 * Return true if @pid is this process or one of its ancestors that had a control file. Under the
 * lock.
 */
bool tap_control_is_family(uint32_t pid);
/*
 * Create the control file, unless that was tried before. Return: true if it was created. Under the
 * lock.
 */
bool tap_control_open(void);
void tap_control_close(void); /* remove the link when the program ends */
/*
 * Startup of an object is over: from now on the program may have closed the descriptor. Under the
 * lock.
 */
void tap_control_let_go(void);
/*
 * Send the control file's descriptor to a recorder's @socket, so that the file outlives the
 * program. Only before tap_control_let_go() is the descriptor used without a check that it is still
 * the file's. Under the lock. Return: true if it was sent.
 */
bool tap_control_send(int socket);
/*
 * Create a child's own control file and map it in place of the parent's. Under the lock. Return:
 * false: the child has no file; the parent's is still mapped.
 */
bool tap_control_open_child(void);
struct tap_area *tap_control_area(uint32_t nr);
/*
 * Reserve an empty area; its kind is TAP_AREA_NONE until tap_control_publish(). @at: where it must
 * be, if that is within the part of the file mapped at the start; else, or if NULL, it is placed at
 * the file's end. Return: the area's number; -ENOSPC.
 */
int tap_control_add_area(uint64_t bytes, const void *at);
void tap_control_publish(uint32_t nr, enum tap_area_kind kind);
/* Return true if @p points into the part of the file that is mapped from the start. */
bool tap_control_has(const void *p);
/*
 * Map a whole area, using the descriptor if the program has not closed it, else a second mapping of
 * the existing one. Opens no file. Return: MAP_FAILED with errno on error.
 */
void *tap_control_map(uint32_t nr);
/*
 * Map any range of the control file; @offset is a multiple of the page size. Return: MAP_FAILED
 * with errno on error.
 */
void *tap_control_map_at(uint64_t offset, uint64_t bytes);
/* Return true if the file has room for filters; it has none if RLIMIT_FSIZE is too small. */
bool tap_control_has_filters(void);
/* Return the address of an area that is mapped from the start; map any other. */
void *tap_control_map_or_find(uint32_t nr);

/* ---- objects' areas (object_area.c) ---- */

/*
 * Add an object's words and texts to the control file, and point its tracepoints there. Under the
 * lock.
 */
void tap_object_area_add(struct tap_object *object);
void tap_object_area_remove(struct tap_object *object);
/* In a child after a fork: replace the parent's words by private ones. */
void tap_object_areas_detach(void);
/*
 * Give a child that is not set up yet a control file and words of its own. Uses little of the
 * caller's stack, except for regfunc()s. Under the lock.
 */
void tap_child_set_up(void);

/* ---- the watcher thread (watcher.c) ---- */

/* Start the watcher thread if the program needs one and it does not run yet. Under the lock. */
void tap_watcher_start(void);
bool tap_watcher_is_wanted(void);

/* ---- the program's own recorder (env.c) ---- */

/*
 * Return true if TAP_TRACE asks for a recorder that is not started yet: then tap_env_start() must
 * run before events of other recorders are applied.
 */
bool tap_env_is_awaited(void);
void tap_env_start(void); /* called without the lock */
void tap_env_finish(void);

/* ---- sessions of recorders (sessions.c) ---- */

/*
 * Switch on those events of an object that running recorders' session files select. Under the lock.
 */
void tap_sessions_apply(struct tap_object *object);
/* @pattern: a glob for SYSTEM:NAME or NAME, or the exact SYSTEM. */
bool tap_event_matches(const struct trace_event_call *call, const char *pattern);

/* ---- format texts (format.c) ---- */

/* A growing text buffer. */
struct tap_text {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory */
};

void tap_text_add(struct tap_text *t, const char *s, size_t len);
void tap_text_release(struct tap_text *t);
/*
 * Write a number without a NUL, at most 20 digits. printf() would cost a starting program four
 * pages of memory. Return: the end of the digits.
 */
char *tap_put_number(char *to, unsigned long v, unsigned int base);
/* Append the format text of an event, with "ID: 0". */
void tap_format_text(struct tap_text *t, const char *event, const struct trace_event_info *info,
		     const struct tap_object *object);
/*
 * Evaluate a sizeof() at @p in a print format (sizeof.c): of a common type or of one of the event's
 * fields. Return: length of the sizeof() expression in the text; 0 if there is none or its value is
 * unknown.
 */
size_t tap_sizeof(const char *p, const struct trace_event_info *info, long *bytes);

#endif
