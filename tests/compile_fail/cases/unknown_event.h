/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an event that is not there */
// want: trace_nosuch
#ifdef CODE
void use(void);
void use(void)
{
#ifdef WRONG
	trace_nosuch(1, "name");
#else
	trace_request(1, "name");
#endif
}
#endif
