// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What threads write into rings, read back as a recorder does: from the control file, with pread().
 * Each case is a process of its own, once with restartable sequences and once without.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracepoint/shared.h"

#define CREATE_TRACE_POINTS
#include "ring_events.h"

#define SOURCES 4u /* two threads, and the signal handler in each of them */
#define TEXT_MAX 41u

static const char tunable[] = "glibc.pthread.rseq=0";

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
	_exit(1);
}

#define CHECK(condition, text...)                                                                  \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail(text);                                                                \
	} while (0)

/* ---- the control file ---- */

static int fd;

static void get(void *to, uint64_t offset, size_t bytes)
{
	CHECK(pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes, "short read at %llu",
	      (unsigned long long)offset);
}

static void put_byte(uint64_t offset, uint8_t byte)
{
	CHECK(pwrite(fd, &byte, 1, (off_t)offset) == 1, "cannot write to the control file");
}

static struct tap_control control(void)
{
	struct tap_control c;

	get(&c, 0, sizeof(c));
	return c;
}

static struct tap_area area(uint32_t i)
{
	struct tap_area a;

	get(&a, TAP_CONTROL_PAGE + i * sizeof(a), sizeof(a));
	return a;
}

/* Opens it, as a recorder that is there: locked. Switches all events on. */
static void begin(enum tap_ring_mode mode, unsigned int ring_shift)
{
	struct tap_area events;
	char path[512];

	snprintf(path, sizeof(path), "%s/schedtap/%d-0", getenv("XDG_RUNTIME_DIR"), (int)getpid());
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0, "no control file '%s': %s", path, tap_trace_reason());
	CHECK(!flock(fd, LOCK_EX), "cannot lock '%s'", path);
	put_byte(offsetof(struct tap_control, mode), (uint8_t)mode);
	put_byte(offsetof(struct tap_control, ring_shift), (uint8_t)ring_shift);
	put_byte(offsetof(struct tap_control, use_clock), TAP_CLOCK_CYCLES);
	events = area(0);
	for (uint32_t i = 0; i < events.nr; i++)
		put_byte(events.offset + i * sizeof(struct tap_word), 1);
}

/* ---- rings ---- */

struct step {
	struct trace_entry ent;
	uint32_t source;
	uint64_t nr;
	uint32_t text_loc;
	char text[];
};

/* A ring, and what was read of it. */
struct ring {
	struct tap_area area;
	struct tap_ring_head head;
	uint64_t position; /* the next sub-buffer to read */
	uint64_t stamp, next_nr[SOURCES];
	uint64_t records, steps[SOURCES];
	uint64_t subs, events; /* events: also those that were not read, as the sub-buffers say */
	struct tap_sub_info info; /* of the last sub-buffer */
	uint64_t first_nr; /* of source 0 */
	uint32_t last_length;
	char last_end[8]; /* of the last record */
};

static void update(struct ring *r)
{
	get(&r->head, r->area.offset, sizeof(r->head));
}

static unsigned int find_rings(struct ring *rings, unsigned int max, unsigned int have)
{
	struct tap_control c = control();
	unsigned int nr = 0;

	for (uint32_t i = 0; i < c.areas_nr && nr < max; i++) {
		struct tap_area a = area(i);

		if (a.kind != TAP_AREA_RING)
			continue;
		if (nr >= have)
			rings[nr] = (struct ring){ .area = a, .first_nr = UINT64_MAX };
		update(&rings[nr++]);
	}
	return nr;
}

static void text_of(char *text, uint32_t source, uint64_t nr)
{
	size_t len = (source * 7 + nr) % TEXT_MAX;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + (source + nr + i) % 26);
	text[len] = '\0';
}

static void read_step(struct ring *r, const struct step *s, uint32_t length)
{
	char text[TEXT_MAX + 1];

	CHECK(s->source < SOURCES, "source %u", s->source);
	text_of(text, s->source, s->nr);
	CHECK(!strcmp(s->text, text), "source %u nr %llu: text '%.*s'", s->source,
	      (unsigned long long)s->nr, (int)length - 28, s->text);
	CHECK(s->nr >= r->next_nr[s->source], "source %u: %llu after %llu", s->source,
	      (unsigned long long)s->nr, (unsigned long long)r->next_nr[s->source] - 1);
	if (!s->source && r->first_nr == UINT64_MAX)
		r->first_nr = s->nr;
	r->next_nr[s->source] = s->nr + 1;
	r->steps[s->source]++;
}

static void read_record(struct ring *r, const struct tap_record_head *h)
{
	uint64_t stamp = h->stamp_low >> 5 | (uint64_t)h->stamp_high << 27;
	const struct trace_entry *ent = (const struct trace_entry *)(h + 1);
	uint32_t length = h->length - 4;

	CHECK((h->stamp_low & 31) == 31 && !h->word, "no record: %x %x", h->stamp_low, h->word);
	CHECK(stamp >= r->stamp, "a stamp before the one before");
	r->stamp = stamp;
	if (ent->type == TAP_ID_SUB) {
		memcpy(&r->info, ent, sizeof(r->info));
		return;
	}
	r->records++;
	r->last_length = length;
	memcpy(r->last_end, (const char *)ent + length - 8, 8);
	if (ent->type == event_step.id && length < 200)
		read_step(r, (const struct step *)ent, length);
}

/*
 * Return where the sub-buffer's records end, or 0 if a thread is still writing one of them. The
 * state of an atomic ring's sub-buffer contains the end only after a thread has left the
 * sub-buffer. Until then, its records end at its last byte or not all of its bytes are counted.
 */
static uint32_t end_of(const struct ring *r, const unsigned char *sub, uint64_t position)
{
	uint32_t used, end;
	uint64_t state;

	memcpy(&used, sub + 8, sizeof(used));
	if (!r->area.atomic)
		return r->head.head < position + TAP_SUB_BYTES ? (uint32_t)(r->head.head - position)
							       : used + TAP_SUB_HEADER;
	get(&state, r->area.offset + TAP_RING_STATES + position % r->head.bytes / TAP_SUB_BYTES * 8,
	    sizeof(state));
	end = r->head.head < position + TAP_SUB_BYTES
		      ? (uint32_t)(r->head.head - position)
		      : ((uint32_t)(state >> 8) & 0xffffff ?: TAP_SUB_BYTES);
	return used + TAP_SUB_HEADER == end ? end : 0;
}

/* Atomic rings say what each sub-buffer has held before, others what all have before this one. */
static void count_events(struct ring *r, uint64_t nr)
{
	uint64_t firsts = r->area.atomic ? r->head.bytes / TAP_SUB_BYTES : 1;

	if (r->subs++ < firsts)
		r->events += r->info.events;
	else if (!r->area.atomic)
		CHECK(r->info.events == r->events, "%llu events before, %llu said",
		      (unsigned long long)r->events, (unsigned long long)r->info.events);
	r->events += nr;
}

/* Return: whether the next sub-buffer was there, and whole. */
static bool read_sub(struct ring *r)
{
	unsigned char sub[TAP_SUB_BYTES] __attribute__((aligned(8)));
	uint32_t end, records = 0;
	uint64_t commit;

	get(sub, r->area.offset + r->head.subs_offset + r->position % r->head.bytes, sizeof(sub));
	end = end_of(r, sub, r->position);
	if (!end)
		return false;
	for (uint32_t at = TAP_SUB_HEADER; at < end; records++) {
		const struct tap_record_head *h = (const struct tap_record_head *)(sub + at);

		CHECK(h->length >= 12 && h->length <= end - at, "a length of %u", h->length);
		read_record(r, h);
		at += 12 + h->length;
	}
	memcpy(&commit, sub + 8, sizeof(commit));
	if (r->head.head >= r->position + TAP_SUB_BYTES)
		CHECK(commit >> 32 == records - 1, "%u events, %llu said", records - 1,
		      (unsigned long long)(commit >> 32));
	count_events(r, records - 1);
	r->position += TAP_SUB_BYTES;
	return true;
}

/* Reads what threads have left: all sub-buffers, or as many as the ring has. */
static void read_rest(struct ring *r)
{
	uint64_t end;

	update(r);
	end = (r->head.head + TAP_SUB_BYTES - 1) & ~(uint64_t)(TAP_SUB_BYTES - 1);
	if (r->position + r->head.bytes < end)
		r->position = end - r->head.bytes;
	while (r->position < end)
		CHECK(read_sub(r), "a sub-buffer is not whole");
}

/* Read the full sub-buffers and free them, as a recorder does. */
static void drain(struct ring *r)
{
	update(r);
	while (r->head.head >= r->position + TAP_SUB_BYTES && read_sub(r))
		put_byte(r->area.offset + TAP_RING_STATES +
				 (r->position - TAP_SUB_BYTES) % r->head.bytes / TAP_SUB_BYTES * 8,
			 0);
}

static struct ring only_ring(void)
{
	struct ring r[2];

	CHECK(find_rings(r, 2, 0) == 1, "not one ring");
	CHECK(r[0].area.atomic == !!getenv("GLIBC_TUNABLES"), "a ring of the other kind");
	return r[0];
}

/* ---- cases ---- */

static void stay_on_a_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "cannot stay on a CPU");
}

static void write_steps(uint64_t from, uint64_t nr)
{
	char text[TEXT_MAX + 1];

	for (uint64_t i = from; i < from + nr; i++) {
		text_of(text, 0, i);
		trace_step(0, i, text);
	}
}

static void in_order(void)
{
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, 24);
	write_steps(0, 50000);
	r = only_ring();
	read_rest(&r);
	CHECK(r.steps[0] == 50000 && r.events == 50000, "%llu records, %llu said",
	      (unsigned long long)r.steps[0], (unsigned long long)r.events);
	CHECK(!r.head.lost && !control().lost && !control().cut, "something was lost");
}

static void full(void)
{
	struct ring r;
	uint64_t lost;

	stay_on_a_cpu();
	begin(TAP_RING_DISCARD, TAP_RING_SHIFT_MIN);
	write_steps(0, 10000);
	r = only_ring();
	read_rest(&r);
	lost = r.head.lost;
	CHECK(r.first_nr == 0 && r.steps[0] == r.next_nr[0], "not the first ones");
	CHECK(lost && r.steps[0] + lost == 10000, "%llu records, %llu lost",
	      (unsigned long long)r.steps[0], (unsigned long long)lost);
	CHECK(!r.info.lost && r.head.lost_first >= r.stamp && r.head.lost_last >= r.head.lost_first,
	      "not lost when it was");
	r = only_ring();
	drain(&r);
	write_steps(10000, 1);
	read_rest(&r);
	CHECK(r.next_nr[0] == 10001, "no record where there is room again");
	CHECK(r.info.lost == lost && r.info.lost_first && r.info.lost_last >= r.info.lost_first &&
		      r.info.lost_last <= r.stamp,
	      "the next sub-buffer does not say what was lost");
	CHECK(!r.head.lost_first, "said, and still to be said");
}

static void newest(void)
{
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, TAP_RING_SHIFT_MIN);
	write_steps(0, 10000);
	r = only_ring();
	read_rest(&r);
	CHECK(r.next_nr[0] == 10000 && r.first_nr + r.steps[0] == 10000, "not the last ones");
	CHECK(r.events == 10000 && !r.head.lost, "not all counted");
}

static void long_text(void)
{
	static char text[65537];
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, 20);
	memset(text, 'x', sizeof(text) - 1);
	trace_step(0, 0, text);
	r = only_ring();
	read_rest(&r);
	CHECK(r.records == 1 && r.last_length == TAP_RECORD_MAX, "%llu records, %u bytes",
	      (unsigned long long)r.records, r.last_length);
	CHECK(!memcmp(r.last_end, "xx[cut]", 8), "not marked: '%.8s'", r.last_end);
	CHECK(control().cut == 1 && !control().lost, "not counted");
}

static void long_array(void)
{
	static uint64_t values[600];
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, 20);
	trace_array(values, 500);
	trace_array(values, 600);
	r = only_ring();
	read_rest(&r);
	CHECK(r.records == 1 && r.last_length == 8 + 8 + 4000, "%llu records, %u bytes",
	      (unsigned long long)r.records, r.last_length);
	CHECK(control().lost == 1, "not counted");
}

/*
 * The kernel may abort an rseq sequence before its last store. This test writes the remains of such
 * a sequence by hand. Without rseq there are no sequences and no remains.
 */
static void interrupted(void)
{
	uint64_t commit_at, state_at, word;
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_DISCARD, TAP_RING_SHIFT_MIN);
	write_steps(0, 100);
	r = only_ring();
	commit_at = r.area.offset + r.head.subs_offset + 8;
	state_at = r.area.offset + TAP_RING_STATES + sizeof(word);
	get(&word, commit_at, sizeof(word));
	word += 1ull << 32 | 64; /* a record whose head was not moved */
	if (!r.area.atomic)
		CHECK(pwrite(fd, &word, sizeof(word), (off_t)commit_at) == sizeof(word), "pwrite");
	word = 1 << 8 | 1; /* the second sub-buffer, for the first time */
	if (!r.area.atomic)
		CHECK(pwrite(fd, &word, sizeof(word), (off_t)state_at) == sizeof(word), "pwrite");
	write_steps(100, 500);
	update(&r);
	CHECK(r.head.head > TAP_SUB_BYTES && !r.head.lost, "the ring is stuck");
	read_rest(&r);
	CHECK(r.steps[0] == 600 && r.events == 600, "%llu records, %llu said",
	      (unsigned long long)r.steps[0], (unsigned long long)r.events);
}

/*
 * Without rseq a thread may still be at a record when others have filled the ring: its sub-buffer
 * is not written over before the record is there. Its bytes are counted last, and are taken off the
 * count by hand.
 */
static void unsettled(void)
{
	unsigned char before[TAP_SUB_BYTES], after[TAP_SUB_BYTES];
	uint64_t commit_at, commit, less;
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, TAP_RING_SHIFT_MIN);
	write_steps(0, 500);
	r = only_ring();
	if (!r.area.atomic)
		return;
	commit_at = r.area.offset + r.head.subs_offset + 8;
	get(&commit, commit_at, sizeof(commit));
	less = commit - (1ull << 32) - 64;
	CHECK(pwrite(fd, &less, sizeof(less), (off_t)commit_at) == sizeof(less), "pwrite");
	get(before, commit_at - 8, sizeof(before));
	write_steps(500, 10000);
	get(after, commit_at - 8, sizeof(after));
	r = only_ring();
	CHECK(!memcmp(before, after, sizeof(before)), "written over under a thread that is at it");
	CHECK(r.head.lost && r.head.head == r.head.bytes, "not closed before it");
	CHECK(pwrite(fd, &commit, sizeof(commit), (off_t)commit_at) == sizeof(commit), "pwrite");
	write_steps(10500, 1);
	update(&r);
	CHECK(r.head.head > r.head.bytes, "closed for ever");
}

/*
 * A record may end at its sub-buffer's last byte. In an atomic ring, the sub-buffer's state then
 * contains its end only after a later event has taken the next sub-buffer, and there may be no
 * later event.
 */
static void to_the_last_byte(void)
{
	enum { RECORD = sizeof(struct tap_record_head) + 16, VALUES = 400 };
	const unsigned int space = TAP_SUB_BYTES - TAP_SUB_HEADER - sizeof(struct tap_record_head) -
				   sizeof(struct tap_sub_info);
	static const uint64_t values[500];
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, TAP_RING_SHIFT_MIN);
	for (unsigned int i = 0; i < 4; i++)
		trace_array(values, VALUES);
	trace_array(values, (space - 4 * (RECORD + 8 * VALUES) - RECORD) / 8);
	r = only_ring();
	CHECK(r.head.head == TAP_SUB_BYTES, "%llu bytes written", (unsigned long long)r.head.head);
	read_rest(&r);
	CHECK(r.records == 5 && r.events == 5, "%llu records, %llu said",
	      (unsigned long long)r.records, (unsigned long long)r.events);
	trace_array(values, VALUES);
	r = only_ring();
	read_rest(&r);
	CHECK(r.records == 6 && r.events == 6, "%llu records, %llu said",
	      (unsigned long long)r.records, (unsigned long long)r.events);
}

/* ---- two threads and a signal handler ---- */

static __thread uint32_t self;
static uint64_t written[SOURCES];
static volatile bool enough;

static void write_one(uint32_t source)
{
	char text[TEXT_MAX + 1];

	text_of(text, source, written[source]);
	trace_step(source, written[source]++, text);
}

static void handler(int sig)
{
	(void)sig;
	for (int i = 0; i < 3; i++)
		write_one(self + 2);
}

static void *writer(void *arg)
{
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t timer;

	self = (uint32_t)(uintptr_t)arg;
	event._sigev_un._tid = gettid();
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer), "no timer");
	CHECK(!timer_settime(timer, 0, &often, NULL), "no timer");
	while (!enough)
		write_one(self);
	timer_delete(timer);
	return NULL;
}

static void crowd(enum tap_ring_mode mode, bool drained)
{
	struct ring rings[64];
	uint64_t all = 0, lost, wrote = 0, read = 0;
	unsigned int nr = 0;
	struct timespec pause = { 0, 200000 };
	pthread_t threads[2];

	signal(SIGUSR1, handler);
	begin(mode, TAP_RING_SHIFT_MIN + 1);
	/* the first one switches the event on: others that pass meanwhile do not see it */
	write_one(0);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, writer, (void *)i), "no thread");
	for (int i = 0; i < 3000; i++) {
		nanosleep(&pause, NULL);
		nr = find_rings(rings, 64, nr);
		for (unsigned int k = 0; drained && k < nr; k++)
			drain(&rings[k]);
	}
	enough = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	nr = find_rings(rings, 64, nr);
	lost = control().lost;
	for (unsigned int k = 0; k < nr; k++) {
		read_rest(&rings[k]);
		all += rings[k].events;
		lost += rings[k].head.lost;
		read += rings[k].records;
	}
	for (unsigned int i = 0; i < SOURCES; i++)
		wrote += written[i];
	printf("# %llu written, %llu read, %llu lost\n", (unsigned long long)wrote,
	       (unsigned long long)read, (unsigned long long)lost);
	CHECK(written[2] && written[3], "no signals");
	CHECK(all + lost == wrote, "%llu written, but %llu in rings and %llu lost",
	      (unsigned long long)wrote, (unsigned long long)all, (unsigned long long)lost);
	CHECK(!drained || read == all, "%llu in rings, but %llu read", (unsigned long long)all,
	      (unsigned long long)read);
	CHECK(!drained || read > wrote / 1000, "the rings are stuck");
}

static void crowd_overwrites(void)
{
	crowd(TAP_RING_OVERWRITE, false);
}

static void crowd_is_drained(void)
{
	crowd(TAP_RING_DISCARD, true);
}

/* Threads that come at once, when there is no ring yet. */
static pthread_barrier_t at_once;

static void *come(void *unused)
{
	const uint64_t value = 1;

	(void)unused;
	pthread_barrier_wait(&at_once);
	trace_array(&value, 1);
	return NULL;
}

static void cold(void)
{
	enum { THREADS = 300 };
	pthread_t threads[THREADS];
	struct ring rings[64];
	uint64_t records = 0, lost;

	begin(TAP_RING_OVERWRITE, 0);
	tap_tracepoint_look(&__tracepoint_array); /* it is on when they come */
	CHECK(!pthread_barrier_init(&at_once, NULL, THREADS), "no barrier");
	for (unsigned int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, come, NULL), "no thread %u", i);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lost = control().lost;
	for (unsigned int i = 0, nr = find_rings(rings, 64, 0); i < nr; i++) {
		read_rest(&rings[i]);
		records += rings[i].records;
		lost += rings[i].head.lost;
	}
	CHECK(records + lost == THREADS, "of %d events %llu are there, %llu lost", THREADS,
	      (unsigned long long)records, (unsigned long long)lost);
	/* with atomics a thread that takes a sub-buffer can be preempted: others spin for it, but
	 * not for ever */
	CHECK(!lost || getenv("GLIBC_TUNABLES"), "%llu lost", (unsigned long long)lost);
}

static void *write_and_keep_errno(void *unused)
{
	(void)unused;
	errno = 0;
	write_steps(0, 1);
	CHECK(!errno, "errno: %s", strerror(errno));
	return NULL;
}

/* A thread looks whether the one before is gone, and takes its slot; the first makes the ring. */
static void keeps_errno(void)
{
	pthread_t thread;

	begin(TAP_RING_OVERWRITE, TAP_RING_SHIFT_MIN);
	write_and_keep_errno(NULL);
	for (int i = 0; i < 20; i++) {
		CHECK(!pthread_create(&thread, NULL, write_and_keep_errno, NULL), "no thread");
		pthread_join(thread, NULL);
	}
}

static void *write_confined(void *silent)
{
	struct sock_filter only_exit[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(only_exit) / sizeof(only_exit[0]), only_exit };

	write_steps(0, 1);
	errno = 0;
	/* not SECCOMP_MODE_STRICT, which takes away the time stamp counter */
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no privileges to lose");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), "cannot be confined");
	write_steps(1, 9999);
	*(bool *)silent = !errno;
	syscall(SYS_exit, 0); /* what returning does is more than that */
	return NULL;
}

/* A thread whose ring is full looks every 1024 losses whether a recorder still runs. */
static void silent(void)
{
	pthread_t thread;
	bool is_silent = false;
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_DISCARD, TAP_RING_SHIFT_MIN);
	CHECK(!pthread_create(&thread, NULL, write_confined, &is_silent), "no thread");
	pthread_join(thread, NULL);
	CHECK(is_silent, "errno is set");
	r = only_ring();
	CHECK(r.head.lost > 2048, "only %llu lost", (unsigned long long)r.head.lost);
}

static void probe(void *data, const uint64_t *values, unsigned int nr)
{
	(void)data, (void)values, (void)nr;
}

static void *come_and_stay(void *unused)
{
	come(unused);
	pthread_barrier_wait(&at_once);
	return NULL;
}

/* Of a thread without a slot no probe is called: what the recording lacks is counted. */
static void no_memory(void)
{
	enum { THREADS = 40 };
	const uint64_t value = 1;
	struct rlimit limit;
	pthread_t thread;
	struct ring r;

	stay_on_a_cpu();
	begin(TAP_RING_OVERWRITE, TAP_RING_SHIFT_MIN);
	trace_array(&value, 1);
	CHECK(!register_trace_array(probe, NULL), "no probe");
	CHECK(!pthread_barrier_init(&at_once, NULL, THREADS + 1), "no barrier");
	for (unsigned int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread, NULL, come_and_stay, NULL), "no thread %u", i);
	CHECK(!getrlimit(RLIMIT_AS, &limit), "no limit");
	limit.rlim_cur = 0;
	CHECK(!setrlimit(RLIMIT_AS, &limit), "no limit");
	pthread_barrier_wait(&at_once);
	pthread_barrier_wait(&at_once);
	limit.rlim_cur = limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_AS, &limit), "no limit");
	r = only_ring();
	read_rest(&r);
	CHECK(control().lost && r.records + control().lost == 1 + THREADS,
	      "%llu records, %llu lost", (unsigned long long)r.records,
	      (unsigned long long)control().lost);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "records come out whole and in order", in_order },
	{ "a full ring counts exactly what it discards, and says when", full },
	{ "a ring that is written over keeps the newest", newest },
	{ "a text of 64 kB is cut, marked and counted", long_text },
	{ "an array that is too long is counted as lost", long_array },
	{ "the remains of an interrupted sequence are put right", interrupted },
	{ "a sub-buffer is not written over while a thread is at it", unsettled },
	{ "a sub-buffer that is full to its last byte is read, whether or not the next one is "
	  "taken",
	  to_the_last_byte },
	{ "threads that come at once, before there is a ring, lose nothing", cold },
	{ "an event leaves errno as it is", keeps_errno },
	{ "later events make no system call, also where they are lost", silent },
	{ "threads for which there is no memory: what is lost is counted", no_memory },
	{ "two threads and signals, written over: nothing torn, all counted", crowd_overwrites },
	{ "two threads and signals, drained: nothing torn, all read or counted", crowd_is_drained },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

/* Return: its status. */
static int run_case(const char *program, size_t i, bool rseq)
{
	char number[16];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%zu", i);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (rseq)
			unsetenv("GLIBC_TUNABLES");
		else
			setenv("GLIBC_TUNABLES", tunable, 1);
		execl(program, program, number, (char *)NULL);
		_exit(2);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/test_ring.XXXXXX", path[64];
	int failed = 0;

	if (argc > 1) {
		cases[atoi(argv[1])].run();
		return 0;
	}
	if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1))
		return 1;
	printf("1..%zu\n", 2 * CASES);
	for (size_t i = 0; i < 2 * CASES; i++) {
		bool rseq = i < CASES;
		int status = run_case("/proc/self/exe", i % CASES, rseq);

		failed |= status;
		printf("%sok %zu - %s: %s\n", status ? "not " : "", i + 1,
		       rseq ? "rseq" : "atomics", cases[i % CASES].name);
	}
	snprintf(path, sizeof(path), "%s/schedtap", folder);
	if (rmdir(path) || rmdir(folder)) {
		printf("# not removed: %s\n", folder);
		return 1;
	}
	return !!failed;
}
