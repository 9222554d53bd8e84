// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The bytes of the UTF-8 character at @s, 0 if it is none. Overlong forms, surrogates and
 * what is above U+10FFFF are refused by the bounds on the second byte.
 */
static size_t utf8_len(const char *s, size_t len)
{
	const unsigned char *b = (const unsigned char *)s;
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n;

	if (b[0] < 0x80)
		return 1;
	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	n = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	if (b[0] == 0xe0)
		lo = 0xa0;
	else if (b[0] == 0xed)
		hi = 0x9f;
	else if (b[0] == 0xf0)
		lo = 0x90;
	else if (b[0] == 0xf4)
		hi = 0x8f;
	if (b[1] < lo || b[1] > hi)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Of a character of @n bytes. U+0080..U+009F are control characters to a terminal, too. */
static bool is_control(const char *s, size_t n)
{
	const unsigned char *b = (const unsigned char *)s;

	return n == 1 ? b[0] < 0x20 || b[0] == 0x7f : n == 2 && b[0] == 0xc2 && b[1] < 0xa0;
}

void tap_text_escape(struct tap_buf *out, const char *s, size_t len)
{
	for (size_t n; len; s += n, len -= n) {
		n = utf8_len(s, len);
		if (n && *s != '\\' && !is_control(s, n)) {
			tap_buf_add(out, s, n);
			continue;
		}
		n = 1; /* the second byte of a control character is no UTF-8 by itself */
		if (*s == '\n')
			tap_buf_puts(out, "\\n");
		else if (*s == '\t')
			tap_buf_puts(out, "\\t");
		else if (*s == '\\')
			tap_buf_puts(out, "\\\\");
		else
			tap_buf_printf(out, "\\x%02X", (unsigned char)*s);
	}
}

void tap_text_json(struct tap_buf *out, const char *s, size_t len)
{
	tap_buf_char(out, '"');
	for (size_t n; len; s += n, len -= n) {
		n = utf8_len(s, len);
		if (!n) {
			tap_buf_puts(out, "\xef\xbf\xbd");
			n = 1;
		} else if (is_control(s, n)) {
			tap_buf_printf(out, "\\u%04x", (unsigned char)s[n - 1]);
		} else {
			if (*s == '"' || *s == '\\')
				tap_buf_char(out, '\\');
			tap_buf_add(out, s, n);
		}
	}
	tap_buf_char(out, '"');
}

void tap_text_csv(struct tap_buf *out, const char *s, size_t len)
{
	bool quote = false;

	for (size_t i = 0; i < len && !quote; i++)
		quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		tap_buf_add(out, s, len);
		return;
	}
	tap_buf_char(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			tap_buf_char(out, '"');
		tap_buf_char(out, s[i]);
	}
	tap_buf_char(out, '"');
}

void tap_text_ns(struct tap_buf *out, uint64_t ns)
{
	char frac[10];
	uint32_t rest = (uint32_t)(ns % 1000000000);

	for (int i = 9; i; i--, rest /= 10)
		frac[i] = (char)('0' + rest % 10);
	frac[0] = '.';
	tap_buf_u64(out, ns / 1000000000);
	tap_buf_add(out, frac, sizeof(frac));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits at *@s, at least one. Return: 0; -EINVAL; -ERANGE. */
static int parse_digits(const char **s, uint64_t *v)
{
	if (!is_digit(**s))
		return -EINVAL;
	for (*v = 0; is_digit(**s); (*s)++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(**s - '0'), v))
			return -ERANGE;
	return 0;
}

int tap_text_parse_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "ns", 1 },
		{ "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 },
	};
	uint64_t v, frac = 0, unit = 0;
	int digits = 0;

	if (parse_digits(&s, &v))
		return -EINVAL;
	if (*s == '.') {
		if (!is_digit(*++s))
			return -EINVAL;
		for (; digits < 9; digits++)
			frac = frac * 10 + (is_digit(*s) ? (uint64_t)(*s++ - '0') : 0);
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(s, units[i].name))
			unit = units[i].ns;
	/* frac is in billionths of the unit: below 2^30, so that neither product overflows */
	frac = unit < 1000000000 ? frac * unit / 1000000000 : frac * (unit / 1000000000);
	if (!unit || __builtin_mul_overflow(v, unit, &v) ||
	    __builtin_add_overflow(v, frac, &v) || v > (uint64_t)1 << 63)
		return -EINVAL;
	*ns = v;
	return 0;
}

int tap_text_parse_size(const char *s, uint64_t *bytes)
{
	const uint64_t max = (uint64_t)1 << 62;
	unsigned int shift = 0;
	uint64_t v;
	int ret;

	ret = parse_digits(&s, &v);
	if (ret)
		return ret;
	if (*s == 'k' || *s == 'K')
		shift = 10;
	else if (*s == 'M' || *s == 'm')
		shift = 20;
	else if (*s == 'G' || *s == 'g')
		shift = 30;
	if (s[shift != 0])
		return -EINVAL;
	if (v > max >> shift)
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}

int tap_text_parse_int(const char *s, int64_t min, int64_t max, int64_t *v)
{
	bool negative = *s == '-';
	uint64_t abs;
	int64_t value;
	int ret;

	s += negative;
	ret = parse_digits(&s, &abs);
	while (is_digit(*s)) /* of a number that is too long: is it one? */
		s++;
	if (*s)
		return -EINVAL;
	if (ret)
		return ret;
	if (abs > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	value = (int64_t)(negative ? -abs : abs);
	if (value < min || value > max)
		return -ERANGE;
	*v = value;
	return 0;
}

void tap_cpus_release(struct tap_cpus *c)
{
	free(c->bits);
	*c = (struct tap_cpus){ 0 };
}

int tap_cpus_add(struct tap_cpus *c, unsigned int cpu)
{
	unsigned int words = cpu / 64 + 1;

	if (cpu > TAP_CPU_MAX)
		return -EINVAL;
	if (words > c->nr_words) {
		uint64_t *bits = realloc(c->bits, words * sizeof(*bits));

		if (!bits)
			return -ENOMEM;
		memset(bits + c->nr_words, 0, (words - c->nr_words) * sizeof(*bits));
		c->bits = bits;
		c->nr_words = words;
	}
	c->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
	return 0;
}

/* One "N" or "N-M" at *@s. */
static int parse_range(struct tap_cpus *c, const char **s)
{
	uint64_t from, to;
	int ret;

	if (parse_digits(s, &from))
		return -EINVAL;
	to = from;
	if (**s == '-') {
		(*s)++;
		if (parse_digits(s, &to) || to < from)
			return -EINVAL;
	}
	if (to > TAP_CPU_MAX)
		return -EINVAL;
	for (ret = 0; !ret && from <= to; from++)
		ret = tap_cpus_add(c, (unsigned int)from);
	return ret;
}

int tap_cpus_parse(struct tap_cpus *c, const char *list)
{
	struct tap_cpus set = { 0 };
	int ret = 0;

	if (strcmp(list, "\n")) {
		for (;; list++) {
			ret = parse_range(&set, &list);
			if (ret || *list != ',')
				break;
		}
		if (!ret && *list && strcmp(list, "\n"))
			ret = -EINVAL;
	}
	if (ret) {
		tap_cpus_release(&set);
		return ret;
	}
	tap_cpus_release(c);
	*c = set;
	return 0;
}
