/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control file: memory shared between a program with tracepoints and its controllers
 * (recorders). It is a memfd_create(2) file that cannot shrink; the program creates it and maps it
 * piece by piece (control.c). A link to the program's descriptor, /proc/PID/fd/N, leads controllers
 * there. They read it with pread() and write it byte by byte with pwrite(), because the other side
 * may be hostile.
 *
 *   struct tap_control          one page
 *   struct tap_area[]           table of the areas below, in the order in which they were added
 *   areas, page-aligned:
 *     objects   events of the program or of a library: a word per event; on further pages texts
 *     rings     a CPU's ring: struct tap_ring_head, states of sub-buffers, sub-buffers
 *
 * Numbers are in the machine's byte order; offsets count from the start of the file. A reader must
 * not trust any of the contents.
 */
#ifndef TAP_TRACEPOINT_SHARED_H
#define TAP_TRACEPOINT_SHARED_H

#include <stdint.h>

#define TAP_CONTROL_MAGIC 0x6c72746370617401ull
/*
 * Versions of the layout. New members are added at the end of a struct, which makes a new version.
 * Each side uses the members that it knows; one that an older side did not write is 0. A change
 * that an older reader would misinterpret increments min_version.
 */
#define TAP_CONTROL_VERSION 4u
#define TAP_CONTROL_MIN_VERSION 1u
#define TAP_CONTROL_PAGE 4096u
#define TAP_CONTROL_AREAS 2048u /* maximum number of areas, 64 bytes each, after the first page */
#define TAP_CONTROL_HEAD (TAP_CONTROL_PAGE + TAP_CONTROL_AREAS * 64u)
/* bytes that the program maps at the start */
#define TAP_CONTROL_MAPPED (TAP_CONTROL_HEAD + (128u << 10))
#define TAP_CONTROL_MAX_BYTES (1ull << 36) /* maximum bytes of the areas' part; filters follow */

/* inode of /proc/PID/ns/pid: PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define TAP_INITIAL_PID_NS 0xeffffffcu
#define TAP_SESSION_SOCKET ".socket" /* appended to the name of a session file */

/*
 * A session file may have a line "session ID". Since version 4, a program that such a session
 * selects creates an entry before it switches events on and sends its control file: a symbolic link
 * in the folder of the link to its control file. Only the link's name matters:
 *
 *   book-ID-PID-PIDNS-MADE-COMM
 *
 * ID is the session's; the others are as in struct tap_control: numbers in hexadecimal, and COMM
 * with '!' for '/'.
 *
 * The recorder removes the entries of the programs that it has recorded. A program whose entry
 * remains was not recorded.
 */
#define TAP_BOOK "book-"
#define TAP_BOOK_TARGET "-"
#define TAP_BOOK_ID_MAX 40u /* bytes of an ID, with its NUL: hexadecimal digits and dots */
#define TAP_BOOK_NAME 128u /* bytes of an entry's name, with its NUL */

enum tap_area_kind { TAP_AREA_NONE, TAP_AREA_OBJECT, TAP_AREA_RING };

struct tap_area {
	uint64_t offset, size; /* bytes; offset is a multiple of the page size */
	uint32_t kind; /* enum tap_area_kind; written last: 0 until the other members are valid */
	uint32_t nr; /* objects: number of events; rings: the CPU */
	uint32_t gone; /* objects: 1: unloaded; not used for rings */
	/* objects: common_type of the first event; the other events have the next numbers */
	uint32_t first_id;
	/* rings: 1: written with atomic operations, records are completed one by one (ring.c) */
	uint32_t atomic;
	uint32_t texts; /* objects: offset of the texts in the area, in bytes */
	uint32_t filters; /* objects: 1: its events take filters (since version 3) */
	uint32_t pad2;
	uint64_t pad[2];
};

enum tap_clock_kind {
	TAP_CLOCK_MONO, /* CLOCK_MONOTONIC, ns */
	TAP_CLOCK_CYCLES, /* the CPU's counter: TSC, CNTVCT_EL0 */
};

enum tap_ring_mode {
	/* overwrite the oldest records: no recorder drains while the program runs */
	TAP_RING_OVERWRITE,
	TAP_RING_DISCARD, /* discard the newest records when full: a recorder drains the ring */
};

/*
 * State that a recorder reports to a program that it has looked at. Before version 4, any value but
 * 0 means TAP_RECORDING_ALL.
 */
enum tap_recording {
	TAP_RECORDING_NOT,
	TAP_RECORDING_ALL, /* all wanted events are on */
	TAP_RECORDING_NONE, /* no wanted event can be recorded */
	TAP_RECORDING_SOME, /* some wanted events cannot be recorded */
};

/* Handshake at the end of a program that started its own recorder and has forked. */
enum tap_ending {
	TAP_ENDING_NOT,
	TAP_ENDING_NOW, /* set by the program, which now waits until its recorder ends */
	TAP_ENDING_CHILDREN, /* set by the recorder: it stays to record children */
};

struct tap_control {
	uint64_t magic;
	/* the writer's version; the oldest reader's version that understands the file */
	uint32_t version, min_version;
	uint32_t head_bytes; /* size of this struct */
	uint32_t pid;
	/*
	 * CLOCK_BOOTTIME when the file was made; a process with this pid that started later is
	 * another one
	 */
	uint64_t made_ns;
	/* inode of /proc/PID/ns/pid: pid is only valid in this namespace */
	uint64_t pid_ns;
	uint32_t clock; /* enum tap_clock_kind of all rings; valid once a ring exists */
	uint32_t areas_nr; /* number of areas; only grows; read it before the areas */
	/* futex of a program with patched sites: controllers change its first byte, then wake it */
	uint32_t wake;
	uint32_t has_thread; /* 1: the program waits on `wake`: wake it after a change */
	uint32_t ringless; /* 1: creating a ring failed; no more are created */
	/* the next members are written by controllers, one byte each */
	/* enum tap_ring_mode of all rings, also of existing ones */
	uint8_t mode;
	uint8_t ring_shift; /* log2 of the bytes of a ring's sub-buffers; 0: the default */
	uint8_t recording; /* enum tap_recording */
	uint8_t use_clock; /* enum tap_clock_kind to use; read once, for the first ring */
	uint8_t drained; /* changed by the recorder each time it finds new data */
	uint8_t pad[7];
	uint64_t cut; /* number of events with a text that was cut */
	/*
	 * number of events lost because there was no ring for them, or because an array was too
	 * long
	 */
	uint64_t lost;
	uint64_t end; /* bytes of the file used up to the end of the last area */
	/*
	 * tid of the thread that is making a ring, in this process or in a child that shares the
	 * file; 0: none
	 */
	uint32_t making;
	uint32_t pad2;
	char comm[16]; /* the program's name when it started */
	char reason[256]; /* why events are off or rings are missing; "": no failure */
	/* the next members exist since version 2 */
	/* made_ns of the control file of the process that forked this one; 0: none */
	uint64_t parent_ns;
	uint8_t forked; /* 1 after a fork: a child may have the file mapped */
	uint8_t shared; /* 1: a child has no file of its own, and records into this one */
	uint8_t ending; /* enum tap_ending */
	uint8_t pad3[5];
};

/*
 * A tracepoint's word, which its sites test: not zero while the tracepoint has something to do. A
 * controller writes `wanted`; the program registers and unregisters probes when it next passes a
 * site, and then sets `applied` to the same value.
 */
struct tap_word {
	uint8_t wanted; /* by a controller: a bit per event of the tracepoint: it is to be on */
	uint8_t applied; /* by the program: a bit per event: its probe is registered */
	uint8_t probes; /* by the program: 1 while probes other than the events' are registered */
	/*
	 * set to 1 by a controller that has written other filters; to 0 by the program before it
	 * reads them
	 */
	uint8_t filters;
};

/* bit of `applied`, in a child without a file yet: makes the first site that is passed set it up */
#define TAP_WORD_CHILD 0x80

/*
 * Layout of an object's area: nr words. Then, at offset `texts`, for each event, at a multiple of 8
 * bytes: u32 size of its three texts in bytes with their NULs, u32 place, and the texts: system
 * NUL, name NUL, format NUL. Bits 0..23 of place are the index of the event's word, which is most
 * often the event's own index; the bits above are the event's bit in that word, because several
 * events can be made of one tracepoint. The format text is like that of the kernel's format file,
 * with "ID: 0".
 */
#define TAP_WORD_BIT_SHIFT 24

/*
 * Filter slots: one per common_type, after all areas. The file is sparse, so only slots that are
 * written take memory. A controller that holds the file's lock writes a slot, .stamp last, and then
 * sets struct tap_word.filters. The program copies the slot and then checks that .stamp has not
 * changed. {0} is no filter.
 */
struct tap_filter_slot {
	uint32_t stamp; /* different for each filter; 0: no filter, or it is being written */
	uint32_t bytes; /* size of the list of steps (steps.h) at TAP_FILTER_STEPS */
	/*
	 * size of the filter's text at TAP_FILTER_TEXT, which is for people; the program does not
	 * read it
	 */
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
/* u64 time stamp; u64 commit: bytes used, and number of events << 32 */
#define TAP_SUB_HEADER 16u
#define TAP_RING_SHIFT_MIN 16u /* 4 sub-buffers */
#define TAP_RING_SHIFT_MAX 30u
#define TAP_RING_SHIFT 20u /* the default: 1 MiB */
#define TAP_RING_PAGE 4096u

/*
 * Positions count bytes since the ring was made and never wrap: a position is in sub-buffer
 * position / TAP_SUB_BYTES modulo the number of sub-buffers. A position that is a multiple of
 * TAP_SUB_BYTES means that the next sub-buffer is not taken yet.
 */
struct tap_ring_head {
	/* position up to which space is taken; unless atomic, all records before it are complete */
	uint64_t head;
	uint64_t bytes; /* size of all sub-buffers: a power of two */
	uint64_t subs_offset; /* offset of the sub-buffers from the start of the area */
	/* events discarded so far; each sub-buffer's first record has the count at that time */
	uint64_t lost;
	/*
	 * stamps of the first and the last event discarded since the last sub-buffer was started;
	 * 0: none
	 */
	uint64_t lost_first, lost_last;
	uint64_t claim; /* atomic rings: used by the program only */
	uint64_t pad;
};

/*
 * One word per sub-buffer follows the head. Its first byte is 1 if the sub-buffer is taken and not
 * yet drained; a reader sets that byte to 0. The other bytes are used by the program only.
 */
#define TAP_RING_STATES (sizeof(struct tap_ring_head))

/*
 * A record: an absolute time stamp (ftrace's type 31), then an event in the long form. Its size is
 * a multiple of 8 bytes. The payload follows: common fields, fields, dynamic data. In atomic rings,
 * a head with ftrace's type 29 in its first word marks the rest of the sub-buffer as empty.
 */
struct tap_record_head {
	uint32_t stamp_low; /* stamp << 5 | 31, with bits 0..26 of the stamp */
	uint32_t stamp_high; /* bits 27..58 of the stamp */
	uint32_t word; /* type_len 0, delta 0 */
	uint32_t length; /* bytes of the payload and of this word */
};

#define TAP_STAMP_BITS 59
#define TAP_RECORD_MAX 4032u /* bytes of payload: must fit a 4096-byte page of trace.dat */

/*
 * TAP_ID_SUB: common_type of the record at the start of each sub-buffer. Events' types start at
 * TAP_ID_FIRST.
 */
#define TAP_ID_SUB 1u
#define TAP_ID_FIRST 16u

struct tap_sub_info {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t tid;
	uint64_t mono_ns; /* CLOCK_MONOTONIC at this record's stamp */
	/*
	 * events in all sub-buffers before this one; atomic rings: events that this sub-buffer held
	 * when it was used before, in total
	 */
	uint64_t events;
	uint64_t lost; /* events discarded before this record, in total */
	/*
	 * stamps of the first and the last event discarded since the record before this one; 0:
	 * none
	 */
	uint64_t lost_first, lost_last;
};

#endif
