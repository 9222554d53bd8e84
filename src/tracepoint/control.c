// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program's side of the control file (shared.h). The file is opened by its name whenever it has
 * to grow, and closed again: programs close descriptors that they do not know.
 */
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct tap_control *tap_control;
char tap_control_path[PATH_MAX];

static bool tried;
static dev_t file_dev;
static ino_t file_ino;
static uint64_t file_bytes;

static struct tap_area *areas(void)
{
	return (struct tap_area *)((char *)tap_control + TAP_CONTROL_PAGE);
}

static uint64_t page_up(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

/* Field 22 of /proc/self/stat: the name before it, in brackets, may hold anything. */
static uint64_t start_time(void)
{
	char text[1024], *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Nobody else may be able to put something in the folder, or to look into it. */
static bool folder_is_ours(const char *folder)
{
	struct stat st;

	return !lstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static bool use_folder(char *folder, size_t size, const char *base, const char *name)
{
	int len = snprintf(folder, size, "%s%s", base, name);

	if (len < 0 || (size_t)len >= size || *folder != '/')
		return false;
	return (!mkdir(folder, 0700) || errno == EEXIST) && folder_is_ours(folder);
}

/* Those of shared.h's readers, in the same order. */
static bool find_folder(char *folder, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char base[64];

	if (xdg && use_folder(folder, size, xdg, "/schedtap"))
		return true;
	snprintf(base, sizeof(base), "/run/user/%u", (unsigned int)geteuid());
	if (use_folder(folder, size, base, "/schedtap"))
		return true;
	snprintf(base, sizeof(base), "/dev/shm/schedtap-%u", (unsigned int)geteuid());
	return use_folder(folder, size, base, "");
}

/* Makes bytes of the file be really there: a store into a hole of a full disk would end us. */
static int fill_hole(int fd, uint64_t offset, uint64_t bytes)
{
	int ret;

	do
		ret = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
	while (ret == EINTR);
	return -ret;
}

static int grow(int fd, uint64_t bytes)
{
	int ret;

	if (file_bytes + bytes > TAP_CONTROL_MAX_BYTES)
		return -EFBIG;
	ret = fill_hole(fd, file_bytes, bytes);
	if (ret)
		return ftruncate(fd, (off_t)file_bytes) ? -errno : ret;
	file_bytes += bytes;
	return 0;
}

/* The table of areas has room for many and is filled page by page. */
static int begin_file(int fd)
{
	file_bytes = page_up(TAP_CONTROL_HEAD);
	if (ftruncate(fd, (off_t)file_bytes))
		return -errno;
	return fill_hole(fd, 0, TAP_CONTROL_PAGE);
}

static int open_file(void)
{
	struct stat st;
	int fd = open(tap_control_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != file_dev || st.st_ino != file_ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/*
 * Whether this process has that file mapped: another copy of this library is linked into it.
 * Without stdio, whose malloc() a signal handler may have interrupted.
 */
static bool is_mapped(ino_t ino)
{
	char text[4096 + 1], want[32];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0, want_len;
	bool found = false;
	ssize_t len;

	want_len = (size_t)snprintf(want, sizeof(want), " %llu ", (unsigned long long)ino);
	while (fd >= 0 && !found && (len = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		size_t all = kept + (size_t)len;

		text[all] = '\0';
		found = strstr(text, want);
		kept = all < want_len ? all : want_len; /* it may lie across two reads */
		memmove(text, text + all - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Whether a file has rings, which a recorder may yet want to read. */
static bool file_has_rings(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct tap_control c;
	struct tap_area a;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &c, sizeof(c), 0) == sizeof(c))
		for (uint32_t i = 0; !found && i < c.areas_nr && i < TAP_CONTROL_AREAS; i++)
			found = pread(fd, &a, sizeof(a), (off_t)(TAP_CONTROL_PAGE + i * sizeof(a))) ==
				sizeof(a) && a.kind == TAP_AREA_RING;
	close(fd);
	return found;
}

/*
 * PID-0, or the next number where another copy of this library has that one. What else has the
 * name is of a program that is gone, of the same process before exec or of another one with its
 * id: it goes, unless events are in it.
 */
static int create_file(const char *folder)
{
	struct stat st;

	for (unsigned int i = 0; i < 64; i++) {
		int len = snprintf(tap_control_path, PATH_MAX, "%s/%d-%x", folder, (int)getpid(), i);
		int fd;

		if (len >= PATH_MAX)
			return -ENAMETOOLONG;
		if (!lstat(tap_control_path, &st) && !is_mapped(st.st_ino) &&
		    !file_has_rings(tap_control_path))
			unlink(tap_control_path);
		fd = open(tap_control_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static void fill_head(struct tap_control *c, const struct tap_control *parent)
{
	struct stat ns;

	c->version = TAP_CONTROL_VERSION;
	c->pid = (uint32_t)getpid();
	c->start_time = start_time();
	c->pid_ns = stat("/proc/self/ns/pid", &ns) ? 0 : ns.st_ino;
	c->clock = (uint32_t)tap_rings_init();
	c->ring_shift = parent ? parent->ring_shift : 0;
	prctl(PR_GET_NAME, c->comm);
	__atomic_store_n(&c->magic, TAP_CONTROL_MAGIC, __ATOMIC_RELEASE);
}

/* @parent: in a child: its file takes the place of that one's. */
static int make_file(const char *folder, const struct tap_control *parent)
{
	int fd = create_file(folder), ret;
	struct stat st;
	void *head;

	if (fd < 0)
		return fd;
	ret = fstat(fd, &st) ? -errno : begin_file(fd);
	head = ret ? MAP_FAILED :
		     mmap(parent ? tap_control : NULL, TAP_CONTROL_HEAD, PROT_READ | PROT_WRITE,
			  MAP_SHARED | (parent ? MAP_FIXED : 0), fd, 0);
	if (head == MAP_FAILED) {
		ret = ret ? ret : -errno;
		unlink(tap_control_path);
		close(fd);
		return ret;
	}
	close(fd);
	file_dev = st.st_dev;
	file_ino = st.st_ino;
	fill_head(head, parent);
	tap_control = head;
	return 0;
}

static void give_up(int code)
{
	tap_control_path[0] = '\0';
	tap_set_reason("events are off: cannot make a control file: %s", strerror(-code));
}

void tap_control_open(void)
{
	char folder[PATH_MAX - 64];
	int ret;

	if (tried)
		return;
	tried = true;
	if (getauxval(AT_SECURE)) {
		tap_set_reason("events are off: the program runs with more rights than its user has");
		return;
	}
	if (!find_folder(folder, sizeof(folder))) {
		tap_set_reason("events are off: no folder for the control file: "
			       "$XDG_RUNTIME_DIR, /run/user/UID and /dev/shm cannot be used");
		return;
	}
	ret = make_file(folder, NULL);
	if (ret)
		give_up(ret);
}

bool tap_control_is_drained(void)
{
	int fd = tap_control ? open_file() : -ENOENT;
	bool locked;

	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

static bool has_rings(void)
{
	for (uint32_t i = 0; i < tap_control->areas_nr; i++)
		if (areas()[i].kind == TAP_AREA_RING)
			return true;
	return false;
}

/*
 * What a recorder has open it can read to the end; what it may not have seen yet stays, for it to
 * find and to remove.
 */
void tap_control_close(void)
{
	/* a child that has none of its own must not remove its parent's */
	if (!tap_control || tap_control->pid != (uint32_t)getpid())
		return;
	if (!has_rings() || !tap_wished || tap_control_is_drained())
		unlink(tap_control_path);
}

/* Adds an area of @bytes. Return: its number; -errno. @fd: the file, to be closed by the caller. */
static int add_area(uint64_t bytes, int *fd)
{
	uint32_t nr = tap_control->areas_nr;
	uint64_t offset = file_bytes;
	int ret;

	if (nr >= TAP_CONTROL_AREAS)
		return -ENOSPC;
	*fd = open_file();
	if (*fd < 0)
		return *fd;
	ret = fill_hole(*fd, TAP_CONTROL_PAGE + nr * sizeof(struct tap_area), sizeof(struct tap_area));
	ret = ret ? ret : grow(*fd, page_up(bytes));
	if (ret) {
		close(*fd);
		return ret;
	}
	areas()[nr] = (struct tap_area){ .offset = offset, .size = page_up(bytes) };
	return (int)nr;
}

static void publish(uint32_t nr, enum tap_area_kind kind)
{
	__atomic_store_n(&areas()[nr].kind, kind, __ATOMIC_RELEASE);
	if (nr == tap_control->areas_nr)
		__atomic_store_n(&tap_control->areas_nr, nr + 1, __ATOMIC_RELEASE);
}

void *tap_control_add_ring(uint64_t bytes, unsigned int cpu, bool atomic, uint64_t subs_offset,
			   uint64_t subs_bytes)
{
	int fd, nr = tap_control ? add_area(bytes, &fd) : -ENOENT;
	void *p;

	if (nr < 0) {
		errno = -nr;
		return MAP_FAILED;
	}
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)areas()[nr].offset);
	close(fd);
	if (p == MAP_FAILED)
		return p;
	madvise(p, bytes, MADV_DONTFORK);
	*(struct tap_ring_head *)p = (struct tap_ring_head){ .bytes = subs_bytes,
							     .subs_offset = subs_offset };
	areas()[nr].nr = cpu;
	areas()[nr].atomic = atomic;
	publish((uint32_t)nr, TAP_AREA_RING);
	return p;
}

/* ---- objects --------------------------------------------------------------------------------- */

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

/* Maps the first @bytes at @at, or anywhere. */
static void *map_area(const struct tap_area *a, size_t bytes, void *at)
{
	int fd = open_file();
	void *p;

	if (fd < 0)
		return MAP_FAILED;
	p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
		 (off_t)a->offset);
	close(fd);
	return p;
}

/* Its words may be anything: others have written to them. */
static bool has_texts(const struct tap_area *a, const struct tap_text *t, size_t words_bytes)
{
	char *p = map_area(a, t->len, NULL);
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
		const struct tap_area *a = &areas()[i];

		if (a->kind == TAP_AREA_OBJECT && a->gone && a->nr == nr_words &&
		    a->size == page_up(t->len) && has_texts(a, t, nr_words * sizeof(struct tap_word)))
			return (int)i;
	}
	return -ENOENT;
}

static int new_area(const struct tap_text *t, const struct tap_object *object)
{
	static uint32_t next_id = TAP_ID_FIRST;
	int fd, nr = t->failed ? -ENOMEM : add_area(t->len, &fd);
	struct tap_area *a;

	if (nr < 0)
		return nr;
	a = &areas()[nr];
	if (next_id + nr_events(object) > UINT16_MAX ||
	    pwrite(fd, t->data, t->len, (off_t)a->offset) != (ssize_t)t->len) {
		close(fd);
		return -ENOSPC;
	}
	close(fd);
	a->nr = nr_events(object);
	a->first_id = next_id;
	next_id += nr_events(object);
	publish((uint32_t)nr, TAP_AREA_OBJECT);
	return nr;
}

static void use_area(struct tap_object *object, uint32_t nr)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end; call++) {
		uint32_t *word = (uint32_t *)object->area + word_of(object, call);

		(*call)->id = (uint16_t)(areas()[nr].first_id + (call - object->events));
		__atomic_store_n(&(*call)->tp->on, word, __ATOMIC_RELEASE);
	}
	tap_note_state(object);
	__atomic_store_n(&areas()[nr].gone, 0, __ATOMIC_RELEASE);
}

/* @at: where the parent's words were, in a child. */
static int put_object(struct tap_object *object, void *at)
{
	struct tap_text t = { 0 };
	size_t bytes = page_up(nr_events(object) * sizeof(struct tap_word));
	int nr;
	void *p;

	object_texts(&t, object);
	nr = t.failed ? -ENOMEM : find_gone(&t, nr_events(object));
	if (nr == -ENOENT)
		nr = new_area(&t, object);
	tap_text_release(&t);
	if (nr < 0)
		return nr;
	p = map_area(&areas()[nr], bytes, at);
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
	uintptr_t from = ((uintptr_t)start + page - 1) & ~(page - 1), to = (uintptr_t)end & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static void get_folder(char folder[PATH_MAX])
{
	strcpy(folder, tap_control_path);
	*strrchr(folder, '/') = '\0';
}

static void wish(const struct tap_object *object)
{
	char folder[PATH_MAX];

	get_folder(folder);
	tap_wish_sessions(object, folder);
}

void tap_control_add_object(struct tap_object *object)
{
	int ret;

	object->area = NULL;
	if (!tap_control || !nr_events(object))
		return;
	ret = put_object(object, NULL);
	give_back(object->texts, object->texts_end);
	give_back(object->code, object->code_end);
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

void tap_control_remove_object(struct tap_object *object)
{
	struct tap_word *words = object->area;

	for_each_module_tracepoint(leave_area, object, NULL);
	if (!words)
		return;
	if (tap_control)
		__atomic_store_n(&areas()[object->area_nr].gone, 1, __ATOMIC_RELEASE);
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
void tap_control_detach(void)
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

void tap_control_child(void)
{
	struct tap_control parent;
	char folder[PATH_MAX];
	int ret;

	tap_process->known = 1;
	tap_control_detach();
	if (!tap_control)
		return;
	parent = *tap_control;
	get_folder(folder);
	ret = make_file(folder, &parent);
	if (ret) {
		tap_control = NULL;
		give_up(ret);
	}
	for (struct tap_object *o = tap_objects; o; o = o->next) {
		if (tap_control && o->area && !put_object(o, o->area))
			wish(o);
		else
			tap_note_state(o);
		tap_look_at_object(o);
	}
}
