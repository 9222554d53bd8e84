/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a stack. Of a record of ours its text has them, "\n => NAME" for each; of ftrace's
 * the recording's kallsyms name the addresses, and what they do not name is in hex.
 */
#ifndef TAP_ANALYSIS_FRAMES_H
#define TAP_ANALYSIS_FRAMES_H

#include <schedtap/reader.h>

#include "base/buf.h"
#include "base/map.h"
#include "event/span.h"

#define TAP_MAX_FRAMES 127u

enum tap_frames_of { TAP_FRAMES_NONE, TAP_FRAMES_KERNEL, TAP_FRAMES_USER };

/* What records of this kind are: TAP_FRAMES_NONE: no stacks. */
enum tap_frames_of tap_frames_kind(const struct tap_format *fmt);

struct tap_symbols;

/* All zero but for .info: nothing was read yet. */
struct tap_frames {
	const struct tap_reader_info *info; /* of the recording; borrowed, or NULL */
	/* Of the last record that was read, innermost first; what lies beyond is left out. None of
	 * them is empty, or has a newline in it. */
	struct span names[TAP_MAX_FRAMES];
	unsigned int nr;

	/* inside */
	struct tap_symbols *symbols; /* made with the first record that needs them */
	struct tap_map by_format; /* -> struct reading *, owned */
	struct tap_buf text;
};

/* @ev: of a kind that is a stack. .names: until the next one is read. Return: 0 or -ENOMEM. */
int tap_frames_read(struct tap_frames *f, const struct tap_event *ev);
void tap_frames_release(struct tap_frames *f);

#endif
