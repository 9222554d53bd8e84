// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probed TIMES [wait]: a program with probes whose arguments are known. Pass i, starting with 0,
 * calls twice(i, "pass") and passes USDT probes with i in every possible kind of argument. With
 * "wait" it starts once it has read a line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The note that sys/sdt.h writes, but with the operands given literally. */
#define PROBE(name, args, semaphore)                                                               \
	"990:	nop\n"                                                                               \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"                                            \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f - 991f, 994f - 993f, 3\n"                                                    \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n"                                      \
	"	.asciz \"demo\"\n"                                                                       \
	"	.asciz \"" name "\"\n"                                                             \
	"	.asciz \"" args "\"\n"                                                             \
	"994:	.balign 4\n"                                                                         \
	"	.popsection\n"                                                                           \
	"	.ifndef _.stapsdt.base\n"                                                                \
	"	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"               \
	"	.weak _.stapsdt.base\n"                                                                  \
	"	.hidden _.stapsdt.base\n"                                                                \
	"_.stapsdt.base: .space 1\n"                                                               \
	"	.size _.stapsdt.base, 1\n"                                                               \
	"	.popsection\n"                                                                           \
	"	.endif\n"

static volatile uint16_t semaphore __attribute__((section(".probes"), used));
static volatile long counter __attribute__((used));
static volatile char small[16] __attribute__((used)) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

long twice(long i, const char *text);
__attribute__((noinline)) long twice(long i, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return 2 * i;
}

/*
 * Arguments in registers of each width, on the stack, as constants, and at a symbol: plain, with an
 * offset and with an index.
 */
static void pass(long i, const char *text)
{
	long on_stack = 1000 + i, high = 0x4200 + i;
	int minus = -(int)i;

	counter = 70 + i;
	__asm__ volatile(PROBE("places",
			       "-4@%0 8@%1 -1@$-5 8@counter(%%rip) -2@%w0 1@small+2(%%rip) "
			       "1@(%2,%3,1) 1@%%ah 8@%4",
			       "semaphore")
			 :
			 : "r"(minus), "m"(on_stack), "r"(small), "r"(i % 10), "r"(text), "a"(high)
			 : "memory");
	__asm__ volatile(PROBE("plain", "", "0"));
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1;
	char text[] = "pass", line[16];

	if (argc > 2 && !fgets(line, sizeof(line), stdin))
		return 1;
	for (long i = 0; i < times; i++) {
		if (twice(i, text) != 2 * i)
			return 1;
		pass(i, text);
		/* one probe at two locations, with its argument in different places */
		if (i % 2)
			__asm__ volatile(PROBE("two_places", "-8@%0 8@%%xmm1", "0")
					 :
					 : "r"(i)
					 : "memory");
		else
			__asm__ volatile(PROBE("two_places", "-8@%0 8@%%xmm1", "0")
					 :
					 : "m"(i)
					 : "memory");
	}
	printf("semaphore %d\n", semaphore);
	return 0;
}
