// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/sieve.h"

#include <errno.h>
#include <stdlib.h>

#include "event/span.h"
#include "file/cursor.h"

/* limit of a filter file, a page on any machine, minus space for -c */
#define KERNEL_MAX_BYTES 4000u

/*
 * Return: the first "&&" outside of parentheses and quotes, or the end of the text; NULL: there is
 * a "||" before it.
 */
static const char *end_of_part(const char *s)
{
	unsigned int parens = 0;

	for (; *s && (parens || strncmp(s, "&&", 2)); s++) {
		if (!parens && !strncmp(s, "||", 2))
			return NULL;
		if (*s == '"' || *s == '\'')
			s = strchr(s + 1, *s); /* the filter was parsed, so there is one */
		parens += (*s == '(') - (*s == ')');
	}
	return s;
}

static int check_rest(const struct tap_filter *f, const char *part, struct tap_err *err)
{
	if (f->nr_pasts)
		return tap_err_set(err, -EINVAL,
				   "-f: '%.200s' of %s:%s: changed() and moved() do not work over "
				   "tracefs: use -b bpf, or filter when reading the recording",
				   part, f->fmt->system, f->fmt->name);
	if (tap_filter_wants_comm(f))
		return tap_err_set(
			err, -EINVAL,
			"-f: '%.200s' of %s:%s: only the kernel can filter by COMM, but it cannot "
			"evaluate the other terms: join COMM and the other terms with '&&'",
			part, f->fmt->system, f->fmt->name);
	return 0;
}

/* A part with "||" outside of parentheses is always the only one, so no parentheses are needed. */
static void join_part(struct tap_buf *to, const char *part)
{
	tap_buf_printf(to, "%s%s", to->len ? " && " : "", part);
}

static int add_part(const struct tap_format *fmt, const char *part, struct tap_buf *kernel,
		    struct tap_buf *rest, struct tap_err *err)
{
	struct tap_buf text = { 0 };
	struct tap_filter *f;
	int ret = tap_filter_new(fmt, part, &f, err);

	if (ret)
		return ret;
	ret = tap_filter_kernel_text(f, part, &text);
	if (ret == -EOPNOTSUPP || kernel->len + text.len > KERNEL_MAX_BYTES) {
		ret = check_rest(f, part, err);
		join_part(rest, part);
	} else if (!ret) {
		join_part(kernel, tap_buf_str(&text));
	}
	tap_filter_free(f);
	tap_buf_release(&text);
	return ret ?: kernel->err ?: rest->err;
}

/* Return: whether the filter has an outermost "||" and so cannot be split. */
static bool is_whole(const char *filter)
{
	const char *end = end_of_part(filter);

	while (end && *end)
		end = end_of_part(end + 2);
	return !end;
}

static int add_parts(const struct tap_format *fmt, const char *filter, struct tap_buf *kernel,
		     struct tap_buf *rest, struct tap_err *err)
{
	bool whole = is_whole(filter);
	const char *at = filter, *end;
	int ret;

	do {
		struct span s;
		char *part;

		end = whole ? at + strlen(at) : end_of_part(at);
		s = trim((struct span){ at, (size_t)(end - at) });
		part = strndup(s.s, s.len);
		ret = part ? add_part(fmt, part, kernel, rest, err) : -ENOMEM;
		free(part);
		at = end + 2;
	} while (!ret && *end);
	return ret == -ENOMEM ? tap_err_nomem(err) : ret;
}

int tap_sieve_split(const struct tap_format *fmt, const char *filter, struct tap_buf *kernel,
		    struct tap_buf *rest, struct tap_err *err)
{
	struct tap_filter *f;
	/* parsed as a whole, so that an error message shows the whole filter */
	int ret = tap_filter_new(fmt, filter, &f, err);

	tap_filter_free(f);
	return ret ?: add_parts(fmt, filter, kernel, rest, err);
}

int tap_sieve_add(struct tap_sieve *s, struct tap_format *fmt, const char *rest,
		  struct tap_err *err)
{
	struct tap_filter *f = NULL;
	int ret = tap_filter_new(fmt, rest, &f, err);

	if (!ret && tap_map_set(&s->by_id, fmt->id, (uintptr_t)f))
		ret = tap_err_nomem(err);
	if (ret) {
		tap_filter_free(f);
		tap_format_free(fmt);
	}
	return ret;
}

void tap_sieve_release(struct tap_sieve *s)
{
	tap_map_for_each(&s->by_id, slot) {
		struct tap_filter *f = (struct tap_filter *)(uintptr_t)slot->value;

		tap_format_free((struct tap_format *)f->fmt);
		tap_filter_free(f);
	}
	tap_map_release(&s->by_id);
}

static bool fits_filter(const struct tap_sieve *s, const struct tap_cursor *c, int cpu)
{
	const struct tap_filter_about about = { .cpu = cpu };
	const uint64_t *f;
	uint16_t id;

	memcpy(&id, c->rec, sizeof(id));
	f = tap_map_get(&s->by_id, id);
	if (!f || c->size < ((const struct tap_filter *)(uintptr_t)*f)->fmt->min_size)
		return true;
	return tap_filter_match((const struct tap_filter *)(uintptr_t)*f, c->rec, c->size, &about);
}

/*
 * There is always enough space: a time stamp takes at most as much as the rejected records before
 * it.
 */
static void put_record(struct tap_page *to, const struct tap_cursor *c)
{
	unsigned char *at = tap_page_add(to, c->ts, c->size);

	memcpy(at, c->rec, c->size);
}

uint32_t tap_sieve_page(const struct tap_sieve *s, const unsigned char *from, unsigned char *to,
			uint32_t size, int cpu, uint32_t *left)
{
	const struct tap_page_abi abi = {
		.page_size = size,
		.data_offset = TAP_PAGE_HEADER,
		.commit_size = sizeof(uint64_t),
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};
	enum tap_step step = TAP_STEP_DAMAGE;
	struct tap_cursor c = { 0 };
	struct tap_page_head head;
	struct tap_page page;
	uint32_t rejected = 0;
	uint64_t commit;

	*left = 0;
	if (tap_page_parse(&abi, from, &head)) {
		tap_cursor_open(&c, &abi, from, &head, 0);
		tap_page_begin(&page, to, head.stamp);
		page.room = size - TAP_PAGE_HEADER;
		while ((step = tap_cursor_step(&c)) == TAP_STEP_EVENT) {
			if (fits_filter(s, &c, cpu)) {
				put_record(&page, &c);
				++*left;
			} else {
				rejected++;
			}
		}
	}
	if (step == TAP_STEP_DAMAGE) {
		memcpy(to, from, size);
		*left = 1;
		return 0;
	}
	tap_page_end(&page, head.missed_cnt);
	if (head.missed) {
		memcpy(&commit, to + sizeof(uint64_t), sizeof(commit));
		commit |= TAP_PAGE_MISSED;
		memcpy(to + sizeof(uint64_t), &commit, sizeof(commit));
		*left += !*left;
	}
	return rejected;
}
