/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code of which the case says the CALL, and probes for it. */
__attribute__((unused)) static void probe(void *data, int id, const char *name)
{
	(void)data, (void)id, (void)name;
}

__attribute__((unused)) static void wrong_probe(void *data, const char *name)
{
	(void)data, (void)name;
}

__attribute__((unused)) static void bare_probe(int id, const char *name)
{
	(void)id, (void)name;
}

void use(void);
void use(void)
{
	(void)CALL;
}
