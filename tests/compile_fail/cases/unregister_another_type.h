/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* what could not be registered */
// want: unregister_trace_request
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
	(void)unregister_trace_request(wrong_probe, NULL);
	(void)probe;
#else
	(void)unregister_trace_request(probe, NULL);
#endif
}
#endif
