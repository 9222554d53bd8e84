/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of this room share. Everything here runs inside other people's programs: it
 * prints nothing, ends nothing, keeps no descriptor open and allocates with mmap(), for a signal
 * handler may have interrupted malloc().
 */
#ifndef TAP_TRACEPOINT_INTERNAL_H
#define TAP_TRACEPOINT_INTERNAL_H

#include <schedtap/trace_events.h>

#include "tracepoint/shared.h"

/* ---- the process (process.c) ----------------------------------------------------------------- */

/* A CPU's ring as this process has it mapped. */
struct tap_ring {
	struct tap_ring_head *head;
	uint64_t *states;
	unsigned char *subs;
	uint64_t mask; /* bytes of all sub-buffers - 1 */
	unsigned int cpu;
};

enum { TAP_RINGS_RSEQ, TAP_RINGS_ATOMIC, TAP_RINGS_KINDS };

/* What must not survive a fork lies in memory that a fork wipes. */
struct tap_process {
	uint32_t lock; /* the thread that has it */
	uint32_t lists; /* the lock of object.c */
	uint32_t known; /* 0: this process has not been set up: it is a child */
	struct tap_ring *rings[]; /* [cpu * TAP_RINGS_KINDS + kind]; NULL: not made yet */
};

extern TAP_HIDDEN struct tap_process *tap_process; /* NULL until the first object */
extern TAP_HIDDEN unsigned int tap_cpus;		/* tap_nr_cpus(), once there is a tap_process */

/* Return: 0; -ENOMEM. Called again it does nothing. */
int tap_process_init(void);
/*
 * The lock of all that is not a ring. Whoever may have interrupted its holder (a site, a signal
 * handler) only tries.
 */
void tap_lock(void);
bool tap_trylock(void);
void tap_unlock(void);
/* So that a child finds nothing half done; in the order of the locks of both. Under the lock. */
void tap_process_watch_forks(void (*in_child)(void));

/* Memory for ever (of the process), in multiples of 16 bytes; NULL: none. Under the lock. */
void *tap_pool_get(size_t bytes);
void tap_pool_put(void *p, size_t bytes);

void tap_set_reason(const char *fmt, ...) TAP_PRINTF(1, 2); /* %m as in printf */

/* ---- who is inside (rcu.c) ------------------------------------------------------------------- */

/* To be called before the first probe can be seen. Under the lock. */
void tap_rcu_init(void);
/* Gives back to the pool, once no section that began before can still see it. Under the lock. */
void tap_retire(void *p, size_t bytes);

/* ---- probes (tracepoint.c) ------------------------------------------------------------------- */

/* Applies what is wanted of all tracepoints of an object. Under the lock. */
void tap_look_at_object(const struct tap_object *object);
/* Makes `applied` and `probes` of an object's words say what is registered. Under the lock. */
void tap_note_state(const struct tap_object *object);
/* Takes off all probes, when the object goes. Under the lock. */
void tap_drop_object(const struct tap_object *object);

/* ---- objects (object.c) ---------------------------------------------------------------------- */

extern struct tap_object *tap_objects;

/* ---- the control file (control.c) ------------------------------------------------------------ */

extern TAP_HIDDEN struct tap_control *tap_control; /* NULL: there is none */
extern char tap_control_path[];		/* "": there is none */

/* Makes the file, where that was not tried before. Under the lock. */
void tap_control_open(void);
void tap_control_close(void); /* the program ends */
/* In a child after a fork: the parent's words are not its own. */
void tap_control_detach(void);
/* A child's file, mapped where the parent's was. Under the lock. */
void tap_control_child(void);
/* Adds an object's words and texts, and points its tracepoints there. Under the lock. */
void tap_control_add_object(struct tap_object *object);
void tap_control_remove_object(struct tap_object *object);
/* Adds a ring's area, all of it there, mapped. Return: MAP_FAILED with errno. Under the lock. */
void *tap_control_add_ring(uint64_t bytes, unsigned int cpu, bool atomic, uint64_t subs_offset,
			   uint64_t subs_bytes);
/* Whether a recorder has this file locked. */
bool tap_control_is_drained(void);

/* ---- programs with patched sites (thread.c) -------------------------------------------------- */

/* Starts the thread where the program needs one and has none. Under the lock. */
void tap_thread_start(void);
bool tap_thread_is_wanted(void);
/* Leaves looking to the thread. Return: whether there is one. */
bool tap_thread_wake(void);

/* ---- a recorder of the program's own (env.c) ------------------------------------------------- */

void tap_env_start(void); /* without the lock */
void tap_env_finish(void);

/* ---- wishes from outside (wish.c) ------------------------------------------------------------ */

/* Wants of an object's events what recorders want of programs that start now. Under the lock. */
void tap_wish_sessions(const struct tap_object *object, const char *folder);
extern bool tap_wished; /* such a recorder was there */

/* ---- rings (ring.c) -------------------------------------------------------------------------- */

enum tap_clock_kind tap_rings_init(void);

/* ---- format texts (format.c) ----------------------------------------------------------------- */

/* A text in memory of its own. */
struct tap_text {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory */
};

void tap_text_add(struct tap_text *t, const char *s, size_t len);
void tap_text_release(struct tap_text *t);
/* The format text of an event, with "ID: 0". */
void tap_format_text(struct tap_text *t, const char *event, const struct trace_event_info *info,
		     const struct tap_object *object);

#endif
