/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often tasks of a name were moved from each CPU to each other one: a row per CPU they came
 * from.
 *
 *   ./migration_matrix trace.dat 'kworker*'
 */
#include <stdio.h>

#include <schedtap/run.h>

#define CPUS 64

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	unsigned long(*moved)[CPUS] = ctx;

	(void)t;
	if (m->from >= 0 && m->from < CPUS && m->to >= 0 && m->to < CPUS)
		moved[m->from][m->to]++;
	return 0;
}

static int read_file(const char *file, const char *comm, unsigned long (*moved)[CPUS],
		     unsigned int *nr_cpus, struct tap_err *err)
{
	const struct tap_select_opts words = { .size = sizeof(words),
					       .comms = &comm,
					       .nr_comms = 1 };
	const struct tap_watcher_ops ops = { .size = sizeof(ops), .migration = on_migration };
	const struct tap_watcher watcher = { .ops = &ops, .ctx = moved, .pick = TAP_PICK_TASKS };
	struct tap_run_opts opts = { .size = sizeof(opts) };
	struct tap_select *select = NULL;
	struct tap_reader *reader = NULL;
	int ret = tap_select_new(&words, &select, err);

	if (!ret)
		ret = tap_reader_open(file, &reader, err);
	opts.select = select;
	if (!ret)
		ret = tap_run(reader, &opts, &watcher, 1, err);
	if (!ret)
		*nr_cpus = tap_reader_info(reader)->nr_cpus;
	tap_reader_free(reader);
	tap_select_free(select);
	return ret;
}

int main(int argc, char **argv)
{
	static unsigned long moved[CPUS][CPUS];
	unsigned int nr_cpus;
	struct tap_err err;

	if (argc != 3 || read_file(argv[1], argv[2], moved, &nr_cpus, &err)) {
		fprintf(stderr, "%s\n", argc == 3 ? err.text : "usage: migration_matrix FILE COMM");
		return 1;
	}
	for (unsigned int from = 0; from < nr_cpus && from < CPUS; from++)
		for (unsigned int to = 0; to < nr_cpus && to < CPUS; to++)
			printf("%lu%c", moved[from][to],
			       to + 1 < nr_cpus && to + 1 < CPUS ? ' ' : '\n');
	return 0;
}
