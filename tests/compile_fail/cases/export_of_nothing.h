/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an export of a tracepoint that this file does not define */
// want: nosuch
#ifdef CODE
#ifdef WRONG
EXPORT_TRACEPOINT_SYMBOL(nosuch);
#else
EXPORT_TRACEPOINT_SYMBOL(request);
#endif
void use(void);
void use(void)
{
	trace_request(1, "name");
}
#endif
