/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of this room share. Everything here runs inside other people's programs: it prints
 * nothing (but why what TAP_TRACE asks for cannot be had), ends nothing, keeps no descriptor open
 * and allocates with mmap(), for a signal handler may have interrupted malloc().
 */
#ifndef TAP_TRACEPOINT_INTERNAL_H
#define TAP_TRACEPOINT_INTERNAL_H

#include <limits.h>

#include <schedtap/trace_events.h>

#include "tracepoint/shared.h"
#include "tracepoint/steps.h"

/* ---- the process (process.c) ---- */

/* A CPU's ring as this process has it mapped. */
struct tap_ring {
	struct tap_ring_head *head; /* written last: NULL until there is one */
	uint64_t *states;
	unsigned char *subs;
	uint64_t mask; /* bytes of all sub-buffers - 1 */
	unsigned int cpu;
} __attribute__((aligned(64)));

#define TAP_FIRST_SLOTS 16u
#define TAP_MAX_CPUS                                                                               \
	8192u /* as kernels have them at most: CONFIG_NR_CPUS; events of others are lost */

enum { TAP_RINGS_RSEQ, TAP_RINGS_ATOMIC, TAP_RINGS_KINDS };

/* What must not survive a fork lies in memory that a fork wipes. */
struct tap_process {
	uint32_t lock; /* the thread that has it */
	uint32_t lists; /* the lock of object.c */
	uint32_t stack; /* that of stack.c: whoever has it waits for nothing but the next one */
	uint32_t pid; /* 0: this process has not been set up: it is a child */
	bool shared; /* the control file is the parent's */
	bool has_thread; /* the watcher's (watcher.c) */
	/* the first threads' (rcu.c): on this page, which is there, so that a first event need not
	 * wait for more */
	struct {
		struct tap_thread thread;
	} __attribute__((aligned(64))) slots[TAP_FIRST_SLOTS];
	struct tap_ring rings[TAP_MAX_CPUS * TAP_RINGS_KINDS]; /* [cpu * TAP_RINGS_KINDS + kind] */
};

extern TAP_HIDDEN struct tap_process *tap_process; /* NULL until the first object */
extern TAP_HIDDEN struct tap_control *tap_control; /* NULL: there is none */
extern struct tap_object *tap_objects;

/* Return: 0; -ENOMEM. Called again it does nothing. */
int tap_process_init(void);
uint64_t tap_page_up(uint64_t bytes);
/*
 * The lock of all that is not a ring. Whoever may have interrupted its holder (a site, a signal
 * handler) only tries. Return: false: this thread has it already, as where a regfunc() registers a
 * probe.
 */
TAP_MUST_CHECK bool tap_lock(void);
bool tap_trylock(void);
void tap_unlock(void);
/* Any of struct tap_process's; in the order in which they stand there. Return: as tap_lock(). */
TAP_MUST_CHECK bool tap_lock_of(uint32_t *lock);
void tap_unlock_of(uint32_t *lock);
/* So that a child finds nothing half done; in the order of the locks of both. Under the lock. */
void tap_process_watch_forks(void (*in_child)(void));

/* Memory for ever (of the process), in multiples of 16 bytes; NULL: none. Under the lock. */
void *tap_pool_get(size_t bytes);
void tap_pool_put(void *p, size_t bytes);

void tap_set_reason(const char *fmt, ...) TAP_PRINTF(1, 2); /* %m as in printf */

/* ---- the stack (stack.c) ---- */

/*
 * Calls what needs more stack than a thread at a site may have left, on one of the library's own,
 * which one thread has at a time, with all signals blocked. Within it again it just calls. @fn
 * waits for no one else.
 */
void tap_on_own_stack(void (*fn)(void *arg), void *arg);

/* ---- who is inside (rcu.c) ---- */

/* To be called before the first probe can be seen. Under the lock. */
void tap_rcu_init(void);
/* Gives back to the pool, once no section that began before can still see it. Under the lock. */
void tap_retire(void *p, size_t bytes);

/* ---- filters (filter.c) ---- */

extern TAP_HIDDEN struct tap_quick_filter tap_quick_filters[]; /* by an event's id */

/* Takes over what a controller has written of a tracepoint's events. Under the lock. */
void tap_filters_take(const struct tracepoint *tp);
/* Whether a record of an event that has a filter is wanted. @rec: of @size bytes, from its common
 * fields on. */
bool tap_filter_passes(const struct trace_event_call *call, const void *rec, size_t size);

/*
 * The same, where it is one comparison of a number. Processes that share a file have one word, and
 * only one of them sees that it has changed: none of them filters, the recorder does. Return: 1: it
 * is not wanted; 0: it is; -1: ask the other.
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

/* Applies what is wanted of a tracepoint; of all of an object. Under the lock. */
void tap_apply_wanted(struct tracepoint *tp);
void tap_apply_object(const struct tap_object *object);
void tap_apply_objects(void); /* of all; takes the lock, unless this thread has it */
/* Makes `applied` and `probes` of an object's words say what is registered. Under the lock. */
void tap_note_state(const struct tap_object *object);
/* Takes off all probes, when the object goes. Under the lock. */
void tap_drop_object(const struct tap_object *object);

/* ---- the control file (control.c) ---- */

#define TAP_FOLDER_MAX (PATH_MAX - 64) /* with its NUL */

/* The folder of the user's control files, made if need be. Return: false: none can be used. */
bool tap_folder_find(char folder[TAP_FOLDER_MAX]);
/* Calls @fn for each name in a folder, until it returns true. Return: whether it did. */
bool tap_folder_each(const char *path, bool (*fn)(int dir, const char *name, void *arg), void *arg);

extern char tap_control_path[]; /* the link to it; "": there is none */
/* another copy of this library is in this process, with a file of its own */
extern bool tap_control_is_second;

/* Whether it is this process, or one that it was forked from. Under the lock. */
bool tap_control_is_family(uint32_t pid);
/* Makes the file, where that was not tried before. Return: whether it did. Under the lock. */
bool tap_control_open(void);
void tap_control_close(void); /* the program ends */
/* The start is over: the descriptor may not be ours any more. Under the lock. */
void tap_control_let_go(void);
/*
 * Sends the descriptor to a recorder's @socket: the file outlives the program then. Under the lock,
 * before that. Return: whether it was sent.
 */
bool tap_control_send(int socket);
/* A child's file, mapped where the parent's was. Return: false: there is none; the parent's is
 * still there. Under the lock. */
bool tap_control_open_child(void);
struct tap_area *tap_control_area(uint32_t nr);
/*
 * Takes an empty area, of TAP_AREA_NONE until it is published. @at: where it must be in what was
 * mapped at the start; elsewhere or NULL: anywhere. Return: its number; -errno.
 */
int tap_control_add_area(uint64_t bytes, const void *at);
void tap_control_publish(uint32_t nr, enum tap_area_kind kind);
/* Whether that is in what was mapped at the start. */
bool tap_control_has(const void *p);
/*
 * Maps all of an area: with the descriptor, if the program has not closed it, else from what is
 * mapped. Nothing is opened. Return: MAP_FAILED with errno.
 */
void *tap_control_map(uint32_t nr);
/* The same of any place in the file, at a multiple of the page size. */
void *tap_control_map_at(uint64_t offset, uint64_t bytes);
/* Whether there is a place for filters in it: not where the user's files may not be so big. */
bool tap_control_has_filters(void);
/* The same, unless it was mapped at the start. */
void *tap_control_map_or_find(uint32_t nr);

/* ---- objects' areas (object_area.c) ---- */

/* Adds an object's words and texts, and points its tracepoints there. Under the lock. */
void tap_object_area_add(struct tap_object *object);
void tap_object_area_remove(struct tap_object *object);
/* In a child after a fork: the parent's words are not its own. */
void tap_object_areas_detach(void);
/*
 * A child that has not been set up gets a file and words of its own. On little stack of the
 * caller's, but for what regfunc()s take. Under the lock.
 */
void tap_child_set_up(void);

/* ---- what controllers write is watched for (watcher.c) ---- */

/* Starts the thread where the program needs one and has none. Under the lock. */
void tap_watcher_start(void);
bool tap_watcher_is_wanted(void);

/* ---- a recorder of the program's own (env.c) ---- */

/* Whether the program's user asks for one, which is still to be started: others must not be
 * quicker. */
bool tap_env_is_awaited(void);
void tap_env_start(void); /* without the lock */
void tap_env_finish(void);

/* ---- sessions of recorders (sessions.c) ---- */

/* Wants of an object's events what recorders want of programs that start now. Under the lock. */
void tap_sessions_apply(struct tap_object *object);
/* @pattern: SYSTEM:NAME, or either of them; globs. */
bool tap_event_matches(const struct trace_event_call *call, const char *pattern);

/* ---- format texts (format.c) ---- */

/* A text in memory of its own. */
struct tap_text {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory */
};

void tap_text_add(struct tap_text *t, const char *s, size_t len);
void tap_text_release(struct tap_text *t);
/* Without a NUL, 20 digits at most. printf() costs a program that starts four pages. Return: behind
 * it. */
char *tap_put_number(char *to, unsigned long v, unsigned int base);
/* The format text of an event, with "ID: 0". */
void tap_format_text(struct tap_text *t, const char *event, const struct trace_event_info *info,
		     const struct tap_object *object);
/*
 * The value of a sizeof() at @p in a print format, of a common type or one of the event's fields
 * (sizeof.c). Return: its length in the text; 0 if there is none, or its value is not known.
 */
size_t tap_sizeof(const char *p, const struct trace_event_info *info, long *bytes);

#endif
