/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* the same with a priority */
// want: register_trace_prio_request
#ifdef CODE
static void probe(void *data, int id, const char *name)
{
	(void)data, (void)id, (void)name;
}
static void wrong_probe(void *data, const char *name) __attribute__((unused));
static void wrong_probe(void *data, const char *name)
{
	(void)data, (void)name;
}
void use(void);
void use(void)
{
#ifdef WRONG
	(void)register_trace_prio_request(wrong_probe, NULL, 1);
	(void)probe;
#else
	(void)register_trace_prio_request(probe, NULL, 1);
#endif
}
#endif
