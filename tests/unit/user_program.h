/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with tracepoints as its control file shows it: made by hand after
 * tracepoint/shared.h, so that it can be torn, or lie. The file is this process's; the link says
 * which process it claims to be.
 */
#ifndef TAP_TEST_USER_PROGRAM_H
#define TAP_TEST_USER_PROGRAM_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracepoint/shared.h"

#define PROGRAM_BYTES (16u << 20)

struct program {
	char path[400]; /* of the link */
	int fd;
	unsigned char *map;
	uint64_t end;
};

struct event_text {
	const char *system, *name, *text;
};

#define COMMON_FIELDS                                                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FORMAT_TEXT(name)                                                                          \
	"name: " name "\nID: 0\nformat:\n" COMMON_FIELDS                                           \
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"                                        \
	"\nprint fmt: \"seq=%llu\", REC->seq\n"

static inline struct tap_control *control_of(const struct program *p)
{
	return (struct tap_control *)p->map;
}

static inline struct tap_area *area_of(const struct program *p, uint32_t i)
{
	return (struct tap_area *)(p->map + TAP_CONTROL_PAGE) + i;
}

/* A file as the program makes it when it starts, mapped by this process. */
static inline void program_file(struct program *p, int pid)
{
	static uint64_t made_ns; /* no two programs are one */
	struct tap_control *c;

	p->fd = memfd_create("schedtap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(p->fd >= 0);
	assert_int_equal(ftruncate(p->fd, PROGRAM_BYTES), 0);
	assert_int_equal(fcntl(p->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	p->map = mmap(NULL, PROGRAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	assert_true(p->map != MAP_FAILED);
	c = control_of(p);
	*c = (struct tap_control){ .magic = TAP_CONTROL_MAGIC,
				   .version = TAP_CONTROL_VERSION,
				   .min_version = TAP_CONTROL_MIN_VERSION,
				   .head_bytes = sizeof(*c),
				   .pid_ns = TAP_INITIAL_PID_NS,
				   .pid = (uint32_t)pid,
				   .made_ns = ++made_ns,
				   .comm = "demo" };
	p->end = (TAP_CONTROL_HEAD + TAP_CONTROL_PAGE - 1) & ~(uint64_t)(TAP_CONTROL_PAGE - 1);
}

/* Make a program's file (program_file()) and the link to it: @folder/PID-NONCE. */
static inline void program_make(struct program *p, const char *folder, int pid, const char *nonce)
{
	char to[64];

	program_file(p, pid);
	snprintf(p->path, sizeof(p->path), "%s/%d-%s", folder, pid, nonce);
	snprintf(to, sizeof(to), "/proc/%d/fd/%d", (int)getpid(), p->fd);
	assert_int_equal(symlink(to, p->path), 0);
}

static inline void program_unmap(struct program *p)
{
	munmap(p->map, PROGRAM_BYTES);
	close(p->fd);
}

static inline struct tap_area *program_area(struct program *p, uint32_t kind, uint64_t bytes)
{
	struct tap_area *a = area_of(p, control_of(p)->areas_nr++);

	*a = (struct tap_area){ .offset = p->end, .size = (bytes + 4095) & ~4095ull, .kind = kind };
	p->end += a->size;
	assert_true(p->end <= PROGRAM_BYTES);
	return a;
}

/* Return: the area's number. */
static inline uint32_t program_object(struct program *p, uint32_t first_id,
				      const struct event_text *events, uint32_t nr)
{
	struct tap_area *a = program_area(p, TAP_AREA_OBJECT, 65536);
	unsigned char *at = p->map + a->offset + ((nr * sizeof(struct tap_word) + 7) & ~7ul);

	a->nr = nr;
	a->texts = (nr * (uint32_t)sizeof(struct tap_word) + 7) & ~7u;
	a->first_id = first_id;
	for (uint32_t i = 0; i < nr; i++) {
		const char *texts[] = { events[i].system, events[i].name, events[i].text };
		unsigned char *to = at + 8;
		uint32_t bytes;

		for (int k = 0; k < 3; k++)
			to = (unsigned char *)stpcpy((char *)to, texts[k]) + 1;
		bytes = (uint32_t)(to - at - 8);
		memcpy(at, &bytes, sizeof(bytes));
		memcpy(at + 4, &i, sizeof(i));
		at += 8 + ((bytes + 7) & ~7u);
	}
	return control_of(p)->areas_nr - 1;
}

static inline struct tap_word *word_of(const struct program *p, uint32_t area, uint32_t i)
{
	return (struct tap_word *)(p->map + area_of(p, area)->offset) + i;
}

/* A CPU's ring, and what its writer knows. */
struct ring {
	struct program *p;
	uint32_t area;
	struct tap_ring_head *head;
	uint64_t *states;
	unsigned char *subs;
	bool discard, atomic;
};

static inline void ring_make(struct ring *r, struct program *p, uint32_t cpu, uint64_t bytes)
{
	struct tap_area *a = program_area(p, TAP_AREA_RING, TAP_RING_PAGE + bytes);

	*r = (struct ring){ .p = p, .area = control_of(p)->areas_nr - 1 };
	a->nr = cpu;
	r->head = (struct tap_ring_head *)(p->map + a->offset);
	*r->head = (struct tap_ring_head){ .bytes = bytes, .subs_offset = TAP_RING_PAGE };
	r->states = (uint64_t *)(r->head + 1);
	r->subs = p->map + a->offset + TAP_RING_PAGE;
}

static inline unsigned char *ring_at(const struct ring *r, uint64_t pos)
{
	return r->subs + (pos & (r->head->bytes - 1));
}

/* Of the sub-buffer of @pos: bytes used, and events << 32. */
static inline uint64_t *ring_commit(const struct ring *r, uint64_t pos)
{
	return (uint64_t *)(ring_at(r, pos & ~(uint64_t)(TAP_SUB_BYTES - 1)) + 8);
}

/* Events in all sub-buffers before @next; of an atomic ring in that one, in its earlier lives. */
static inline uint64_t ring_events(const struct ring *r, uint64_t next)
{
	uint64_t back = r->atomic ? r->head->bytes : TAP_SUB_BYTES;
	struct tap_sub_info info;

	if (next < back)
		return 0;
	memcpy(&info, ring_at(r, next - back) + TAP_SUB_HEADER + sizeof(struct tap_record_head),
	       sizeof(info));
	return info.events + (*ring_commit(r, next - back) >> 32);
}

/* Writes a record of @len bytes of payload at the ring's head, which moves. */
static inline unsigned char *ring_record(struct ring *r, uint64_t stamp, const void *payload,
					 uint32_t len)
{
	struct tap_record_head h = {
		.stamp_low = (uint32_t)(stamp << 5) | 31,
		.stamp_high = (uint32_t)(stamp >> 27),
		.length = len + 4,
	};
	unsigned char *at = ring_at(r, r->head->head);

	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), payload, len);
	*ring_commit(r, r->head->head) += sizeof(h) + len;
	__atomic_store_n(&r->head->head, r->head->head + sizeof(h) + len, __ATOMIC_RELEASE);
	return at;
}

static inline void ring_lose(struct ring *r, uint64_t stamp)
{
	if (!r->head->lost_first)
		r->head->lost_first = stamp;
	r->head->lost_last = stamp;
	r->head->lost++;
}

/* Takes the next sub-buffer, or closes the ring. Return: whether it could. */
static inline bool ring_next_sub(struct ring *r, uint64_t stamp, uint64_t mono_ns)
{
	uint64_t used = r->head->head % TAP_SUB_BYTES;
	uint64_t next = r->head->head + (used ? TAP_SUB_BYTES - used : 0);
	struct tap_sub_info info = {
		.type = TAP_ID_SUB,
		.mono_ns = mono_ns,
		.events = ring_events(r, next),
		.lost = r->head->lost,
		.lost_first = r->head->lost_first,
		.lost_last = r->head->lost_last,
	};

	if (used && r->atomic)
		memcpy(ring_at(r, r->head->head), &(uint32_t){ 29 }, 4);
	r->head->head = next;
	if (r->discard && r->states[(next & (r->head->bytes - 1)) / TAP_SUB_BYTES] & 0xff)
		return false;
	r->states[(next & (r->head->bytes - 1)) / TAP_SUB_BYTES] = 1;
	memset(ring_at(r, next), 0, r->atomic ? TAP_SUB_BYTES : TAP_SUB_HEADER);
	memcpy(ring_at(r, next), &stamp, sizeof(stamp));
	__atomic_store_n(&r->head->head, next + TAP_SUB_HEADER, __ATOMIC_RELEASE);
	r->head->lost_first = r->head->lost_last = 0;
	ring_record(r, stamp, &info, sizeof(info));
	return true;
}

/* One event; what there is no room for is lost. Return: its record, or NULL. */
static inline unsigned char *ring_put(struct ring *r, uint64_t stamp, uint16_t type, uint64_t seq,
				      uint32_t len)
{
	unsigned char payload[TAP_RECORD_MAX] = { 0 };
	uint64_t used = r->head->head % TAP_SUB_BYTES;
	int32_t tid = 77;

	if ((!used || used + sizeof(struct tap_record_head) + len > TAP_SUB_BYTES) &&
	    !ring_next_sub(r, stamp, stamp)) {
		ring_lose(r, stamp);
		return NULL;
	}
	memcpy(payload, &type, sizeof(type));
	memcpy(payload + 4, &tid, sizeof(tid));
	memcpy(payload + 8, &seq, sizeof(seq));
	*ring_commit(r, r->head->head) += 1ull << 32;
	return ring_record(r, stamp, payload, len);
}

#endif
