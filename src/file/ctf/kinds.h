/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a CTF trace while it is read, and which of its fields become ours. */
#ifndef TAP_FILE_CTF_KINDS_H
#define TAP_FILE_CTF_KINDS_H

#include "base/buf.h"
#include "file/ctf/babeltrace.h"
#include "file/made.h"

#define TAP_CTF_MAX_FIELDS 64u

/* How the value of a field becomes the kernel's. */
enum tap_ctf_how {
	TAP_CTF_AS_IT_IS,
	TAP_CTF_PRIO, /* LTTng subtracted MAX_RT_PRIO */
	TAP_CTF_OLD_STATE, /* prev_state of a kernel before v4.14 */
};

/* One class of events. */
struct tap_ctf_kind {
	const struct tap_format *fmt;
	const bt_event_class *class;
	const char *members[TAP_CTF_MAX_FIELDS]; /* of the payload, by field of .fmt; borrowed; or
						    NULL */
	enum tap_ctf_how how[TAP_CTF_MAX_FIELDS];
	struct tap_ctf_kind *older;
};

struct tap_ctf {
	struct tap_babeltrace bt;
	struct tap_made *m;
	struct tap_ctf_kind *newest;
	struct tap_map streams; /* -> its CPU plus one */
	struct tap_map early; /* stream without an event so far -> events that were lost before */
	struct tap_map current; /* CPU -> the task that its last switch put there, plus one */
	struct tap_buf text;
	uint64_t nr_events;
	unsigned int release; /* the kernel's: 4.14 is 414; 0: not known */
	bool is_lttng; /* the kernel tracer of LTTng */
	bool has_whole_prio; /* in wakeups, as LTTng before 2.8 */
	uint64_t nr_skipped; /* events without a CPU or a time */
};

/* Return the member of a struct, or NULL. @of: may be NULL, or no struct. */
const bt_field *tap_ctf_member(const struct tap_ctf *r, const bt_field *of, const char *name);
/* Return false if the field is not a number. @f: may be NULL, as for tap_ctf_is_text(). */
bool tap_ctf_number(const struct tap_ctf *r, const bt_field *f, uint64_t *value);
bool tap_ctf_is_text(const struct tap_ctf *r, const bt_field *f);

/* Return the kind of an event's class, made for its first event; NULL: r->m has failed. */
struct tap_ctf_kind *tap_ctf_find_kind(struct tap_ctf *r, const bt_event_class *class,
				       const bt_field *payload);
void tap_ctf_kinds_release(struct tap_ctf *r);

#endif
