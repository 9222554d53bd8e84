/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an argument is missing */
// want: trace_request
#ifdef CODE
void use(void);
void use(void)
{
#ifdef WRONG
	trace_request(1);
#else
	trace_request(1, "name");
#endif
}
#endif
