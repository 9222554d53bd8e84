/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function names in a stack record. A record of schedtap contains them as text, "\n => NAME"
 * per frame. A record of ftrace contains addresses: kernel addresses are looked up in the
 * recording's kallsyms, and addresses without a symbol are shown in hex.
 */
#ifndef TAP_ANALYSIS_FRAMES_H
#define TAP_ANALYSIS_FRAMES_H

#include <schedtap/reader.h>

#include "base/buf.h"
#include "base/map.h"
#include "event/span.h"

#define TAP_MAX_FRAMES 127u

enum tap_frames_of { TAP_FRAMES_NONE, TAP_FRAMES_KERNEL, TAP_FRAMES_USER };

/* Return TAP_FRAMES_NONE if records of this format are not stacks. */
enum tap_frames_of tap_frames_kind(const struct tap_format *fmt);

struct tap_symbols;

/* All zero except .info: no record was read yet. */
struct tap_frames {
	const struct tap_reader_info *info; /* the recording's; borrowed, or NULL */
	/*
	 * Frames of the record that was read last, innermost first, at most TAP_MAX_FRAMES. No name
	 * is empty or contains a newline.
	 */
	struct span names[TAP_MAX_FRAMES];
	unsigned int nr;

	/* private */
	struct tap_symbols *symbols; /* made for the first record */
	struct tap_map by_format; /* -> struct tap_printer *, owned */
	struct tap_buf text;
};

/* @ev: its format must be a stack. .names are valid until the next call. Return: 0 or -ENOMEM. */
int tap_frames_read(struct tap_frames *f, const struct tap_event *ev);
void tap_frames_release(struct tap_frames *f);

#endif
