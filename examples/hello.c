// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "hello_trace.h"

int main(void)
{
	for (int nr = 1; nr <= 3; nr++) {
		printf("hello, world\n");
		trace_hello_said(nr, "world");
	}
	return 0;
}
