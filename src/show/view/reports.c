// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/reports.h"

#include <errno.h>
#include <sys/resource.h>

#include "show/export/html_reports.h"

#define LESS_OF_CPUS 10 /* nice value of the thread that makes reports */

void tap_reports_init(struct tap_reports *r, const struct tap_input_opts *input)
{
	*r = (struct tap_reports){ .input = input,
				   .lock = PTHREAD_MUTEX_INITIALIZER,
				   .changed = PTHREAD_COND_INITIALIZER };
}

void tap_reports_release(struct tap_reports *r)
{
	for (unsigned int i = 0; i < TAP_REPORTS_MAX; i++)
		tap_buf_release(&r->of[i].json);
}

/* Count a finished report. Return: true if more are wanted. */
static bool note_made(struct tap_reports *r)
{
	bool goes_on;

	pthread_mutex_lock(&r->lock);
	r->nr_made++;
	goes_on = !r->is_ending;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

void tap_reports_make(struct tap_reports *r)
{
	unsigned int i = 0;

	/* on Linux this affects only the calling thread */
	setpriority(PRIO_PROCESS, 0, LESS_OF_CPUS);
	do
		tap_html_report_run(i, r->input, NULL, &r->of[i].json, &r->of[i].err);
	while (note_made(r) && tap_html_report_name(++i) && i < TAP_REPORTS_MAX);
}

void tap_reports_end(struct tap_reports *r)
{
	pthread_mutex_lock(&r->lock);
	r->is_ending = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static int find_report(const char *name, struct tap_err *err)
{
	const char *other;

	for (unsigned int i = 0; i < TAP_REPORTS_MAX && (other = tap_html_report_name(i)); i++)
		if (!strcmp(name, other))
			return (int)i;
	return tap_err_set(err, -ENOENT, "there is no report '%.100s'", name);
}

int tap_reports_get(struct tap_reports *r, const char *name, const struct tap_buf **json,
		    struct tap_err *err)
{
	int i = find_report(name, err);
	bool is_made;

	if (i < 0)
		return i;
	pthread_mutex_lock(&r->lock);
	while (!r->is_ending && r->nr_made <= (unsigned int)i)
		pthread_cond_wait(&r->changed, &r->lock);
	is_made = r->nr_made > (unsigned int)i;
	pthread_mutex_unlock(&r->lock);
	if (!is_made)
		return tap_err_set(err, -ECANCELED, "schedtap view is shutting down");
	*json = &r->of[i].json;
	if (r->of[i].err.code)
		*err = r->of[i].err;
	return r->of[i].err.code;
}
