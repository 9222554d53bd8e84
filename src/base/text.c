// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/*
 * Return the length in bytes of the UTF-8 character at @s, or 0 if it is invalid. The bounds on the
 * second byte exclude overlong forms, surrogates and code points above U+10FFFF.
 */
static size_t utf8_len(const char *s, size_t len)
{
	const unsigned char *b = (const unsigned char *)s;
	unsigned char lo = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char hi = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
	size_t n;

	if (b[0] < 0x80)
		return 1;
	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	n = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
	if (n > len || b[1] < lo || b[1] > hi)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/*
 * @n: the character's length in bytes. Terminals treat U+0080..U+009F as control characters, too.
 */
static bool is_control(const char *s, size_t n)
{
	const unsigned char *b = (const unsigned char *)s;

	return n == 1 ? b[0] < 0x20 || b[0] == 0x7f : n == 2 && b[0] == 0xc2 && b[1] < 0xa0;
}

/*
 * Return true for bidirectional controls: U+200E, U+200F, U+202A..U+202E, U+2066..U+2069. @n: the
 * character's length in bytes.
 */
static bool turns_direction(const char *s, size_t n)
{
	const unsigned char *b = (const unsigned char *)s;

	if (n != 3 || b[0] != 0xe2)
		return false;
	return b[1] == 0x80 ? b[2] == 0x8e || b[2] == 0x8f || (b[2] >= 0xaa && b[2] <= 0xae)
			    : b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9;
}

/*
 * Return true for U+2028 and U+2029, which JavaScript takes as line ends. @n: the character's
 * length in bytes.
 */
static bool ends_line(const char *s, size_t n)
{
	return n == 3 && !memcmp(s, "\xe2\x80", 2) && (s[2] == '\xa8' || s[2] == '\xa9');
}

/*
 * Return how many leading bytes are printable ASCII except backslash. Most texts are nothing else.
 */
static size_t plain_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '\\')
		n++;
	return n;
}

void tap_text_escape(struct tap_buf *out, const char *s, size_t len)
{
	for (size_t n; len; s += n, len -= n) {
		n = plain_len(s, len) ?: utf8_len(s, len);
		if (n && *s != '\\' && !is_control(s, n) && !turns_direction(s, n) &&
		    !ends_line(s, n)) {
			tap_buf_add(out, s, n);
			continue;
		}
		/*
		 * a control character's second byte is not valid UTF-8 by itself, so it is escaped
		 * next
		 */
		n = 1;
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

void tap_text_utf8(struct tap_buf *out, const char *s, size_t len)
{
	for (size_t n; len; s += n, len -= n) {
		for (n = 0; n < len && (unsigned char)s[n] < 0x80; n++)
			; /* usually the whole text */
		n = n ?: utf8_len(s, len);
		if (n)
			tap_buf_add(out, s, n);
		else
			tap_buf_puts(out, "\xef\xbf\xbd");
		n += !n;
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
		} else if (ends_line(s, n)) {
			tap_buf_puts(out, s[2] == '\xa8' ? "\\u2028" : "\\u2029");
		} else {
			if (*s == '"' || *s == '\\')
				tap_buf_char(out, '\\');
			tap_buf_add(out, s, n);
		}
	}
	tap_buf_char(out, '"');
}

/* Return true if a spreadsheet program may run the text as a formula. Plain numbers are safe. */
static bool is_formula(const char *s, size_t len)
{
	size_t n = 1;

	if (!len || !memchr("=+-@", *s, 4))
		return false;
	while (n < len && ((s[n] >= '0' && s[n] <= '9') || s[n] == '.'))
		n++;
	return *s == '=' || *s == '@' || n < len;
}

void tap_text_csv(struct tap_buf *out, const char *s, size_t len)
{
	bool quote = len && (memchr(s, ',', len) || memchr(s, '"', len));
	const char *end = s + len;

	if (quote)
		tap_buf_char(out, '"');
	if (is_formula(s, len))
		tap_buf_printf(out, "\\x%02X", (unsigned char)*s++);
	for (const char *q; quote && (q = memchr(s, '"', (size_t)(end - s))); s = q + 1) {
		tap_text_escape(out, s, (size_t)(q - s));
		tap_buf_puts(out, "\"\"");
	}
	tap_text_escape(out, s, (size_t)(end - s));
	if (quote)
		tap_buf_char(out, '"');
}

/*
 * Wide characters (East_Asian_Width W and F of Unicode 14) and combining characters of scripts that
 * are likely in names. All other characters take one column.
 */
static const struct range {
	uint32_t first, last;
} wide[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a }, { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 }, { 0x23f3, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 }, { 0x267f, 0x267f }, { 0x2693, 0x2693 }, { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 }, { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea }, { 0x26f2, 0x26f3 }, { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa }, { 0x26fd, 0x26fd }, { 0x2705, 0x2705 }, { 0x270a, 0x270b },
	{ 0x2728, 0x2728 }, { 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 }, { 0x2795, 0x2797 }, { 0x27b0, 0x27b0 }, { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 }, { 0x2e80, 0x303e },
	{ 0x3041, 0x3247 }, { 0x3250, 0x4dbf }, { 0x4e00, 0xa4c6 }, { 0xa960, 0xa97c },
	{ 0xac00, 0xd7a3 }, { 0xf900, 0xfad9 }, { 0xfe10, 0xfe6b }, { 0xff01, 0xff60 },
	{ 0xffe0, 0xffe6 }, { 0x16fe0, 0x1b2fb }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 },
	{ 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 },
	{ 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 },
	{ 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 },
	{ 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f },
	{ 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df },
	{ 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1f93a },
	{ 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faf6 }, { 0x20000, 0x3fffd },
}, combining[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x5bf, 0x5bf }, { 0x5c1, 0x5c2 },
	{ 0x5c4, 0x5c5 }, { 0x5c7, 0x5c7 }, { 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x670, 0x670 },
	{ 0x6d6, 0x6dc }, { 0x6df, 0x6e4 }, { 0x6e7, 0x6e8 }, { 0x6ea, 0x6ed }, { 0x900, 0x902 },
	{ 0x93a, 0x93a }, { 0x93c, 0x93c }, { 0x941, 0x948 }, { 0x94d, 0x94d }, { 0xe31, 0xe31 },
	{ 0xe34, 0xe3a }, { 0xe47, 0xe4e }, { 0x1160, 0x11ff }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x206f },
	{ 0x20d0, 0x20f0 }, { 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0000, 0xe01ef },
};

static bool is_in(uint32_t c, const struct range *ranges, size_t nr)
{
	size_t i = 0;

	while (i < nr && ranges[i].last < c)
		i++;
	return i < nr && ranges[i].first <= c;
}

/*
 * Return the columns of the character at @s. @n: its length in bytes; 0 if it is not valid UTF-8.
 */
static size_t width_of(const char *s, size_t n)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)*s & first_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	if (c < 0x300)
		return 1;
	if (is_in(c, combining, sizeof(combining) / sizeof(*combining)))
		return 0;
	return 1 + is_in(c, wide, sizeof(wide) / sizeof(*wide));
}

static bool is_ascii(const char *s, size_t len)
{
	unsigned char any = 0;

	for (size_t i = 0; i < len; i++)
		any |= (unsigned char)s[i];
	return any < 0x80;
}

size_t tap_text_width(const char *s, size_t len)
{
	size_t width = 0;

	if (is_ascii(s, len)) /* the most frequent case */
		return len;
	for (size_t n; len; s += n ?: 1, len -= n ?: 1) {
		n = utf8_len(s, len);
		width += width_of(s, n);
	}
	return width;
}

size_t tap_text_fit(const char *s, size_t len, size_t columns)
{
	size_t at = 0, width;

	for (size_t n; at < len; at += n ?: 1, columns -= width) {
		n = utf8_len(s + at, len - at);
		width = width_of(s + at, n);
		if (width > columns)
			break;
	}
	return at;
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

static unsigned int digit_of(char c)
{
	if (is_digit(c))
		return (unsigned int)(c - '0');
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10) : UINT_MAX;
}

int tap_text_take_digits(const char **s, const char *end, unsigned int base, uint64_t *v)
{
	const char *start = *s;
	bool over = false;
	unsigned int digit;

	for (*v = 0; *s != end && (digit = digit_of(**s)) < base; (*s)++)
		over |= __builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, digit, v);
	if (over)
		*v = UINT64_MAX;
	return *s == start ? -EINVAL : over ? -ERANGE : 0;
}

void tap_text_time(struct tap_buf *out, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms" };
	double v = (double)ns;
	unsigned int u = 0;

	while (u < 2 && v >= 999.5) {
		v /= 1000;
		u++;
	}
	if (v >= 999.5)
		tap_buf_printf(out, "%.*f s", v < 9950, v / 1000);
	else
		tap_buf_printf(out, "%.*f %s", u && v < 9.95, v, units[u]);
}

int tap_text_parse_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 },	{ "ns", 1 },	     { "us", 1000 },
		{ "ms", 1000000 },	{ "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 },
	};
	uint64_t v, frac = 0, unit = 0;
	int digits = 0;

	if (tap_text_take_digits(&s, NULL, 10, &v))
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
	/* frac counts billionths of the unit: it is below 2^30, so neither product overflows */
	frac = unit < 1000000000 ? frac * unit / 1000000000 : frac * (unit / 1000000000);
	if (!unit || __builtin_mul_overflow(v, unit, &v) || __builtin_add_overflow(v, frac, &v) ||
	    v > (uint64_t)1 << 63)
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

	ret = tap_text_take_digits(&s, NULL, 10, &v);
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
	ret = tap_text_take_digits(&s, NULL, 10, &abs);
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

void tap_cpus_text(const struct tap_cpus *c, struct tap_buf *out)
{
	unsigned int nr = c->nr_words * 64;
	const char *comma = "";

	for (unsigned int from = 0, to; from < nr; from = to + 1) {
		to = from;
		if (!tap_cpus_has(c, from))
			continue;
		while (tap_cpus_has(c, to + 1))
			to++;
		tap_buf_printf(out, to > from ? "%s%u-%u" : "%s%u", comma, from, to);
		comma = ",";
	}
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

bool tap_cpus_within(const struct tap_cpus *c, const struct tap_cpus *all)
{
	for (unsigned int i = 0; i < c->nr_words; i++)
		if (c->bits[i] & ~(i < all->nr_words ? all->bits[i] : 0))
			return false;
	return true;
}

/* Parse "N" and "N-M" elements, separated by commas. */
static int parse_ranges(struct tap_cpus *c, const char *s)
{
	uint64_t from, to;

	for (;; s++) {
		if (tap_text_take_digits(&s, NULL, 10, &from))
			return -EINVAL;
		to = from;
		if (*s == '-') {
			s++;
			if (tap_text_take_digits(&s, NULL, 10, &to))
				return -EINVAL;
		}
		if (to < from || to > TAP_CPU_MAX)
			return -EINVAL;
		for (; from <= to; from++)
			if (tap_cpus_add(c, (unsigned int)from))
				return -ENOMEM;
		if (*s != ',')
			return *s && strcmp(s, "\n") ? -EINVAL : 0;
	}
}

int tap_cpus_parse(struct tap_cpus *c, const char *list)
{
	struct tap_cpus set = { 0 };
	int ret = strcmp(list, "\n") ? parse_ranges(&set, list) : 0;

	if (ret) {
		tap_cpus_release(&set);
		return ret;
	}
	tap_cpus_release(c);
	*c = set;
	return 0;
}
