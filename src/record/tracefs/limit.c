// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/limit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "record/tracefs/glob.h"
#include "task_row.h"

static int add_tid(int tid, struct tap_map *known, struct tap_buf *out, struct tap_err *err)
{
	if (tap_map_get(known, (uint64_t)tid))
		return 0;
	if (!tap_map_put(known, (uint64_t)tid))
		return tap_err_nomem(err);
	tap_buf_s64(out, tid);
	tap_buf_char(out, ' ');
	return 0;
}

static int add_threads(int tgid, struct tap_map *known, struct tap_buf *out, struct tap_err *err)
{
	struct dirent *ent;
	char path[64];
	int64_t id;
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	dir = opendir(path);
	if (!dir && errno == ENOENT)
		return tap_err_set(err, -ESRCH, "there is no process %d", tgid);
	if (!dir)
		return tap_err_set(err, -errno, "cannot read '%s': %m", path);
	while (!ret && (ent = readdir(dir)))
		if (!tap_text_parse_int(ent->d_name, 1, INT_MAX, &id))
			ret = add_tid((int)id, known, out, err);
	closedir(dir);
	return ret;
}

static bool in_tgids(const struct tap_select_ids *tgids, int tid)
{
	char path[64];

	for (unsigned int i = 0; i < tgids->nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d", tgids->v[i], tid);
		if (!access(path, F_OK))
			return true;
	}
	return !tgids->nr;
}

static int add_named(const struct tap_select *select, int tid, struct tap_map *known,
		     struct tap_buf *out, struct tap_err *err)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", tid);
	if (access(path, F_OK))
		return tap_err_set(err, -ESRCH, "there is no thread %d", tid);
	if (!in_tgids(&select->tgids, tid))
		return tap_err_set(err, -ESRCH,
				   "thread %d (-t) does not belong to any process given with -p",
				   tid);
	return add_tid(tid, known, out, err);
}

static bool is_listed(const struct tap_select_ids *ids, uint32_t number)
{
	return !ids->nr || tap_map_get(&ids->set, number);
}

/* For a nested pid namespace: set_event_pid takes initial pids, /proc shows others. */
static int add_nested(const struct tap_select *select, struct tap_pids *pids, struct tap_map *known,
		      struct tap_buf *out, struct tap_err *err)
{
	struct tap_task_row row;
	int ret = tap_pids_read(pids);

	if (ret)
		return tap_err_set(err, -EOPNOTSUPP,
				   "in a PID namespace, -p and -t over tracefs need BPF: %s",
				   strerror(-ret));
	for (unsigned int i = 0; !ret && tap_pids_row(&pids->rows, i, &row); i++)
		if (is_listed(&select->tgids, row.own_tgid) &&
		    is_listed(&select->tids, row.own_pid))
			ret = add_tid((int)row.pid, known, out, err);
	return ret ?: tap_pids_check(&pids->rows, select, err);
}

int tap_limit_tids(const struct tap_select *select, struct tap_pids *pids, struct tap_map *known,
		   struct tap_buf *out, struct tap_err *err)
{
	int ret = 0, missing = 0;

	if (pids->nested)
		return add_nested(select, pids, known, out, err);
	for (unsigned int i = 0; !ret && i < select->tids.nr; i++)
		ret = add_named(select, select->tids.v[i], known, out, err);
	for (unsigned int i = 0; !ret && !select->tids.nr && i < select->tgids.nr; i++) {
		ret = add_threads(select->tgids.v[i], known, out, err);
		if (ret == -ESRCH) {
			missing = ret;
			ret = 0;
		}
	}
	if (!ret && out->err)
		ret = tap_err_set(err, out->err, "out of memory");
	return ret ? ret : missing;
}

unsigned int tap_limit_cpus(const struct tap_cpus *cpus, unsigned int nr_cpus, struct tap_buf *out)
{
	unsigned int nr = 0, cpu = (nr_cpus + 31) / 32 * 32;
	uint32_t word = 0;

	while (cpu--) {
		bool in = cpu < nr_cpus && tap_cpus_has(cpus, cpu);

		nr += in;
		word = word << 1 | in;
		if (cpu % 32 == 0)
			tap_buf_printf(out, cpu ? "%08x," : "%08x", word);
	}
	return nr;
}

static void add_comm_terms(const char *comm, char quote, const struct tap_format *fmt,
			   struct tap_buf *out)
{
	tap_buf_printf(out, "COMM ~ %c%s%c", quote, comm, quote);
	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		size_t len = strlen(f->name);

		if (f->kind != TAP_FIELD_CHARS && f->kind != TAP_FIELD_STRING)
			continue;
		if (len >= 4 && !strcmp(f->name + len - 4, "comm"))
			tap_buf_printf(out, " || %s ~ %c%s%c", f->name, quote, comm, quote);
	}
}

static int add_comm(const char *comm, const struct tap_format *fmt, struct tap_buf *out,
		    struct tap_err *err)
{
	struct tap_buf glob = { 0 };
	int ret = tap_tracefs_glob(comm, &glob);
	char quote = strchr(tap_buf_str(&glob), '"') ? '\'' : '"';

	if (ret == -EINVAL)
		ret = tap_err_set(err, ret, "-c '%s' cannot match any task name", comm);
	else if (ret)
		ret = tap_err_set(err, ret, "out of memory");
	else if (strchr(tap_buf_str(&glob), quote))
		ret = tap_err_set(err, -EINVAL,
				  "-c '%s': tracefs cannot match a name that contains both single "
				  "and double quotes",
				  comm);
	else
		add_comm_terms(tap_buf_str(&glob), quote, fmt, out);
	tap_buf_release(&glob);
	return ret;
}

int tap_limit_comms(const char *filter, const struct tap_strings *comms, const char *format,
		    struct tap_buf *out, struct tap_err *err)
{
	const struct tap_abi abi = {
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.long_size = sizeof(long),
	};
	struct tap_format *fmt;
	int ret = tap_format_parse("", format, strlen(format), abi, &fmt, err);

	if (ret)
		return ret;
	if (filter)
		tap_buf_printf(out, "(%s) && ", filter);
	for (unsigned int i = 0; !ret && i < comms->nr; i++) {
		tap_buf_puts(out, i ? " || " : "(");
		ret = add_comm(comms->v[i], fmt, out, err);
	}
	tap_buf_char(out, ')');
	tap_format_free(fmt);
	if (!ret && out->err)
		ret = tap_err_set(err, out->err, "out of memory");
	return ret;
}

/*
 * The complaint is "FILTER\n   ^\nparse_error: MESSAGE\n"; the errno of the write is not
 * informative.
 */
int tap_limit_refused(const char *system, const char *name, const char *complaint, int ret,
		      struct tap_err *err)
{
	static const char mark[] = "\nparse_error: ";
	const char *msg = NULL, *at = complaint;
	int body, lead;

	while ((at = strstr(at, mark)))
		msg = at++;
	if (!msg)
		return tap_err_set(err, -EINVAL, "bad filter for '%s:%s': %s", system, name,
				   strerror(-ret));
	body = (int)(msg - complaint);
	msg += sizeof(mark) - 1;
	lead = (int)strcspn(complaint, "\n");
	return tap_err_set(err, -EINVAL, "bad filter for '%s:%s': %.*s\n %.*s\n %.*s", system, name,
			   (int)strcspn(msg, "\n"), msg, lead, complaint,
			   body > lead ? body - lead - 1 : 0, complaint + lead + (body > lead));
}
