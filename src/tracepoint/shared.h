/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control file: what a program with tracepoints and those who control it share. It is memory
 * (memfd_create(2)) that cannot become smaller, made by the program and mapped by it piece by piece
 * (control.c); a link to the program's descriptor, /proc/PID/fd/N, leads others there. They read it
 * with pread() and write it byte by byte with pwrite(), for the other side may be hostile.
 *
 *   struct tap_control          one page
 *   struct tap_area[]           what follows, in the order in which it was added
 *   areas, page-aligned:
 *     objects   the events of the program or of a library: a word per event; on new pages texts
 *     rings     a CPU's ring: struct tap_ring_head, struct tap_ring_page[], sub-buffers
 *
 * Numbers are in the machine's byte order; offsets count from the start of the file. All of it is
 * to be distrusted by who reads it.
 */
#ifndef TAP_TRACEPOINT_SHARED_H
#define TAP_TRACEPOINT_SHARED_H

#include <stdint.h>

#define TAP_CONTROL_MAGIC 0x6c72746370617401ull
/*
 * What is added stands at the end of a struct, and makes a new version. Each side takes what it
 * knows: 0 where the other one is older and wrote less. min_version is for changes that are none of
 * these.
 */
#define TAP_CONTROL_VERSION 4u
#define TAP_CONTROL_MIN_VERSION 1u
#define TAP_CONTROL_PAGE 4096u
#define TAP_CONTROL_AREAS 2048u /* at most: 64 bytes each, behind the first page */
#define TAP_CONTROL_HEAD (TAP_CONTROL_PAGE + TAP_CONTROL_AREAS * 64u)
#define TAP_CONTROL_MAPPED                                                                         \
	(TAP_CONTROL_HEAD + (128u << 10)) /* by the program as one, from the start */
#define TAP_CONTROL_MAX_BYTES (1ull << 36) /* areas; filters follow */

#define TAP_INITIAL_PID_NS                                                                         \
	0xeffffffcu /* inode of its file: PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define TAP_SESSION_SOCKET ".socket" /* behind the name of a session file */

/*
 * A session file may have a line "session ID". Since version 4, a program that a session selects
 *makes an entry before it switches its events on and sends its control file: a symbolic link, of
 *which only the name counts, in the folder of the link to its control file.
 *
 *   book-ID-PID-PIDNS-MADE-COMM	ID: the session's; the others as in struct tap_control,
 *numbers in hexadecimal, in COMM
 *				'!' for '/'
 *
 * The recorder removes the entries of the programs that it has recorded. A program whose entry is
 *left was not recorded.
 */
#define TAP_BOOK "book-"
#define TAP_BOOK_TARGET "-"
#define TAP_BOOK_ID_MAX 40u /* bytes of an ID, with its NUL: hexadecimal digits and dots */
#define TAP_BOOK_NAME 128u /* bytes of an entry's name, with its NUL */

enum tap_area_kind { TAP_AREA_NONE, TAP_AREA_OBJECT, TAP_AREA_RING };

struct tap_area {
	uint64_t offset, size; /* bytes; offset is a multiple of the page size */
	uint32_t kind; /* written last: 0 until the rest holds */
	uint32_t nr; /* objects: events; rings: the CPU */
	uint32_t gone; /* objects: 1: unloaded. rings: not used */
	uint32_t first_id; /* objects: common_type of the first event; the others follow */
	uint32_t atomic; /* rings: 1: records become real one by one (ring.c) */
	uint32_t texts; /* objects: where they begin in the area: bytes */
	uint32_t filters; /* objects: 1: its events take filters (since version 3) */
	uint32_t pad2;
	uint64_t pad[2];
};

enum tap_clock_kind {
	TAP_CLOCK_MONO, /* CLOCK_MONOTONIC, ns */
	TAP_CLOCK_CYCLES, /* the CPU's counter: TSC, CNTVCT_EL0 */
};

enum tap_ring_mode {
	TAP_RING_OVERWRITE, /* the oldest goes: nobody reads while the program runs */
	TAP_RING_DISCARD, /* the newest goes: a recorder drains it */
};

/* What a recorder says when it has looked at a program. Before version 4, all but 0 means
 * TAP_RECORDING_ALL. */
enum tap_recording {
	TAP_RECORDING_NOT,
	TAP_RECORDING_ALL, /* it has switched on what it wants */
	TAP_RECORDING_NONE, /* it cannot record any event that it wants, */
	TAP_RECORDING_SOME, /* or not all of them */
};

/* Of a program that has a recorder of its own, and has forked. */
enum tap_ending {
	TAP_ENDING_NOT,
	TAP_ENDING_NOW, /* it waits for the end of its recorder, */
	TAP_ENDING_CHILDREN, /* which says that it stays for children */
};

struct tap_control {
	uint64_t magic;
	uint32_t version, min_version; /* of the writer; of the oldest reader that understands it */
	uint32_t head_bytes; /* of this */
	uint32_t pid;
	uint64_t made_ns; /* CLOCK_BOOTTIME: a process that started later is another one */
	/* inode of /proc/PID/ns/pid: in another namespace the pid means nothing */
	uint64_t pid_ns;
	uint32_t clock; /* enum tap_clock_kind, of the rings that there are */
	uint32_t areas_nr; /* grows; read it before the areas */
	uint32_t wake; /* futex of programs with patched sites: woken by controllers, after they
			* have moved its first byte */
	uint32_t has_thread; /* 1: such a program: wake it after a change */
	uint32_t ringless; /* 1 after a ring could not be made */
	/* written by controllers, one byte each */
	/* enum tap_ring_mode, of rings made from now on and of those there are */
	uint8_t mode;
	uint8_t ring_shift; /* log2 of the bytes of a ring's sub-buffers; 0: the default */
	uint8_t recording; /* enum tap_recording */
	uint8_t use_clock; /* enum tap_clock_kind, of the first ring and so of all */
	uint8_t drained; /* moved by the recorder when it has found something new */
	uint8_t pad[7];
	uint64_t cut; /* events whose texts were cut */
	/* events for which there was no ring, or whose arrays were too long */
	uint64_t lost;
	uint64_t end; /* of what areas have taken of the file: bytes */
	/* the thread that makes a ring, of this process or of a child that shares the file */
	uint32_t making;
	uint32_t pad2;
	char comm[16]; /* the program's name when it started */
	char reason[256]; /* why events are off or rings are missing; "": nothing failed */
	/* since version 2 */
	/* made_ns of the file of the process that this one was forked from; 0: none */
	uint64_t parent_ns;
	uint8_t forked; /* 1 after a fork: a child may have the file mapped */
	uint8_t shared; /* 1: a child has no file of its own, and records into this one */
	uint8_t ending; /* enum tap_ending */
	uint8_t pad3[5];
};

/*
 * An event's word, tested at its site: not zero while somebody wants the event. The controller
 * writes `wanted`; the program makes `applied` equal to it when it next passes the site.
 */
struct tap_word {
	uint8_t wanted; /* by a controller: a bit for each event made of the tracepoint */
	uint8_t applied; /* by the program: which of them have their probes registered */
	uint8_t probes; /* by the program: 1 while other probes are */
	/* by a controller: 1: there are others; by the program: 0 before it reads them */
	uint8_t filters;
};

#define TAP_WORD_CHILD 0x80 /* in applied, of a child that has no file yet: it has to look */

/*
 * An object's area: nr words; from its texts on, per event, each beginning at a multiple of 8
 * bytes: u32 bytes of all three texts with their NULs, u32 place, system NUL, name NUL, format text
 * NUL Place: which word is the event's (most often the event's own number), and above that its bit
 * there: two events can be made of one tracepoint. The format text is as the kernel's file has it,
 * with "ID: 0".
 */
#define TAP_WORD_BIT_SHIFT 24

/*
 * An event's filter has a place in the file for each common_type, behind all areas: only what is
 * written there is memory. Who holds the file's lock writes it, last of all .stamp, and then struct
 * tap_word.filters; the program copies it and looks whether the stamp is still the same. {0} is no
 * filter.
 */
struct tap_filter_slot {
	uint32_t stamp; /* another one for each filter; 0: there is none, or it is being written */
	uint32_t bytes; /* of the list of steps (steps.h), at TAP_FILTER_STEPS */
	/* of the text, at TAP_FILTER_TEXT: for who reads it, the program does not */
	uint32_t len;
	uint32_t pad;
};

#define TAP_FILTER_TEXT ((uint32_t)sizeof(struct tap_filter_slot))
#define TAP_FILTER_TEXT_MAX 4000u
#define TAP_FILTER_STEPS 4096u
#define TAP_FILTER_SLOT 65536u /* bytes */
#define TAP_CONTROL_FILTERS_END (TAP_CONTROL_MAX_BYTES + 65536ull * TAP_FILTER_SLOT)

static inline uint64_t tap_filter_slot_at(uint16_t id)
{
	return TAP_CONTROL_MAX_BYTES + (uint64_t)id * TAP_FILTER_SLOT;
}

#define TAP_SUB_BYTES 16384u /* a sub-buffer: header, then records */
#define TAP_SUB_HEADER 16u /* u64 time stamp, u64 commit: bytes used, and events << 32 */
#define TAP_RING_SHIFT_MIN 16u /* 4 sub-buffers */
#define TAP_RING_SHIFT_MAX 30u
#define TAP_RING_SHIFT 20u /* the default: 1 MiB */
#define TAP_RING_PAGE 4096u

/*
 * Positions count bytes from the ring's beginning and never wrap: a sub-buffer is position /
 * TAP_SUB_BYTES modulo their number. A position at a multiple of TAP_SUB_BYTES means that the
 * next sub-buffer is yet to be taken.
 */
struct tap_ring_head {
	uint64_t head; /* what is before it is taken, and (unless atomic) whole */
	uint64_t bytes; /* of all sub-buffers: a power of two */
	uint64_t subs_offset; /* from the area's start */
	/* events discarded, ever; in the stream up to the last sub-buffer's start */
	uint64_t lost;
	uint64_t lost_first, lost_last; /* stamps; of what is not yet in the stream. 0: none */
	uint64_t claim; /* of atomic rings: the program's own */
	uint64_t pad;
};

/*
 * One word per sub-buffer follows the head: first byte 1: taken,
 * not yet drained. A reader writes that byte: 0. The others are the program's own.
 */
#define TAP_RING_STATES (sizeof(struct tap_ring_head))

/*
 * A record: absolute stamp (ftrace's type 31), then an event in the long form. All of it a
 * multiple of 8 bytes. The payload follows: common fields, fields, dynamic data. In atomic rings a
 * head with ftrace's type 29 in its first word says that the rest of the sub-buffer is empty.
 */
struct tap_record_head {
	uint32_t stamp_low; /* stamp << 5 | 31: bits 0..26 */
	uint32_t stamp_high; /* bits 27..58 */
	uint32_t word; /* type_len 0, delta 0 */
	uint32_t length; /* of the payload and of this word: bytes */
};

#define TAP_STAMP_BITS 59
#define TAP_RECORD_MAX 4032u /* bytes of payload: it must fit a 4096-byte page of trace.dat */

/* common_type of the record at the start of each sub-buffer; events count from TAP_ID_FIRST. */
#define TAP_ID_SUB 1u
#define TAP_ID_FIRST 16u

struct tap_sub_info {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t tid;
	uint64_t mono_ns; /* CLOCK_MONOTONIC at this record's stamp */
	uint64_t events; /* in all sub-buffers before this one; atomic: in this one, before */
	uint64_t lost; /* discarded, ever, before this one */
	/* stamps of what was discarded since the one before; 0: none */
	uint64_t lost_first, lost_last;
};

#endif
