// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_NS UINT64_C(1000000000)
#define STEP_NS UINT64_C(200000000)
#define WIDTH 40

void tap_progress_start(struct tap_progress *p, int fd, const char *what, uint64_t now_ns)
{
	*p = (struct tap_progress){
		.on = isatty(fd),
		.fd = fd,
		.what = what,
		.next_ns = now_ns + FIRST_NS,
	};
}

void tap_progress_show(struct tap_progress *p, uint64_t done, uint64_t whole, uint64_t now_ns)
{
	double pct = whole ? 100.0 * (double)done / (double)whole : 0;

	if (!p->on || now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + STEP_NS;
	p->shown = true;
	/* ignore write errors: the terminal may be gone */
	dprintf(p->fd, "\r%.20s %3.0f %%", p->what, pct < 100 ? pct : 100);
}

void tap_progress_step(void *progress, uint64_t done, uint64_t whole)
{
	tap_progress_show(progress, done, whole, tap_now_ns());
}

void tap_progress_erase(struct tap_progress *p)
{
	if (p->shown)
		dprintf(p->fd, "\r%*s\r", WIDTH, "");
	p->shown = false;
}
