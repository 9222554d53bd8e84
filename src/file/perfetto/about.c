// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "file/perfetto/trace.h"

#define MAX_WORD 200u /* bytes of a text of the system */

struct word {
	char text[MAX_WORD + 1];
};

static void copy_word(struct word *w, const struct tap_proto_field *f)
{
	size_t len = f->type == TAP_PROTO_BYTES ? tap_proto_len(&f->bytes) : 0;

	len = len < MAX_WORD ? len : MAX_WORD;
	if (len)
		memcpy(w->text, f->bytes.at, len);
	w->text[len] = '\0';
	for (char *p = w->text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
}

/* Return the numbers that a release begins with: 414 of "4.14.0"; 0: it does not. */
static unsigned int parse_release(const char *text)
{
	unsigned int major, minor;

	return sscanf(text, "%3u.%3u", &major, &minor) == 2
		       ? major * 100 + (minor < 99 ? minor : 99)
		       : 0;
}

/* Read the names of a kernel into trace-cmd's spelling: system, host, release, version, machine. */
static void read_utsname(struct tap_pft *t, struct tap_proto_in in)
{
	struct word words[NR_UTSNAME_MACHINE + 1] = { 0 };
	const char *release = words[NR_UTSNAME_RELEASE].text;
	struct tap_reader *r = t->made->r;
	struct tap_proto_field f;
	char text[5 * MAX_WORD];

	while (tap_proto_next(&in, &f))
		if (f.number <= NR_UTSNAME_MACHINE)
			copy_word(&words[f.number], &f);
	t->nr_damaged += in.bad;
	t->release = parse_release(release);
	if (!*release || strchr(release, ' ')) /* several releases, as our own export may name */
		return;
	snprintf(text, sizeof(text), "%s ? %s %s%s%s", words[NR_UTSNAME_SYSNAME].text, release,
		 words[NR_UTSNAME_VERSION].text + strspn(words[NR_UTSNAME_VERSION].text, " "),
		 *words[NR_UTSNAME_MACHINE].text ? " " : "", words[NR_UTSNAME_MACHINE].text);
	t->made->failed =
		t->made->failed ?: tap_dat_set_text(&r->uname, text, strlen(text), t->made->err);
}

void tap_pft_system(struct tap_pft *t, struct tap_proto_in in)
{
	struct tap_reader *r = t->made->r;
	struct tap_proto_field f;
	char text[MAX_WORD + 20];
	struct word version;

	while (tap_proto_next(&in, &f)) {
		if (f.number == NR_SYSTEM_UTSNAME && f.type == TAP_PROTO_BYTES)
			read_utsname(t, f.bytes);
		if (f.number != NR_SYSTEM_VERSION || f.type != TAP_PROTO_BYTES)
			continue;
		copy_word(&version, &f);
		snprintf(text, sizeof(text), "Perfetto trace, %s", version.text);
		t->made->failed =
			t->made->failed
				?: tap_dat_set_text(&r->tool, text, strlen(text), t->made->err);
	}
	t->nr_damaged += in.bad;
}

void tap_pft_clocks(struct tap_pft *t, struct tap_proto_in in)
{
	uint64_t at[NR_CLOCK_BOOT + 1] = { 0 };
	struct tap_proto_field f, part;

	while (tap_proto_next(&in, &f)) {
		uint64_t id = 0, ns = 0;

		if (f.number != NR_CLOCKS_CLOCK || f.type != TAP_PROTO_BYTES)
			continue;
		while (tap_proto_next(&f.bytes, &part)) {
			if (part.number == NR_CLOCK_ID && part.type == TAP_PROTO_VARINT)
				id = part.value;
			if (part.number == NR_CLOCK_TIME && part.type == TAP_PROTO_VARINT)
				ns = part.value;
		}
		if (id <= NR_CLOCK_BOOT)
			at[id] = ns;
	}
	t->nr_damaged += in.bad;
	/* the first snapshot: it is next to the recording's beginning, as others' is */
	if (t->realtime_ns || !at[NR_CLOCK_REALTIME])
		return;
	t->realtime_ns = at[NR_CLOCK_REALTIME];
	t->boot_ns = at[NR_CLOCK_BOOT];
	t->raw_ns = at[NR_CLOCK_MONO_RAW];
}

void tap_pft_bundle_clock(struct tap_pft *t, uint64_t clock, uint64_t ftrace_ns, uint64_t boot_ns)
{
	if (!t->has_clock) {
		t->has_clock = true;
		t->clock = (unsigned int)clock;
		if (ftrace_ns && boot_ns)
			t->behind_boot_ns = (int64_t)(boot_ns - ftrace_ns);
	}
	t->nr_other_clock += t->clock != clock;
}

#define REPORTED 0x7f /* TASK_REPORT: states with a letter */
#define PREEMPTED 0x100
#define WAKEKILL 0x100
#define IDLE 0x80
#define NOLOAD 0x400
#define PARKED 0x40
#define DEAD 0x10

/* Before v4.14 an event has the task's state as the kernel keeps it, and another bit for "+". */
static int64_t old_state(const struct tap_pft *t, int64_t raw)
{
	const int64_t plus = t->release < 402 ? 0x400 : t->release < 408 ? 0x800 : 0x1000;
	int64_t state = raw & 0x3f; /* S, D, T, t, X, Z */

	if (raw & 0x40) /* TASK_DEAD */
		state |= DEAD;
	if (raw & 0x200) /* TASK_PARKED */
		state |= PARKED;
	if (t->release >= 402 && (raw & (NOLOAD | 2)) == (NOLOAD | 2)) /* TASK_IDLE */
		state = IDLE;
	return state | (raw & plus ? PREEMPTED : 0);
}

int64_t tap_pft_prev_state(const struct tap_pft *t, int64_t raw)
{
	if (t->release && t->release < 414)
		return old_state(t, raw);
	if (raw >= 0 && raw <= PREEMPTED)
		return raw;
	/* no event of the kernel has these, but those of BPF programs: the task's state as it is */
	if ((raw & (NOLOAD | 2)) == (NOLOAD | 2))
		return IDLE;
	return raw & WAKEKILL && raw & REPORTED ? raw & REPORTED
						: raw & (REPORTED | IDLE | PREEMPTED);
}

const char *tap_pft_about_end(struct tap_pft *t)
{
	static const char *const names[] = { "boot", "", "global", "local", "mono_raw" };
	struct tap_reader_info *info = &t->made->r->info;
	uint64_t at_ns = t->boot_ns;

	if (t->clock == NR_FTRACE_MONO_RAW)
		at_ns = t->raw_ns;
	else if (t->clock && !t->behind_boot_ns)
		at_ns = 0; /* how it relates to the others is not known */
	else if (at_ns)
		at_ns -= (uint64_t)t->behind_boot_ns;
	if (at_ns && t->realtime_ns) {
		info->wall_ts_ns = at_ns;
		info->wall_realtime_ns = t->realtime_ns;
	}
	return t->clock < sizeof(names) / sizeof(*names) ? names[t->clock] : "";
}
