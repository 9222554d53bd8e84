/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a probe whose first argument is no pointer */
// want: register_trace_request
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
static void bare_probe(int id, const char *name) __attribute__((unused));
static void bare_probe(int id, const char *name)
{
	(void)id, (void)name;
}
void use(void);
void use(void)
{
#ifdef WRONG
	(void)register_trace_request(bare_probe, NULL);
	(void)probe;
#else
	(void)register_trace_request(probe, NULL);
#endif
}
#endif
