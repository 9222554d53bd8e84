/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random filters for an event. */
#ifndef TAP_TESTS_LIVE_RANDOM_FILTER_H
#define TAP_TESTS_LIVE_RANDOM_FILTER_H

#include <unistd.h>

#include "event/expr/kernel_glob.h"
#include "event/format.h"
#include "random.h"

struct record {
	int cpu;
	uint32_t size;
	unsigned char *bytes;
};

struct records { /* in order for each CPU */
	struct record *v;
	unsigned int nr, cap;
};

/* records of the first instance in the last round; values are taken from them */
static struct records seen;

static uint64_t random_number(const struct tap_field *f)
{
	uint64_t v = 0;

	if (f && seen.nr && !one_in(4)) {
		const struct record *r = &seen.v[random_below(seen.nr)];

		v = tap_field_u64(f, r->bytes, r->size);
	} else if (one_in(2)) {
		v = (uint64_t)1 << random_below(64);
	}
	return v + random_below(3) - 1;
}

static void add_number(struct tap_buf *out, const struct tap_field *f)
{
	uint64_t v = tap_fit(random_number(f), f ? f->size : 4, f ? f->is_signed : true);

	if ((!f || f->is_signed) && (int64_t)v < 0)
		tap_buf_printf(out, "%lld", (long long)v);
	else
		tap_buf_printf(out,
			       one_in(3)   ? "0x%llx"
			       : one_in(5) ? "0%llo"
					   : "%llu",
			       (unsigned long long)v);
}

/*
 * @number: the field may not be a CPU's number: then the kernel treats "!=" of a list differently
 * (schedtap-filter(5)).
 */
static void add_cpus(struct tap_buf *out, bool number)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN), first = random_below((uint32_t)nr);
	const char *op = PICK("&", "==", "!=");

	tap_buf_printf(out, " %s CPUS{%ld", op, first);
	if (number && *op == '!') {
		tap_buf_char(out, '}');
		return;
	}
	if (one_in(2))
		tap_buf_printf(out, "-%ld", first + random_below((uint32_t)(nr - first)));
	if (one_in(3))
		tap_buf_printf(out, ",%u", random_below((uint32_t)nr));
	tap_buf_puts(out, "}");
}

static bool beyond; /* use more than the kernel's language */
static bool with_past; /* also use filters that depend on earlier records */

/* Return a number field of the event; common_pid if it has only texts. */
static const char *number_name(const struct tap_format *fmt)
{
	unsigned int first = random_below(fmt->nr_fields);

	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[(first + i) % fmt->nr_fields];

		if (f->kind == TAP_FIELD_NUMBER && strncmp(f->name, "common_", 7))
			return f->name;
	}
	return "common_pid";
}

static void add_sum(struct tap_buf *out, const struct tap_format *fmt, unsigned int depth)
{
	bool parens = one_in(2);

	if (depth > 2 || one_in(2)) {
		if (one_in(3))
			tap_buf_printf(out, "%u%s", 1 + random_below(200), PICK("", "", "K", "us"));
		else
			tap_buf_puts(out, number_name(fmt));
		return;
	}
	tap_buf_puts(out, parens ? "(" : "");
	add_sum(out, fmt, depth + 1);
	tap_buf_puts(out, PICK(" + ", " - ", " * ", " / ", " % ", "-"));
	add_sum(out, fmt, depth + 1);
	tap_buf_puts(out, parens ? ")" : "");
}

static void add_term_beyond(struct tap_buf *out, const struct tap_format *fmt)
{
	switch (random_below(with_past ? 7 : 5)) {
	case 0:
		tap_buf_printf(out, "sample(%u/%u)", 1 + random_below(3), 3 + random_below(3));
		break;
	case 5:
		tap_buf_printf(out, "changed(%s)", number_name(fmt));
		break;
	case 6:
		tap_buf_printf(out, "moved(%s, %u%s)", number_name(fmt), 1 + random_below(200),
			       PICK("", "K", "ms"));
		break;
	default:
		add_sum(out, fmt, 0);
		tap_buf_puts(out, PICK(" == ", " != ", " < ", " <= ", " > ", " >= ", " & "));
		add_sum(out, fmt, 0);
	}
}

static void add_number_term(struct tap_buf *out, const char *name, const struct tap_field *f)
{
	tap_buf_puts(out, name);
	if (one_in(8)) {
		add_cpus(out, true);
		return;
	}
	/* "CPU & 1" never matches in the kernel (schedtap-filter(5)) */
	tap_buf_printf(out, PICK(" %s ", "%s", " %s", "%s  "),
		       PICK("==", "!=", "<", "<=", ">", ">=", f ? "&" : ">="));
	add_number(out, f);
}

/* Add a recorded text as a glob: some letters become '?', a set, or a star. */
static void add_glob(struct tap_buf *out, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len && i < 60; i++) {
		switch (random_below(12)) {
		case 0:
			tap_buf_char(out, '?');
			break;
		case 1:
			tap_buf_char(out, '*');
			i += random_below(4);
			break;
		case 2:
			if (s[i] > '0' && s[i] <= 'z')
				tap_buf_printf(out, "[%s%c-%c]", one_in(4) ? "!" : "", s[i],
					       s[i] + (int)random_below(2));
			break;
		default:
			tap_buf_char(out, s[i]);
		}
	}
	if (one_in(3))
		tap_buf_char(out, '*');
}

static void add_text_term(struct tap_buf *out, const char *name, const struct tap_field *f)
{
	const char *op = PICK("==", "!=", "~", "~", "~"), *s = "x";
	struct tap_buf text = { 0 };
	uint32_t len = 1;
	char quote;

	if (f && seen.nr) {
		const struct record *r = &seen.v[random_below(seen.nr)];

		s = tap_field_bytes(f, r->bytes, r->size, &len);
	}
	if (*op == '~')
		add_glob(&text, s, len);
	else
		tap_buf_add(&text, s, len - (len && one_in(6)));
	quote = strchr(tap_buf_str(&text), '"') ? '\'' : '"';
	if (strchr(text.data, quote) || *text.data == '!')
		tap_buf_printf(out, "%s != \"\"", name);
	else
		tap_buf_printf(out, PICK("%s %s %c%s%s%c", "%s%s%c%s%s%c"), name, op, quote,
			       *op == '~' ? tap_kernel_glob_prefix(text.data) : "", text.data,
			       quote);
	tap_buf_release(&text);
}

/* Flags depend on the moment and may differ between two instances. */
static bool is_usable(const struct tap_field *f)
{
	return strcmp(f->name, "common_flags") && strcmp(f->name, "common_preempt_count") &&
	       f->kind != TAP_FIELD_REAL && f->kind != TAP_FIELD_ARRAY;
}

static void add_term(struct tap_buf *out, const struct tap_format *fmt)
{
	const struct tap_field *f = &fmt->fields[random_below(fmt->nr_fields)];

	if (beyond && one_in(2))
		add_term_beyond(out, fmt);
	else if (one_in(10))
		add_number_term(out, PICK("CPU", "cpu", "common_cpu"), NULL);
	else if (one_in(20) && !strcmp(fmt->name, "sched_switch"))
		add_text_term(out, PICK("COMM", "comm"), tap_format_field(fmt, "prev_comm"));
	else if (!is_usable(f))
		add_term(out, fmt);
	else if (f->kind == TAP_FIELD_NUMBER)
		add_number_term(out, f->name, f);
	else if (f->kind == TAP_FIELD_DYNAMIC) {
		tap_buf_puts(out, f->name);
		add_cpus(out, false);
	} else
		add_text_term(out, f->name, f);
}

static void add_filter(struct tap_buf *out, const struct tap_format *fmt, unsigned int depth)
{
	uint32_t what = random_below(depth > 3 ? 1 : 10);
	bool parens = one_in(3);

	if (one_in(6))
		tap_buf_puts(out, PICK("!", "! ", "!!"));
	else
		parens = parens && depth;
	if (what < 6) {
		tap_buf_puts(out, parens ? "(" : "");
		add_term(out, fmt);
	} else {
		parens = true;
		tap_buf_puts(out, PICK("(", "( "));
		add_filter(out, fmt, depth + 1);
		for (uint32_t more = 1 + random_below(2); more; more--) {
			tap_buf_puts(out, PICK(" && ", " || ", "||", "&&", "  && "));
			add_filter(out, fmt, depth + 1);
		}
	}
	tap_buf_puts(out, parens ? ")" : "");
}

#endif
