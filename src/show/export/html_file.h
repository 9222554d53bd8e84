/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The HTML page around the data (docs/internals/html.md): its template with slots, and the encoding
 * of data in it.
 */
#ifndef TAP_EXPORT_HTML_FILE_H
#define TAP_EXPORT_HTML_FILE_H

#include <zlib.h>

#include "base/buf.h"

/* Slots of the template, in their order. */
enum tap_html_slot {
	TAP_HTML_CONNECT,
	TAP_HTML_HEAD,
	TAP_HTML_REPORTS,
	TAP_HTML_PARTS,
	TAP_HTML_END
};
/* For TAP_HTML_CONNECT: lets the page send requests to its own server. */
#define TAP_HTML_CONNECT_SELF "connect-src 'self'; "

/* Append the template's text between the previous slot and @slot. */
void tap_html_put_until(struct tap_buf *out, enum tap_html_slot slot);
/* Append the text around the pages of several machines: the part before them, or after them. */
void tap_html_put_beside(struct tap_buf *out, bool before);
/* Append a text as the value of an attribute, between quotation marks. */
void tap_html_put_attribute(struct tap_buf *out, const char *text, size_t len);
/* Append JSON, escaped so that it cannot end the script element that contains it. */
void tap_html_put_json(struct tap_buf *out, const char *json, size_t len);

/* Encoder of data in the page: raw deflate, then base64. */
struct tap_html_packer { /* all zero: not begun */
	struct tap_buf *out;
	z_stream z;
	bool is_open;
	unsigned char left[3]; /* bytes that do not yet form a group of three for base64 */
	unsigned int nr_left;
};

/* Begin to encode into @out. Return: 0 or -ENOMEM. End it in either case. */
int tap_html_packer_begin(struct tap_html_packer *p, struct tap_buf *out);
void tap_html_packer_add(struct tap_html_packer *p, const void *data, size_t len);
void tap_html_packer_end(struct tap_html_packer *p);

#endif
