/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page around the data (docs/internals/html.md): its text with places in it for these, and how
 * data stand in it. */
#ifndef TAP_EXPORT_HTML_FILE_H
#define TAP_EXPORT_HTML_FILE_H

#include <zlib.h>

#include "base/buf.h"

/* What is to be put into the page, in the order in which it comes. */
enum tap_html_slot {
	TAP_HTML_CONNECT,
	TAP_HTML_HEAD,
	TAP_HTML_REPORTS,
	TAP_HTML_PARTS,
	TAP_HTML_END
};
/* In TAP_HTML_CONNECT: requests of the page to where it came from are allowed. */
#define TAP_HTML_CONNECT_SELF "connect-src 'self'; "

/* Adds the text between the slot before @slot and it. */
void tap_html_put_until(struct tap_buf *out, enum tap_html_slot slot);
/* Adds JSON so that it cannot end the element that it stands in. */
void tap_html_put_json(struct tap_buf *out, const char *json, size_t len);

/* Data on their way into the page: compressed, then in base64. */
struct tap_html_packer { /* all zero: nothing was begun */
	struct tap_buf *out;
	z_stream z;
	bool is_open;
	unsigned char left[3]; /* bytes that are not in @out yet */
	unsigned int nr_left;
};

/* @out gets what comes of it. Return: 0 or -ENOMEM. End in either case. */
int tap_html_packer_begin(struct tap_html_packer *p, struct tap_buf *out);
void tap_html_packer_add(struct tap_html_packer *p, const void *data, size_t len);
void tap_html_packer_end(struct tap_html_packer *p);

#endif
