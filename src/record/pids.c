// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/pids.h"

#include <errno.h>
#include <sys/stat.h>

#include "record/machine.h"
#include "record/object/object.h"
#include "record/object/task_list.h"
#include "task_row.h"

#define INITIAL_PID_NS 0xeffffffcu /* PROC_PID_INIT_INO of include/linux/proc_ns.h */

void tap_pids_open(struct tap_pids *p)
{
	struct stat st;

	p->nested = !stat("/proc/self/ns/pid", &st) && st.st_ino != INITIAL_PID_NS;
	if (p->nested)
		p->tasks = tap_bpf_load_iterator();
	tap_pids_read(p);
}

void tap_pids_release(struct tap_pids *p)
{
	bpf_object__close(p->tasks);
	tap_buf_release(&p->rows);
	tap_map_release(&p->initial);
	*p = (struct tap_pids){ 0 };
}

bool tap_pids_row(const struct tap_buf *rows, unsigned int i, struct tap_task_row *row)
{
	if (i >= rows->len / sizeof(*row))
		return false;
	memcpy(row, rows->data + i * sizeof(*row), sizeof(*row));
	row->comm[sizeof(row->comm) - 1] = '\0';
	return true;
}

int tap_pids_read(struct tap_pids *p)
{
	struct tap_task_row row;
	int ret;

	tap_buf_clear(&p->rows);
	if (!p->tasks)
		return p->nested ? -EPERM : 0;
	ret = tap_bpf_list_tasks(p->tasks, &p->rows);
	for (unsigned int i = 0; !ret && tap_pids_row(&p->rows, i, &row); i++)
		ret = tap_map_set(&p->initial, row.own_pid, row.pid);
	return ret;
}

uint32_t tap_pids_initial(const struct tap_pids *p, uint32_t own)
{
	const uint64_t *slot = p->nested ? tap_map_get(&p->initial, own) : NULL;

	if (!p->nested)
		return own;
	return slot ? (uint32_t)*slot : 0;
}

static int check_ids(const struct tap_buf *rows, const struct tap_select_ids *ids, bool process,
		     struct tap_err *err)
{
	struct tap_task_row row;

	for (unsigned int i = 0; i < ids->nr; i++) {
		bool found = false;

		for (unsigned int k = 0; !found && tap_pids_row(rows, k, &row); k++)
			found = (process ? row.own_tgid : row.own_pid) == (unsigned int)ids->v[i];
		if (!found)
			return tap_err_set(err, -ESRCH, "there is no %s %d",
					   process ? "process" : "thread", ids->v[i]);
	}
	return 0;
}

int tap_pids_check(const struct tap_buf *rows, const struct tap_select *select, struct tap_err *err)
{
	return check_ids(rows, &select->tgids, true, err)
		       ?: check_ids(rows, &select->tids, false, err);
}

int tap_pids_tasks(struct tap_pids *p, struct tap_map *tgids, struct tap_map *comms)
{
	struct tap_task_row row;
	int ret;

	if (!p->nested)
		return tap_machine_tasks(tgids, comms);
	ret = tap_pids_read(p);
	for (unsigned int i = 0; ret != -ENOMEM && tap_pids_row(&p->rows, i, &row); i++)
		ret = tap_map_set(tgids, row.pid, row.tgid)
			      ?: tap_machine_put_text(comms, row.pid, row.comm);
	return ret == -ENOMEM ? ret : 0;
}

int tap_pids_cgroups(const struct tap_pids *p, struct tap_map *cgroups, struct tap_map *members,
		     struct tap_map *limited)
{
	struct tap_map own = { 0 };
	int ret = tap_machine_cgroups(cgroups, p->nested ? &own : members, limited);

	tap_map_for_each(&own, m) {
		uint32_t tid = tap_pids_initial(p, (uint32_t)m->key);

		if (tid && tap_map_set(members, tid, m->value))
			ret = -ENOMEM;
	}
	tap_map_release(&own);
	return ret;
}

int tap_pids_affinities(const struct tap_pids *p, const struct tap_map *comms,
			struct tap_map *texts)
{
	const struct tap_map *tids = p->nested ? &p->initial : comms;
	struct tap_cpus online = { 0 };
	int ret = tap_machine_online(&online);

	tap_map_for_each(tids, s) {
		uint64_t tid = p->nested ? s->value : s->key;

		if (!ret && tap_map_get(comms, tid))
			ret = tap_machine_affinity((pid_t)s->key, &online, tid, texts);
	}
	tap_cpus_release(&online);
	return ret;
}
