/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fires each event of portable.h, in the module and in the program alike. */
static int portable_registered;

int portable_reg(void)
{
	portable_registered++;
	return 0;
}

void portable_unreg(void)
{
	portable_registered--;
}

static void portable_fire_dynamic(const char *fmt, ...)
{
	static const int list[] = { 1, -2, 3 };
	static cpumask_t cpus;
	unsigned long bits[] = { 0xf0f00000000000ffUL, 0x21 };
	struct sockaddr sa;
	va_list va;

	memset(&sa, 0, sizeof(sa));
	sa.sa_family = 2; /* AF_INET */
	memcpy(sa.sa_data, "\x12\x34\x7f\0\0\1", 6);
	cpumask_bits(&cpus)[0] = 1;
	va_start(va, fmt);
	trace_p_dynamic("a string", 3, list, bits, &cpus, &sa, fmt, &va);
	va_end(va);
	trace_p_rel("a string", 3, list, bits, &cpus, &sa);
}

static void portable_fire(void)
{
	static const struct portable_numbers low = { 0, -128,	     0, -32768,
						     0, -2147483647, 0, -9223372036854775807LL };
	static const struct portable_numbers high = { 255,
						      127,
						      65535,
						      32767,
						      4294967295u,
						      2147483647,
						      18446744073709551615ULL,
						      9223372036854775807LL };
	static const u8 bytes[36] = "\0\001 AZaz09~\177\200\377 the quick brown fox";
	const portable_pair_t pair = { -1, 2 };
	int i;

	trace_p_fields(&low, &low, &pair);
	trace_p_fields(&high, NULL, &pair);
	trace_p_arrays("name");
	trace_p_arrays("fifteen letters");
	trace_p_lengths(7);
	portable_fire_dynamic("%d and %s", 5, "five");
	portable_fire_dynamic("nothing");
	for (i = 0; i < 6; i++)
		trace_p_helpers(i, i, i * 1000000001ULL, bytes);
	trace_p_helpers(0xf000000000000001UL, PORTABLE_NEGATIVE, 5, bytes);
	trace_p_helpers(0, 99, 18446744073709551615ULL, bytes);
	for (i = -1; i < 3; i++) {
		trace_p_event(i, "one");
		trace_p_renamed(i, "");
		trace_p_event_print(i, "two words");
		trace_p_event_fn(i, NULL);
		trace_p_event_condition(i, "three");
		trace_p_fn(i);
		trace_p_condition(i);
		trace_p_fn_cond(i);
	}
	trace_p_no_fields(NULL);
}
