/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `trace-cmd record -e ... -- CMD` does, for kernels that refuse trace-cmd the files of
 * the function tracer: an instance with trace-cmd's default buffer, and one process per CPU
 * that splices whole pages into a file, every millisecond.
 *
 * usage: ftrace_record FILE SYSTEM:EVENT|SYSTEM... -- CMD...
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracefs.h>

#define BUFFER_KB 1408	   /* per CPU, the kernel's default for the top buffer */
#define SLEEP_US 1000	   /* trace-cmd's -s */

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* One CPU's recorder. Never returns. */
static void drain_cpu(struct tracefs_instance *instance, const char *file, int cpu)
{
	struct tracefs_cpu *tcpu;
	char path[4096];
	int fd;

	signal(SIGTERM, stop);
	signal(SIGINT, SIG_IGN);
	snprintf(path, sizeof(path), "%s.cpu%d", file, cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	tcpu = tracefs_cpu_open(instance, cpu, true);
	if (fd < 0 || !tcpu)
		_exit(1);
	while (!stopped) {
		usleep(SLEEP_US);
		while (tracefs_cpu_write(tcpu, fd, true) > 0)
			;
	}
	tracefs_cpu_flush_write(tcpu, fd);
	_exit(0);
}

static int enable(struct tracefs_instance *instance, char *event)
{
	char *colon = strchr(event, ':');

	if (colon)
		*colon = '\0';
	return tracefs_event_enable(instance, event, colon ? colon + 1 : NULL);
}

static int run(char **cmd)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execvp(cmd[0], cmd);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), ret = 1, arg;
	pid_t *pids = calloc((size_t)nr_cpus, sizeof(*pids));
	struct tracefs_instance *instance;
	char name[64];

	snprintf(name, sizeof(name), "bench-%d", (int)getpid());
	instance = tracefs_instance_create(name);
	if (argc < 5 || !pids || !instance) {
		fprintf(stderr, "ftrace_record: cannot start\n");
		return 1;
	}
	signal(SIGINT, SIG_IGN);
	tracefs_instance_set_buffer_size(instance, BUFFER_KB, -1);
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		pids[cpu] = fork();
		if (!pids[cpu])
			drain_cpu(instance, argv[1], cpu);
	}
	for (arg = 2; arg < argc - 1 && strcmp(argv[arg], "--"); arg++) {
		if (enable(instance, argv[arg]))
			goto out;
	}
	ret = run(argv + arg + 1);
out:
	tracefs_event_disable(instance, NULL, NULL);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		kill(pids[cpu], SIGTERM);
	while (wait(NULL) > 0)
		;
	tracefs_instance_destroy(instance);
	tracefs_instance_free(instance);
	free(pids);
	return ret;
}
