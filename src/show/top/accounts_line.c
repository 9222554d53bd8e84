// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/top.h"

#include "base/text.h"

void tap_top_accounts_line(struct tap_buf *out, const struct tap_top_accounts *r)
{
	const struct tap_accounts_view *v = r->view;
	double ns = (double)(v->to_ns - v->from_ns), cpu_ns = (double)v->cpu_ns;

	tap_top_clock(out, r->realtime_ns);
	if (v->cpu_ns)
		tap_buf_printf(out, "  %.0f %% busy", 100 * (1 - (double)v->idle_ns / cpu_ns));
	else
		tap_buf_puts(out, "  - busy");
	if (v->switches.err)
		tap_buf_puts(out, "  - switches/s");
	else
		tap_top_rate(out, v->switches.v, v->to_ns - v->from_ns);
	tap_buf_puts(out, "  waking -  preempted -  throttled -  waiting ");
	if (v->pressure_ns.err)
		tap_buf_char(out, '-');
	else
		tap_buf_printf(out, "%.0f %% (pressure)", 100 * (double)v->pressure_ns.v / ns);
	tap_buf_puts(out, "  mean wait ");
	if (v->waits.err || !v->waits.v)
		tap_buf_char(out, '-');
	else
		tap_text_time(out, v->wait_ns.v / v->waits.v);
	tap_buf_puts(out, "  culprit -");
	if (v->cpu_ns)
		tap_buf_printf(out, "  overhead %.1f %%", 100 * (double)r->own_cpu_ns / cpu_ns);
	tap_buf_puts(out, "  censored -  lost -\n");
}
