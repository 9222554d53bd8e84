// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/proc.h"
#include "record/program/insns.h"

/* Has the type for perf_event_open(). Exists if the kernel has CONFIG_UPROBE_EVENTS. */
#define UPROBES "/sys/bus/event_source/devices/uprobe/type"
/*
 * Bits of perf_event_attr.config for uprobes (format/ of the uprobe PMU in /sys;
 * kernel/events/core.c).
 */
#define CONFIG_RETURN 1u
#define CONFIG_SEMAPHORE_SHIFT 32

int tap_attach_load(const struct tap_insns *b, const char *name, const struct tap_probe *probe,
		    uint32_t tracepoint)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int fd;

	if (!probe) {
		opts.expected_attach_type = BPF_TRACE_RAW_TP;
		opts.attach_btf_id = tracepoint;
	}
	fd = bpf_prog_load(probe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACING, name,
			   "Dual BSD/GPL", b->v, b->nr, &opts);
	return fd < 0 ? -errno : fd;
}

bool tap_attach_knows_probes(void)
{
	return tap_proc_number(UPROBES) >= 0;
}

/* Open a probe's place as a perf event. Return: an fd of the event, still disabled, or -errno. */
static int open_site(uint32_t type, const struct tap_probe *probe,
		     const struct tap_probe_site *site)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = site->semaphore << CONFIG_SEMAPHORE_SHIFT |
			  (probe->kind == TAP_PROBE_RETURN ? CONFIG_RETURN : 0),
		.uprobe_path = (uint64_t)(uintptr_t)probe->path,
		.probe_offset = site->offset,
		.disabled = 1,
	};
	/* pid -1: all processes. The CPU must be given, but the program runs on all CPUs. */
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Attach a program to one place. The link keeps the event open. Return: the link's fd or -errno. */
static int attach_site(uint32_t type, int prog, const struct tap_probe *probe,
		       const struct tap_probe_site *site)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = site->way);
	int event = open_site(type, probe, site), link, ret;

	if (event < 0)
		return event;
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	ret = link < 0 || ioctl(event, PERF_EVENT_IOC_ENABLE, 0) ? -errno : link;
	if (ret < 0 && link >= 0)
		close(link);
	close(event);
	return ret;
}

static int add_link(struct tap_links *links, int fd)
{
	if (fd < 0)
		return fd;
	if (tap_array_grow(&links->v, links->nr, &links->cap, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	links->v[links->nr++] = fd;
	return 0;
}

int tap_attach(struct tap_links *links, int prog, const struct tap_probe *probe)
{
	uint32_t type;
	int fd, ret = 0;

	if (!probe) {
		fd = bpf_raw_tracepoint_open(NULL, prog);
		return add_link(links, fd < 0 ? -errno : fd);
	}
	type = (uint32_t)tap_proc_number(UPROBES);
	for (unsigned int i = 0; i < probe->nr_sites && !ret; i++)
		ret = add_link(links, attach_site(type, prog, probe, &probe->sites[i]));
	if (ret)
		tap_attach_undo(links);
	return ret;
}

void tap_attach_undo(struct tap_links *links)
{
	while (links->nr)
		close(links->v[--links->nr]);
	free(links->v);
	*links = (struct tap_links){ 0 };
}
