// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/html_file.h"

#include <errno.h>

#define MEM_LEVEL 8 /* zlib's default; larger blocks mix columns with different statistics */

/* clang-format off */
#define EMBED(name, file)                                                                          \
	__asm__(".section .rodata." #name ",\"a\"\n"                                              \
		#name "_start:\n"                                                                  \
		".incbin \"" file "\"\n"                                                           \
		#name "_end:\n"                                                                    \
		".previous\n");                                                                    \
	extern const char name##_start[] __attribute__((visibility("hidden")));                    \
	extern const char name##_end[] __attribute__((visibility("hidden")))
/* clang-format on */

EMBED(tap_html_page, TAP_HTML_PAGES "/page.html");
EMBED(tap_html_beside, TAP_HTML_PAGES "/beside.html");

/* ---- the page ---- */

/* Return: the address of the marker in [@from, @to), or @to; @after is set to the address after it.
 */
static const char *find_marker(const char *from, const char *to, const char *marker,
			       const char **after)
{
	const char *at = memmem(from, (size_t)(to - from), marker, strlen(marker));

	*after = at ? at + strlen(marker) : to;
	return at ?: to;
}

static const char *find_slot(enum tap_html_slot slot, const char **after)
{
	static const char *const names[TAP_HTML_END] = {
		[TAP_HTML_CONNECT] = "@CONNECT@",
		[TAP_HTML_HEAD] = "@HEAD@",
		[TAP_HTML_REPORTS] = "@REPORTS@",
		[TAP_HTML_PARTS] = "@PARTS@",
	};

	if (slot == TAP_HTML_END)
		return *after = tap_html_page_end;
	return find_marker(tap_html_page_start, tap_html_page_end, names[slot], after);
}

void tap_html_put_until(struct tap_buf *out, enum tap_html_slot slot)
{
	const char *from = tap_html_page_start, *after, *to = find_slot(slot, &after);

	if (slot > TAP_HTML_CONNECT)
		find_slot(slot - 1, &from);
	tap_buf_add(out, from, (size_t)(to - from));
}

void tap_html_put_beside(struct tap_buf *out, bool before)
{
	const char *after,
		*slot = find_marker(tap_html_beside_start, tap_html_beside_end, "@PAGES@", &after);

	if (before)
		tap_buf_add(out, tap_html_beside_start, (size_t)(slot - tap_html_beside_start));
	else
		tap_buf_add(out, after, (size_t)(tap_html_beside_end - after));
}

void tap_html_put_attribute(struct tap_buf *out, const char *text, size_t len)
{
	for (size_t i = 0, plain; i < len; i += plain) {
		for (plain = 0; i + plain < len && !strchr("&\"<", text[i + plain]);)
			plain++;
		tap_buf_add(out, text + i, plain);
		if (i + plain == len)
			break;
		tap_buf_printf(out, "&#%d;", text[i + plain++]);
	}
}

void tap_html_put_json(struct tap_buf *out, const char *json, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (json[i] == '<')
			tap_buf_puts(out, "\\u003c");
		else
			tap_buf_char(out, json[i]);
	}
}

/* ---- data ---- */

static void put_three(struct tap_html_packer *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint32_t bits = (uint32_t)p->left[0] << 16 | (uint32_t)p->left[1] << 8 | p->left[2];
	char text[4] = "====";

	for (unsigned int i = 0; i <= p->nr_left; i++)
		text[i] = digits[bits >> (18 - 6 * i) & 63];
	tap_buf_add(p->out, text, sizeof(text));
	memset(p->left, 0, sizeof(p->left));
	p->nr_left = 0;
}

static void put_base64(struct tap_html_packer *p, const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		p->left[p->nr_left++] = data[i];
		if (p->nr_left == sizeof(p->left))
			put_three(p);
	}
}

static void deflate_all(struct tap_html_packer *p, int flush)
{
	unsigned char bytes[16 << 10];

	do {
		p->z.next_out = bytes;
		p->z.avail_out = sizeof(bytes);
		deflate(&p->z, flush);
		put_base64(p, bytes, sizeof(bytes) - p->z.avail_out);
	} while (!p->z.avail_out);
}

int tap_html_packer_begin(struct tap_html_packer *p, struct tap_buf *out)
{
	*p = (struct tap_html_packer){ .out = out };
	/* the best level saves half a percent and takes eight times as long */
	p->is_open = deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MEM_LEVEL,
				  Z_DEFAULT_STRATEGY) == Z_OK;
	return p->is_open ? 0 : -ENOMEM;
}

void tap_html_packer_add(struct tap_html_packer *p, const void *data, size_t len)
{
	p->z.next_in = (unsigned char *)data;
	p->z.avail_in = (uInt)len; /* len is at most TAP_BUF_MAX */
	deflate_all(p, Z_NO_FLUSH);
}

void tap_html_packer_end(struct tap_html_packer *p)
{
	if (!p->is_open)
		return;
	deflate_all(p, Z_FINISH);
	if (p->nr_left)
		put_three(p);
	deflateEnd(&p->z);
	p->is_open = false;
}
