// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/gaps.h"
#include "analysis/library/handle.h"

struct tap_gap_reasons {
	struct tap_gaps gaps;
};

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_gap_reasons *h = ctx;

	h->gaps.survey = tap_timeline_survey(t);
	h->gaps.window = tap_timeline_window(t);
	return tap_gaps_ops.cpu(&h->gaps, t, s);
}

static const struct tap_watcher_ops ops = { .size = sizeof(ops),
					    .cpu = on_cpu,
					    .unknown_cpus_only = true };

struct tap_gap_reasons *tap_gap_reasons_new(struct tap_err *err)
{
	return tap_handle_new(sizeof(struct tap_gap_reasons), err);
}

void tap_gap_reasons_free(struct tap_gap_reasons *h)
{
	if (!h)
		return;
	tap_gaps_release(&h->gaps);
	free(h);
}

struct tap_watcher tap_gap_reasons_watcher(struct tap_gap_reasons *h)
{
	return (struct tap_watcher){ .ops = &ops, .ctx = h, .pick = TAP_PICK_CPUS };
}

const char *tap_gap_reasons_text(const struct tap_gap_reasons *h, const struct tap_cpu_interval *s)
{
	static const char *const texts[TAP_NR_GAPS] = {
		[TAP_GAP_START] = "the CPU's first switch comes later",
		[TAP_GAP_OFF] = "a trigger had switched events off",
		[TAP_GAP_LOST] = "events were lost",
		[TAP_GAP_HIDDEN] = "a task ran that is hidden from tracing",
		[TAP_GAP_BROKEN] = "a switch is missing, although no loss was reported",
		[TAP_GAP_SILENT] = "the recording has no switch of this CPU",
	};
	enum tap_gap gap;

	if (s->what == TAP_CPU_UNKNOWN && s->outside)
		return "a task ran that was not recorded, or the CPU was idle";
	return tap_gaps_find(&h->gaps, s, &gap) ? texts[gap] : NULL;
}
