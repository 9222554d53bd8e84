// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/tracefs/limit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/tracefs/glob.h"
#include "task_row.h"

static int parse_task(const char *s, int64_t *id, struct tap_err *err)
{
	int ret = tap_text_parse_int(s, 1, INT_MAX, id);

	return ret ? tap_err_set(err, -EINVAL, "'%s' is no process or thread id", s) : 0;
}

static int add_tid(int64_t tid, struct tap_map *known, struct tap_buf *out, struct tap_err *err)
{
	if (tap_map_get(known, (uint64_t)tid))
		return 0;
	if (!tap_map_put(known, (uint64_t)tid))
		return tap_err_set(err, -ENOMEM, "out of memory");
	tap_buf_s64(out, tid);
	tap_buf_char(out, ' ');
	return 0;
}

static int add_threads(const char *tgid, struct tap_map *known, struct tap_buf *out,
		       struct tap_err *err)
{
	struct dirent *ent;
	char path[64];
	int64_t id;
	DIR *dir;
	int ret = parse_task(tgid, &id, err);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)id);
	dir = opendir(path);
	if (!dir && errno == ENOENT)
		return tap_err_set(err, -ESRCH, "there is no process %d", (int)id);
	if (!dir)
		return tap_err_set(err, -errno, "cannot read '%s': %m", path);
	while (!ret && (ent = readdir(dir)))
		if (!tap_text_parse_int(ent->d_name, 1, INT_MAX, &id))
			ret = add_tid(id, known, out, err);
	closedir(dir);
	return ret;
}

static bool in_tgids(const struct tap_strings *tgids, int tid)
{
	char path[64];
	int64_t tgid;

	for (unsigned int i = 0; i < tgids->nr; i++) {
		if (parse_task(tgids->v[i], &tgid, NULL))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)tgid, tid);
		if (!access(path, F_OK))
			return true;
	}
	return !tgids->nr;
}

static int add_named(const struct tap_plan_scope *scope, const char *name, struct tap_map *known,
		     struct tap_buf *out, struct tap_err *err)
{
	char path[32];
	int64_t tid;
	int ret = parse_task(name, &tid, err);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	if (access(path, F_OK))
		return tap_err_set(err, -ESRCH, "there is no thread %d", (int)tid);
	if (!in_tgids(&scope->tgids, (int)tid))
		return tap_err_set(err, -ESRCH, "thread %d is not of the given processes",
				   (int)tid);
	return add_tid(tid, known, out, err);
}

static bool lists(const struct tap_strings *ids, uint32_t number)
{
	int64_t id;

	for (unsigned int i = 0; i < ids->nr; i++)
		if (!parse_task(ids->v[i], &id, NULL) && id == number)
			return true;
	return !ids->nr;
}

/* In a pid namespace: set_event_pid takes the initial one's numbers, /proc has others. */
static int add_nested(const struct tap_plan_scope *scope, struct tap_pids *pids,
		      struct tap_map *known, struct tap_buf *out, struct tap_err *err)
{
	struct tap_task_row row;
	int ret = tap_pids_read(pids);

	if (ret)
		return tap_err_set(err, -EOPNOTSUPP, "in a pid namespace tracefs needs BPF to tell -p "
				   "and -t: %s", strerror(-ret));
	for (unsigned int i = 0; !ret && tap_pids_row(&pids->rows, i, &row); i++)
		if (lists(&scope->tgids, row.own_tgid) && lists(&scope->tids, row.own_pid))
			ret = add_tid(row.pid, known, out, err);
	return ret ?: tap_pids_check(&pids->rows, &scope->tgids, &scope->tids, err);
}

int tap_limit_tids(const struct tap_plan_scope *scope, struct tap_pids *pids, struct tap_map *known,
		   struct tap_buf *out, struct tap_err *err)
{
	int ret = 0, missing = 0;

	if (pids->nested)
		return add_nested(scope, pids, known, out, err);
	for (unsigned int i = 0; !ret && i < scope->tids.nr; i++)
		ret = add_named(scope, scope->tids.v[i], known, out, err);
	for (unsigned int i = 0; !ret && !scope->tids.nr && i < scope->tgids.nr; i++) {
		ret = add_threads(scope->tgids.v[i], known, out, err);
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
		ret = tap_err_set(err, ret, "-c '%s' can match no name", comm);
	else if (ret)
		ret = tap_err_set(err, ret, "out of memory");
	else if (strchr(tap_buf_str(&glob), quote))
		ret = tap_err_set(err, -EINVAL, "tracefs cannot match a name with both kinds of "
				  "quotes: '%s'", comm);
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

/* The file then reads "FILTER\n   ^\nparse_error: MESSAGE\n"; the errno means nothing. */
int tap_limit_refused(const char *system, const char *name, const char *complaint, int ret,
		      struct tap_err *err)
{
	static const char mark[] = "\nparse_error: ";
	const char *msg = NULL, *at = complaint;
	int body, lead;

	while ((at = strstr(at, mark)))
		msg = at++;
	if (!msg) {
		errno = -ret;
		return tap_err_set(err, -EINVAL, "bad filter for '%s:%s': %m", system, name);
	}
	body = (int)(msg - complaint);
	msg += sizeof(mark) - 1;
	lead = (int)strcspn(complaint, "\n");
	return tap_err_set(err, -EINVAL, "bad filter for '%s:%s': %.*s\n %.*s\n %.*s", system, name,
			   (int)strcspn(msg, "\n"), msg, lead, complaint,
			   body > lead ? body - lead - 1 : 0, complaint + lead + (body > lead));
}
