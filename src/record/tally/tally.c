// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tally/tally.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cap.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/refusal.h"
#include "event/select/mount.h"
#include "record/bpf/load_log.h"
#include "record/bpf/stats.h"
#include "record/machine.h"
#include "record/object/object.h"
#include "record/tally/slots.h"
#include "record/tally/tasks.h"

/* A CPU at the last reading, in its own clock. */
struct cpu_read {
	uint64_t at_ns; /* 0: it had not been seen to switch */
	uint64_t running_ns; /* of the slice that went on */
	unsigned int slot; /* of that slice */
	uint64_t unswitched_ns; /* since the last switch */
	unsigned int runnable; /* since then */
	/* times that were reported too late; below 0: too early */
	int64_t length_ns[TAP_TALLY_LENGTHS], runnable_ns;
};

/* The programs at tracepoints, in the order in which they are attached. */
static const struct program {
	const char *name;
	bool from_queueing, from_waking, has_command; /* what it is needed for */
} programs[] = {
	/* cgroups that are released before this one is attached would keep their slots */
	{ "tap_tally_release", true, true, true }, { "tap_tally_migrate", true, true, true },
	{ "tap_tally_fork", false, false, true },  { "tap_tally_waking", false, true, false },
	{ "tap_tally_new", false, true, false },   { "tap_tally_switch", true, true, true },
};

#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

struct tap_tally {
	struct bpf_object *obj;
	struct bpf_link *links[NR_PROGRAMS];
	unsigned int nr_slots, nr_cpus;
	bool reads_tasks, counts_tasks, from_waking, has_command, keeps_queueing;
	int64_t ahead_ns; /* CLOCK_MONOTONIC of this process minus that of the kernel */
	uint32_t epoch; /* of the programs */
	uint64_t read_ns;
	uint64_t migrations[TAP_TALLY_SCOPES]; /* at the last reading */
	/* mapped */
	struct tap_tally_row *rows;
	struct tap_tally_cpu *cpus;
	struct tap_slots slots;
	struct tap_tally_variables *variables;
	int fence, fenced; /* a map of maps, and a map for it */

	struct cpu_read *cpus_read;
	struct tap_tally_cpu_view *cpus_view;
	struct tap_tally_llc_view *llcs_view;
	struct tap_tally_tasks tasks;
	uint64_t *run_ns;
	int64_t *owed_ns; /* by slot: run time that was reported too early */
};

/* ---- open ---- */

static int size_maps(struct tap_tally *t)
{
	uint32_t nr_tags = bpf_map__max_entries(bpf_object__find_map_by_name(t->obj, "tap_tags"));
	const struct {
		const char *name;
		uint32_t elements;
	} sizes[] = {
		{ "tap_rows", 2 * t->nr_slots },
		{ "tap_cpus", t->nr_cpus },
		{ "tap_slots", t->nr_slots },
		{ "tap_slot_of_id", t->nr_slots },
		{ "tap_free_slots", t->nr_slots },
		{ "tap_command", t->has_command ? TAP_TALLY_TAGS : 1 },
		{ "tap_task_waits", t->counts_tasks ? 2 * nr_tags : 1 },
	};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(t->obj, sizes[i].name),
					       sizes[i].elements);
	return ret;
}

static int set_constants(struct tap_tally *t)
{
	uint32_t nr_slots = t->nr_slots, nr_cpus = t->nr_cpus;
	bool by_cpu_controller = tap_cgroup_hierarchy() > 0;

	return tap_bpf_set(t->obj, "tap_nr_slots", &nr_slots, sizeof(nr_slots))
		       ?: tap_bpf_set(t->obj, "tap_nr_cpus", &nr_cpus, sizeof(nr_cpus))
		       ?: tap_bpf_set(t->obj, "tap_by_cpu_controller", &by_cpu_controller,
				      sizeof(by_cpu_controller))
		       ?: tap_bpf_set(t->obj, "tap_from_waking", &t->from_waking,
				      sizeof(t->from_waking))
		       ?: tap_bpf_set(t->obj, "tap_counts_tasks", &t->counts_tasks,
				      sizeof(t->counts_tasks))
		       ?: tap_bpf_set(t->obj, "tap_has_command", &t->has_command,
				      sizeof(t->has_command));
}

static bool is_needed(const struct tap_tally *t, const struct program *p)
{
	return (t->has_command && p->has_command) ||
	       (t->from_waking ? p->from_waking : p->from_queueing);
}

static struct bpf_program *find_program(const struct tap_tally *t, const struct program *p)
{
	return bpf_object__find_program_by_name(t->obj, p->name);
}

static int choose_programs(struct tap_tally *t)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < NR_PROGRAMS; i++)
		ret = bpf_program__set_autoload(find_program(t, &programs[i]),
						is_needed(t, &programs[i]));
	return ret;
}

static int load(struct tap_tally *t, struct tap_err *err)
{
	struct tap_load_log log;
	int ret;

	if (!tap_cap_for_bpf())
		return tap_err_set(err, -EPERM, "%s", tap_refusal_why(TAP_STEP_BPF, EPERM));
	t->obj = tap_bpf_open_tally();
	if (!t->obj)
		return tap_err_set(err, -errno, "cannot read the embedded BPF object: %m");
	ret = size_maps(t) ?: set_constants(t) ?: choose_programs(t);
	if (ret)
		return tap_err_set(err, ret,
				   "the embedded BPF object does not match this build of schedtap");
	ret = tap_bpf_load_logged(t->obj, &log);
	return ret ? tap_err_set(err, ret, "cannot load the BPF programs: %s%s%s",
				 tap_refusal(TAP_STEP_BPF, ret).text, log.reason[0] ? ": " : "",
				 log.reason)
		   : 0;
}

/* Make a ring of the CPUs of each LLC. */
static void link_llcs(struct tap_tally *t)
{
	for (unsigned int i = 0; i < t->nr_cpus; i++) {
		unsigned int next = i;

		do
			next = (next + 1) % t->nr_cpus;
		while (t->cpus[next].llc != t->cpus[i].llc);
		t->cpus[i].next_of_llc = next;
	}
}

static int map_all(struct tap_tally *t, struct tap_err *err)
{
	t->rows = tap_bpf_map_array(t->obj, "tap_rows", 2 * t->nr_slots * sizeof(*t->rows));
	t->cpus = tap_bpf_map_array(t->obj, "tap_cpus", t->nr_cpus * sizeof(*t->cpus));
	t->variables = tap_bpf_map_array(t->obj, ".bss.tally", sizeof(*t->variables));
	if (!t->rows || !t->cpus || !t->variables)
		return tap_err_set(err, -errno, "cannot map the tally's numbers: %m");
	for (unsigned int i = 0; i < t->nr_cpus; i++) {
		t->cpus[i].offset_ns = t->cpus[i].offset_before_ns =
			t->from_waking ? 0 : TAP_TALLY_NO_OFFSET;
		t->cpus[i].llc = tap_machine_llc(i);
		t->cpus[i].node = tap_machine_node(i);
	}
	link_llcs(t);
	return 0;
}

static int attach_all(struct tap_tally *t, struct tap_err *err)
{
	for (unsigned int i = 0; i < NR_PROGRAMS; i++) {
		if (!is_needed(t, &programs[i]))
			continue;
		t->links[i] = bpf_program__attach(find_program(t, &programs[i]));
		if (!t->links[i])
			return tap_err_set(err, -errno, "cannot attach the BPF programs: %s",
					   tap_refusal(TAP_STEP_BPF, errno).text);
	}
	return 0;
}

static int open_fence(struct tap_tally *t, struct tap_err *err)
{
	t->fence = bpf_object__find_map_fd_by_name(t->obj, "tap_fence");
	t->fenced = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tap_fenced", sizeof(uint32_t),
				   sizeof(uint64_t), 1, NULL);
	return t->fenced < 0 ? tap_err_set(err, t->fenced, "cannot create a BPF map: %m") : 0;
}

/*
 * CONFIG_SCHED_INFO: distributions have it, with CONFIG_SCHEDSTATS or CONFIG_TASK_DELAY_ACCT. The
 * kernel fills this file only then (fs/proc/base.c). BTF shows this too, but reading it takes 50
 * ms.
 */
static bool kernel_keeps_queueing(void)
{
	struct tap_buf text = { .max = 4096 };
	struct tap_proc_schedstat own;
	bool has = !tap_buf_read_file(&text, "/proc/self/schedstat") &&
		   !tap_proc_parse_schedstat(tap_buf_str(&text), &own);

	tap_buf_release(&text);
	return has;
}

/*
 * On x86 the run queue's clock is the TSC, if that is reliable. The kernel then does not use
 * another clock for CLOCK_MONOTONIC. If it does, the run queues' clocks may differ between CPUs.
 */
static bool clocks_agree(void)
{
	static const char *const other[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies",
					     "pit" };
	struct tap_buf name = { .max = 4096 };
	bool agree = true;

	if (!tap_buf_read_file(&name, "/sys/devices/system/clocksource/clocksource0/"
				      "current_clocksource"))
		for (unsigned int i = 0; i < sizeof(other) / sizeof(other[0]); i++)
			agree &= !!strncmp(tap_buf_str(&name), other[i], strlen(other[i]));
	tap_buf_release(&name);
	return agree;
}

/*
 * Return: by how much this process's time namespace (since v5.6) puts CLOCK_MONOTONIC forward, ns.
 * The file is about the namespace of future children, which a process may not be in itself.
 */
static int64_t clock_ahead(void)
{
	long long s = 0, ns = 0;
	struct stat own, of_children;
	FILE *f;

	if (stat("/proc/self/ns/time", &own) ||
	    stat("/proc/self/ns/time_for_children", &of_children) ||
	    own.st_ino != of_children.st_ino)
		return 0;
	f = fopen("/proc/self/timens_offsets", "re");
	if (f && fscanf(f, "monotonic %lld %lld", &s, &ns) != 2)
		s = ns = 0;
	if (f)
		fclose(f);
	return s * 1000000000 + ns;
}

static int open_tasks(struct tap_tally *t, struct tap_err *err)
{
	int ret = t->counts_tasks ? tap_tally_tasks_map(&t->tasks, t->obj, err) : 0;

	return ret ?: t->reads_tasks ? tap_tally_tasks_list(&t->tasks, t->obj, err) : 0;
}

int tap_tally_open(struct tap_tally **out, const struct tap_tally_opts *opts, struct tap_err *err)
{
	struct tap_tally *t = calloc(1, sizeof(*t));
	int ret;

	*out = t;
	if (!t)
		return tap_err_nomem(err);
	t->fenced = -1;
	t->nr_slots = TAP_TALLY_FIRST_FREE + opts->max_cgroups;
	t->reads_tasks = opts->reads_tasks;
	t->counts_tasks = opts->reads_tasks && opts->counts_task_waits;
	t->has_command = opts->has_command;
	t->keeps_queueing = kernel_keeps_queueing();
	t->from_waking = opts->from_waking || !t->keeps_queueing || !clocks_agree();
	t->ahead_ns = clock_ahead();
	t->nr_cpus = tap_machine_nr_cpus();
	t->cpus_read = calloc(t->nr_cpus, sizeof(*t->cpus_read));
	t->cpus_view = calloc(t->nr_cpus, sizeof(*t->cpus_view));
	t->llcs_view = calloc(t->nr_cpus, sizeof(*t->llcs_view));
	t->run_ns = calloc(t->nr_slots, sizeof(*t->run_ns));
	t->owed_ns = calloc(t->nr_slots, sizeof(*t->owed_ns));
	ret = t->cpus_read && t->cpus_view && t->llcs_view && t->run_ns && t->owed_ns
		      ? load(t, err)
		      : tap_err_nomem(err);
	ret = ret ?: map_all(t, err);
	ret = ret ?: tap_slots_open(&t->slots, t->obj, t->nr_slots, t->has_command, err);
	ret = ret ?: open_fence(t, err) ?: attach_all(t, err);
	t->read_ns = tap_now_ns();
	ret = ret ?: open_tasks(t, err);
	if (ret) {
		tap_tally_close(t);
		*out = NULL;
	}
	return ret;
}

static void unmap(void *at, size_t bytes)
{
	if (at)
		munmap(at, bytes);
}

void tap_tally_close(struct tap_tally *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < NR_PROGRAMS; i++)
		bpf_link__destroy(t->links[i]);
	unmap(t->rows, 2 * t->nr_slots * sizeof(*t->rows));
	unmap(t->cpus, t->nr_cpus * sizeof(*t->cpus));
	unmap(t->variables, sizeof(*t->variables));
	tap_slots_release(&t->slots);
	if (t->fenced >= 0)
		close(t->fenced);
	bpf_object__close(t->obj);
	tap_tally_tasks_release(&t->tasks);
	free(t->cpus_read);
	free(t->cpus_view);
	free(t->llcs_view);
	free(t->run_ns);
	free(t->owed_ns);
	free(t);
}

/* ---- read ---- */

static int run_info(const struct tap_tally *t, struct bpf_prog_info *info, struct tap_err *err)
{
	uint32_t len = sizeof(*info);
	int fd = bpf_program__fd(bpf_object__find_program_by_name(t->obj, "tap_tally_switch"));
	int ret = bpf_obj_get_info_by_fd(fd, info, &len);

	return ret ? tap_err_set(err, ret, "cannot read the statistics of a BPF program: %m") : 0;
}

/*
 * Wait until no program uses the bank that was in use. An update of a map of maps waits for all
 * running programs (maybe_wait_bpf_programs()). membarrier() would too, but it refuses to on
 * machines with nohz_full CPUs.
 */
static int wait_for_programs(const struct tap_tally *t, struct tap_err *err)
{
	uint32_t first = 0;
	int ret = bpf_map_update_elem(t->fence, &first, &t->fenced, BPF_ANY);

	return ret ? tap_err_set(err, ret, "cannot wait for the tally's programs: %m") : 0;
}

/* A CPU's state: members of struct tap_tally_cpu. */
struct cpu_state {
	uint64_t since_ns, switched_ns;
	unsigned int slot, runnable;
};

/* Return: the state that a CPU was in when the epoch @epoch began. */
static struct cpu_state state_of(const struct tap_tally_cpu *c, uint32_t epoch)
{
	struct cpu_state now = {
		.since_ns = __atomic_load_n(&c->since_ns, __ATOMIC_RELAXED),
		.switched_ns = __atomic_load_n(&c->switched_ns, __ATOMIC_RELAXED),
		.slot = __atomic_load_n(&c->slot, __ATOMIC_RELAXED),
		.runnable = __atomic_load_n(&c->runnable, __ATOMIC_RELAXED),
	};

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE) != epoch)
		return now;
	return (struct cpu_state){ c->kept_since_ns, c->kept_switched_ns, c->kept_slot,
				   c->kept_runnable };
}

/*
 * Return: @now_ns of the kernel's CLOCK_MONOTONIC in the CPU's clock; @least if the clocks were not
 * compared.
 */
static uint64_t cpu_time(const struct tap_tally_cpu *c, uint64_t now_ns, uint64_t least)
{
	int64_t offset = tap_tally_offset(c);
	uint64_t at_ns = now_ns - (uint64_t)offset;

	return offset == TAP_TALLY_NO_OFFSET || at_ns < least ? least : at_ns;
}

static void add_run(struct tap_tally *t, unsigned int slot, int64_t ns)
{
	if (slot < t->nr_slots)
		t->owed_ns[slot] += ns;
}

/*
 * Take the part of a time that is due to be reported. The clocks' difference is an estimate, and
 * may be less than before: then nothing is due.
 */
static uint64_t take_due(int64_t *ns)
{
	uint64_t due = *ns > 0 ? (uint64_t)*ns : 0;

	*ns -= (int64_t)due;
	return due;
}

/* Lengths of a CPU's run queue, up to this reading. */
static void read_lengths(struct tap_tally_cpu_view *v, const struct tap_tally_cpu *c,
			 unsigned int full, struct cpu_read *is, const struct cpu_read *was)
{
	memcpy(is->length_ns, was->length_ns, sizeof(is->length_ns));
	is->runnable_ns = was->runnable_ns + (int64_t)c->runnable_ns[full];
	is->length_ns[tap_tally_length(was->runnable)] -= (int64_t)was->unswitched_ns;
	is->length_ns[tap_tally_length(is->runnable)] += (int64_t)is->unswitched_ns;
	is->runnable_ns += (int64_t)(is->unswitched_ns * is->runnable);
	is->runnable_ns -= (int64_t)(was->unswitched_ns * was->runnable);
	for (unsigned int i = 0; i < TAP_TALLY_LENGTHS; i++) {
		is->length_ns[i] += (int64_t)c->length_ns[full][i];
		v->length_ns[i] = take_due(&is->length_ns[i]);
	}
	v->runnable_ns = take_due(&is->runnable_ns);
}

/* A CPU's numbers of the bank @full, and its time up to this reading. */
static struct tap_tally_cpu_view cpu_view(const struct tap_tally_cpu *c, unsigned int nr,
					  unsigned int full)
{
	struct tap_tally_cpu_view v = { .cpu = nr,
					.switches = c->switches[full],
					.idle_ns = c->idle_ns[full] };

	memcpy(v.max_wait_ns, c->max_wait_ns[full], sizeof(v.max_wait_ns));
	return v;
}

static void add_to_llc(struct tap_tally *t, struct tap_tally_view *view,
		       const struct tap_tally_cpu *c, unsigned int full)
{
	unsigned int i = 0;

	while (i < view->nr_llcs && t->llcs_view[i].llc != c->llc)
		i++;
	if (i == view->nr_llcs)
		t->llcs_view[view->nr_llcs++] = (struct tap_tally_llc_view){ .llc = c->llc };
	t->llcs_view[i].idle_while_waiting_ns += c->idle_while_waiting_ns[full];
}

/*
 * A slice that goes on at both readings belongs to the time between them: count the part before
 * this reading, and not the part that the last reading has counted.
 */
static void read_cpu(struct tap_tally *t, unsigned int nr, struct tap_tally_view *view)
{
	const struct tap_tally_cpu *c = &t->cpus[nr];
	struct cpu_read *was = &t->cpus_read[nr], is = { 0 };
	struct tap_tally_cpu_view *v = &t->cpus_view[view->nr_cpus];
	struct cpu_state state;

	if (!c->first_ns)
		return;
	state = state_of(c, t->epoch);
	if (!state.since_ns) /* its first switch was after this reading */
		return;
	is.slot = state.slot;
	is.runnable = state.runnable;
	is.at_ns = cpu_time(c, view->to_ns - (uint64_t)t->ahead_ns, state.switched_ns);
	if (is.at_ns < was->at_ns)
		is.at_ns = was->at_ns;
	is.running_ns = is.at_ns - state.since_ns;
	is.unswitched_ns = is.at_ns - state.switched_ns;
	add_run(t, was->slot, -(int64_t)was->running_ns);
	add_run(t, is.slot, (int64_t)is.running_ns);
	*v = cpu_view(c, nr, !(t->epoch & 1));
	v->llc = c->llc;
	v->cpu_ns = is.at_ns - (was->at_ns ?: c->first_ns);
	v->idle_ns += is.slot == TAP_TALLY_IDLE ? is.running_ns : 0;
	v->idle_ns -= was->slot == TAP_TALLY_IDLE ? was->running_ns : 0;
	read_lengths(v, c, !(t->epoch & 1), &is, was);
	add_to_llc(t, view, c, !(t->epoch & 1));
	view->cpu_ns += v->cpu_ns;
	view->nr_cpus++;
	*was = is;
}

static void read_run_times(struct tap_tally *t, const struct tap_tally_row *rows)
{
	for (unsigned int i = 0; i < t->slots.used; i++) {
		t->owed_ns[i] += (int64_t)rows[i].run_ns;
		t->run_ns[i] = take_due(&t->owed_ns[i]);
	}
}

/* Empty the bank that the programs will use next: @view's rows of the last reading are in it. */
static void empty_bank(struct tap_tally *t, unsigned int bank)
{
	memset(t->rows + bank * t->nr_slots, 0, t->slots.used * sizeof(*t->rows));
	for (unsigned int i = 0; i < t->nr_cpus; i++) {
		t->cpus[i].switches[bank] = t->cpus[i].idle_ns[bank] = 0;
		t->cpus[i].runnable_ns[bank] = t->cpus[i].idle_while_waiting_ns[bank] = 0;
		memset(t->cpus[i].max_wait_ns[bank], 0, sizeof(t->cpus[i].max_wait_ns[bank]));
		memset(t->cpus[i].length_ns[bank], 0, sizeof(t->cpus[i].length_ns[bank]));
	}
}

/* The tasks of @view, after their listing and the end of all programs in its epoch. */
static int read_tasks(struct tap_tally *t, struct tap_tally_view *view, struct tap_err *err)
{
	uint64_t from_ns = view->from_ns - (uint64_t)t->ahead_ns;
	int ret = tap_tally_tasks_compare(&t->tasks, from_ns, t->epoch - 1, err);

	view->tasks = t->tasks.list.v;
	view->nr_tasks = t->tasks.list.nr;
	view->all_tasks = t->tasks.nr_all;
	view->task_waits = t->counts_tasks ? t->tasks.waits : NULL;
	return ret;
}

int tap_tally_read(struct tap_tally *t, struct tap_tally_view *view, struct tap_err *err)
{
	struct bpf_prog_info info = { 0 };
	unsigned int full = t->epoch & 1;
	int ret;

	empty_bank(t, !full);
	__atomic_store_n(&t->variables->epoch, ++t->epoch, __ATOMIC_SEQ_CST);
	*view = (struct tap_tally_view){ .from_waking = t->from_waking,
					 .from_ns = t->read_ns,
					 .to_ns = tap_now_ns(),
					 .rows = t->rows + full * t->nr_slots,
					 .run_ns = t->run_ns };
	t->read_ns = view->to_ns;
	/* before the wait, so that the tasks' numbers are of nearly the same time */
	ret = t->reads_tasks ? tap_tally_tasks_list(&t->tasks, t->obj, err) : 0;
	ret = ret ?: wait_for_programs(t, err) ?: tap_slots_read(&t->slots, err);
	if (ret)
		return ret;
	view->nr_slots = t->slots.used;
	view->names = (const char *const *)t->slots.names;
	view->released_ns = t->slots.released_ns;
	view->no_free_slot = __atomic_load_n(&t->variables->no_free_slot, __ATOMIC_RELAXED);
	view->command_migrations =
		__atomic_load_n(&t->variables->command_migrations, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++) {
		uint64_t nr = __atomic_load_n(&t->variables->migrations[i], __ATOMIC_RELAXED);

		view->migrations[i] = nr - t->migrations[i];
		t->migrations[i] = nr;
	}
	view->cpus = t->cpus_view;
	view->llcs = t->llcs_view;
	for (unsigned int i = 0; i < t->nr_cpus; i++)
		read_cpu(t, i, view);
	read_run_times(t, view->rows);
	view->knows_lengths = true;
	view->knows_task_waits = t->keeps_queueing;
	ret = t->reads_tasks ? read_tasks(t, view, err) : 0;
	ret = ret ?: run_info(t, &info, err);
	view->missed = info.recursion_misses;
	return ret;
}

bool tap_tally_has_waits(const struct tap_tally_row *row, enum tap_tally_kind kind)
{
	return row->wait_ns[kind] || row->buckets[kind][0]; /* the bucket of waits of 0 ns */
}

bool tap_tally_is_empty(const struct tap_tally_view *view, unsigned int slot)
{
	const struct tap_tally_row *row = &view->rows[slot];
	bool has = view->run_ns[slot];

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		has |= tap_tally_has_waits(row, k);
	for (unsigned int i = 0; i < TAP_TALLY_REASONS; i++)
		has |= row->censored[i];
	return !has;
}

int tap_tally_join(const struct tap_tally *t)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, "tap_tally_join");
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(p), &opts);
}

/* ---- overhead ---- */

int64_t tap_tally_overhead(struct tap_tally *t, uint64_t ns, struct tap_err *err)
{
	const struct timespec wait = { .tv_sec = (time_t)(ns / 1000000000u),
				       .tv_nsec = (long)(ns % 1000000000u) };
	struct bpf_prog_info before = { 0 }, after = { 0 };
	int fd = tap_bpf_stats_open(err), ret = fd < 0 ? fd : run_info(t, &before, err);
	uint64_t runs;

	if (!ret) {
		nanosleep(&wait, NULL);
		ret = run_info(t, &after, err);
	}
	if (fd >= 0)
		close(fd);
	runs = after.run_cnt - before.run_cnt;
	return ret || !runs ? ret : (int64_t)((after.run_time_ns - before.run_time_ns) / runs);
}
